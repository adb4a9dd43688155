package server_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// tries presses the button that tries a form's filter.
func (w *browser) tries(form page, values url.Values, header map[string]string) page {
	w.t.Helper()
	to, _, _ := strings.Cut(form.Find("#endpoint button[formaction]").AttrOr("formaction", "none"), "#")
	sent := fieldsOf(form.Find("#endpoint"))
	maps.Copy(sent, values)
	return w.send(http.MethodPost, to, sent, header)
}

// verdictsOn are the lines of what a filter said.
func verdictsOn(p page) (lines []string) {
	for _, row := range p.Find("tr[data-matches]").EachIter() {
		lines = append(lines, strings.Join(strings.Fields(row.Find("td").First().Text()+" "+row.Find("td").Eq(1).Text()), " "))
	}
	return lines
}

func (p page) wantVerdicts(want ...string) {
	p.t.Helper()
	if got := verdictsOn(p); strings.Join(got, "|") != strings.Join(want, "|") {
		p.t.Errorf("the filter says %q, want %q", got, want)
	}
}

func TestTryFilterOnThePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	for _, event := range []string{
		`{"type":"order.created","data":{"amount":9}}`, `{"type":"order.paid","data":{"amount":250}}`, `{"type":"user.created","data":{}}`,
	} {
		n.publish(event)
	}
	entered := url.Values{
		"url": {"not yet"}, "description": {"Big orders"}, "event_types": {"order.*\nnonsense!"}, "filter": {"body.amount > 100"}, "max_in_flight": {"many"}, "secret": {"whsec_x"},
	}
	form := w.get(w.home + "/endpoints/new")
	p := w.tries(form, entered, nil)
	p.wantStatus(http.StatusUnprocessableEntity) // the secret has to be entered again
	if p.Find("#url").AttrOr("value", "") != "not yet" || p.Find("#max_in_flight").AttrOr("value", "") != "many" || p.Find("#description").Text() != "Big orders" {
		t.Error("what was entered is gone")
	}
	if wrong := p.Find("#endpoint [aria-invalid]"); wrong.Length() != 1 || wrong.AttrOr("name", "") != "secret" || wrong.AttrOr("value", "") != "" {
		t.Errorf("%d fields are wrong, the first is %q", wrong.Length(), wrong.AttrOr("name", ""))
	}
	delete(entered, "secret")
	p = w.tries(form, entered, nil)
	p.wantStatus(http.StatusOK)
	p.wantVerdicts("Yes order.paid", "No order.created")
	if p.Find("#endpoint").AttrOr("action", "") != w.home+"/endpoints/new" || p.Find("#filter").Text() != "body.amount > 100" {
		t.Error("the form is another one")
	}
	entered.Set("event_types", "*")
	w.tries(form, entered, nil).wantVerdicts("No user.created no such key: amount", "Yes order.paid", "No order.created")
	if list := n.must(200, http.MethodGet, "/endpoints", nil)["data"].([]any); len(list) != 0 {
		t.Errorf("trying made %d endpoints", len(list))
	}
	// From the form that came back the endpoint is made as from the first one.
	entered.Set("url", somewhere)
	entered.Set("max_in_flight", "")
	made := w.follow(w.submit(p, "form#endpoint", entered))
	made.wantToast("Added Big orders.")
}

func TestTryFilterOfAnEndpoint(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.publish(`{"type":"order.created","data":{"amount":9}}`)
	ep := text(n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "filter": "body.amount > 5"}), "id")
	form := w.get(w.home + "/endpoints/" + ep + "/edit")
	if form.Find("#filter").Text() != "body.amount > 5" || form.Find("#filter-part[open]").Length() != 1 {
		t.Error("the form does not show the filter")
	}
	w.tries(form, nil, nil).wantVerdicts("Yes order.created")
	p := w.tries(form, url.Values{"filter": {"bdy.amount > 5"}}, nil)
	p.wantStatus(http.StatusUnprocessableEntity)
	p.wantText("#filter-error", "Line 1, column 1: undeclared reference to 'bdy' (did you mean 'body'?). Variables are body, headers, query, type, subject and source.")
	w.tries(form, url.Values{"filter": {" "}}, nil).wantText("#filter-error", "Enter a filter to try it.")

	// A script gets the answer alone.
	scripted := map[string]string{"HX-Request": "true"}
	part := w.tries(form, url.Values{"filter": {"body.amount > 100"}}, scripted)
	part.wantStatus(http.StatusOK)
	part.wantVerdicts("No order.created")
	if part.Find("form, nav").Length() != 0 {
		t.Error("the part has more than the answer")
	}
	part = w.tries(form, url.Values{"filter": {"body.amount >"}}, scripted)
	part.wantStatus(http.StatusUnprocessableEntity)
	part.wantText("[role=alert]", "Line 1, column 14: something is missing at the end.")
	if kept := n.must(200, http.MethodGet, "/endpoints/"+ep, nil); kept["filter"] != "body.amount > 5" {
		t.Errorf("trying changed the filter to %v", kept["filter"])
	}
	saved := w.submit(form, "form#endpoint", url.Values{"filter": {"body.amount >"}})
	saved.wantText("#filter-error", "Line 1, column 14: something is missing at the end.")
	w.follow(w.submit(form, "form#endpoint", url.Values{"filter": {" "}})).wantToast("Saved.")
	if kept := n.must(200, http.MethodGet, "/endpoints/"+ep, nil); kept["filter"] != nil {
		t.Errorf("the filter is still %v", kept["filter"])
	}
}

func TestEventPageTellsWhoDidNotWantIt(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	large := text(n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "description": "Large", "filter": "body.amount > 100"}), "id")
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "description": "Wrong", "filter": "body.amout > 100"})
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "description": "Refunds", "filter": "false", "event_types": []string{"refund"}})
	nobody := n.publish(`{"type":"order.created","data":{"amount":9}}`)
	w.process(t, nobody)
	p := w.get(w.home + "/events/" + nobody)
	p.wantText("#decision", "2 endpoints ask for order.created, and the filter of none matches; 1 could not be evaluated, the first: no such key: amout. Change a filter, or process the event again.")
	p.wantText("#unsent", "Not sent to Large Its filter does not match. Send anyway… Not sent to Wrong Its filter could not be evaluated: no such key: amout. Send anyway…")

	// Whoever presses the button sends it, whatever the filter says.
	ask := w.get(p.hrefs("#unsent a[hx-get]")[0])
	if ask.Find("option[selected], input[checked]").AttrOr("value", "") != large {
		t.Error("the question is not about the endpoint")
	}
	w.follow(w.submit(ask, "main form", nil))
	p = w.get(w.home + "/events/" + nobody)
	if p.Find("#deliveries tbody tr").Length() != 1 || p.Find("#unsent li").Length() != 1 {
		t.Error("it was not sent anyway")
	}

	n.must(200, http.MethodPatch, "/endpoints/"+large, object{"filter": "body.amount > 200"})
	wanted := n.publish(`{"type":"order.created","data":{"amount":250}}`)
	w.process(t, wanted)
	n.must(200, http.MethodPatch, "/endpoints/"+large, object{"filter": "body.amount > 300"})
	w.get(w.home+"/events/"+wanted).wantText("#unsent", "Not sent to Wrong Its filter could not be evaluated: no such key: amout. Send anyway…")

	few := n.publish(`{"type":"order.created","data":{"amount":250}}`)
	w.process(t, few)
	n.must(200, http.MethodPatch, "/endpoints/"+large, object{"filter": "body.amount > 200"})
	p = w.get(w.home + "/events/" + few)
	if got := p.Find("#unsent li").First().Text(); !strings.Contains(got, "Its filter lets this event through now, and did not when the event was decided.") {
		t.Errorf("%q", got)
	}
	n.must(200, http.MethodPatch, "/endpoints/"+large, object{"filter": "body.amount > 999"})
	p = w.get(w.home + "/events/" + few)
	if got := p.Find("#unsent li").First().Text(); !strings.Contains(got, "this is its filter as it is now.") {
		t.Errorf("%q", got)
	}
}
