package server_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"
)

func TestFactsPage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	if text := w.get(w.home + "/facts").Find("#facts").Text(); !strings.Contains(text, "No facts yet") {
		t.Errorf("without a fact it says %q", text)
	}
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere})
	p := n.newCarrier()
	p.reports("A", "m1", "sent")
	p.reports("B", "m1", "delivered")
	p.reports("C", "m1", "failed")
	p.reports("D", "<m2>", "sent")
	list := w.get(w.home + "/facts")
	var rows []string
	for _, tr := range list.Find("#facts tbody tr").EachIter() {
		rows = append(rows, tr.Find("td").Eq(0).Text()+": "+strings.Join(strings.Fields(tr.Find("td").Eq(1).Text()), " "))
	}
	if diff := cmp.Diff([]string{"<m2>: sent", "m1: delivered last word"}, rows); diff != "" {
		t.Error(diff)
	}
	for query, want := range map[string]int{"subject=m1": 1, "state=sent": 1, "source=" + p.id: 2, "source=x": 0, "subject=m9": 0, "subject=m1&state=delivered&source=" + p.id: 1} {
		if got := w.get(w.home + "/facts?" + query).Find("#facts tbody tr").Length(); got != want {
			t.Errorf("%s: %d rows, want %d", query, got, want)
		}
	}
	w.get(w.home+"/facts?subject=m9").wantText("#facts h2, #facts h3", "No fact matches")
	fact := w.get(w.get(w.home+"/facts?subject=m1").Find("#facts tbody a.cell").AttrOr("href", ""))
	var reports []string
	for _, tr := range fact.Find("#reports tbody tr").EachIter() {
		reports = append(reports, strings.Join(strings.Fields(tr.Find("td").Eq(0).Text()+" "+tr.Find("td").Eq(1).Text()), " "))
	}
	if diff := cmp.Diff([]string{"failed Stale fact", "delivered Processed", "sent Processed"}, reports); diff != "" {
		t.Error(diff)
	}
	if seen := fact.Find("#seen li").Map(func(_ int, s *goquery.Selection) string { return strings.TrimSpace(s.Text()) }); strings.Join(seen, " ") != "sent delivered" {
		t.Errorf("told so far: %q", seen)
	}
	event := w.get(fact.Find("#reports tbody a.cell").First().AttrOr("href", ""))
	decision := event.Find("#decision").Text()
	if !strings.Contains(decision, "It comes too late.") || !strings.Contains(decision, "failed comes too late. Nobody was told.") {
		t.Errorf("the event says %q", decision)
	}
	if href := event.Find("#reports").AttrOr("href", ""); href != fact.path {
		t.Errorf("its report leads to %s, want %s", href, fact.path)
	}
	event.wantText("#received-type", "webhook.received")
}

// ruleForm is the form of carrierRule.
var ruleForm = url.Values{
	"key": {"body.event_id"}, "subject": {"body.message_id"}, "state": {"body.status"}, "emit": {`"message." + body.status`},
	"terminal": {"delivered\r\nfailed\r\n"}, "rank": {"queued\n sent \n\ndelivered"}, "repeats": {"1"}, "requires_existing": {"1"},
}

func TestRulePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	src := n.must(201, http.MethodPost, "/sources", object{"name": "Carrier", "kind": "none"})
	at := w.home + "/sources/" + text(src, "id")
	w.get(at).wantText("#rule .card-body", "There is none: every event is told as what came in. Repeats are known by nothing: every request is a new event, unless a rule names a key.")
	form := w.get(at + "/rule")
	if n := form.Find("#templates a").Length(); n != 5 {
		t.Errorf("%d templates", n)
	}
	template := w.get(form.Find("#templates a").First().AttrOr("href", ""))
	if got := template.Find("[name=subject]").Text(); got != "body.message_id" {
		t.Errorf("the template's subject is %q", got)
	}
	if got := template.Find("[name=terminal]").Text(); got != "delivered\nfailed\nundelivered" {
		t.Errorf("the template's last words are %q", got)
	}

	wrong := w.post(at+"/rule", url.Values{"subject": {"bdy"}, "terminal": {"a\na"}, "state": {""}})
	wrong.wantStatus(http.StatusUnprocessableEntity)
	for _, field := range []string{"subject", "terminal"} {
		if wrong.Find("[name="+field+"][aria-invalid=true]").Length() != 1 {
			t.Errorf("%s is not marked", field)
		}
	}
	w.post(at+"/rule", url.Values{}).wantStatus(http.StatusUnprocessableEntity)

	w.follow(w.post(at+"/rule", ruleForm)).wantToast("Rule saved. Events are decided by it from now on.")
	stored := n.must(200, http.MethodGet, "/sources/"+text(src, "id")+"/rule", nil)
	delete(stored, "$schema")
	want := object{
		"version": 1.0, "key": "body.event_id", "subject": "body.message_id", "state": "body.status", "emit": `"message." + body.status`,
		"terminal": []any{"delivered", "failed"}, "rank": []any{"queued", "sent", "delivered"}, "repeats": true, "requires_existing": true,
	}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Error(diff)
	}
	edited := w.get(at + "/rule")
	if edited.Find("[name=repeats][checked]").Length() != 1 || edited.Find("[name=rank]").Text() != "queued\nsent\ndelivered" {
		t.Error("the form does not show the rule")
	}
	w.get(at + "/rule/delete").wantStatus(http.StatusOK)
	w.follow(w.post(at+"/rule/delete", url.Values{})).wantToast("Rule removed.")
	w.follow(w.post(at+"/rule/delete", url.Values{})).wantToast("The source has no rule any more.")
}

// A rule is tried on what is pasted, or on the newest event, before it is saved.
func TestRuleIsTriedOnItsPage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere})
	p := n.newCarrier()
	at := w.home + "/sources/" + p.id + "/rule/try"
	with := func(name, value string) url.Values {
		values := maps.Clone(ruleForm)
		values.Del("requires_existing")
		values.Set(name, value)
		return values
	}
	none := w.post(at, with("try_body", ""))
	none.wantStatus(http.StatusUnprocessableEntity)
	none.wantText("#try_body-error, [id$=try_body-error]", "Enter a body: no event has come in that could be looked at.")

	tried := w.post(at, with("try_body", `{"event_id":9007199254740993,"message_id":"m1","status":"sent"}`))
	tried.wantStatus(http.StatusOK)
	said := tried.Find("[data-trial] dd").Map(func(_ int, s *goquery.Selection) string { return strings.TrimSpace(s.Text()) })
	if diff := cmp.Diff([]string{"9007199254740993", "webhook.received", "m1", "sent", "message.sent"}, said); diff != "" {
		t.Error(diff)
	}
	if got := tried.Find("[data-trial]").Text(); !strings.Contains(got, "It goes to every endpoint that asks for message.sent.") {
		t.Errorf("tried: %q", got)
	}
	if got := tried.Find("[name=subject]").Text(); got != "body.message_id" {
		t.Errorf("the form is shown with %q", got)
	}
	p.reports("A", "m1", "delivered")
	newest := w.post(at, with("emit", "null"))
	if got := newest.Find("[data-trial]").Text(); !strings.Contains(got, "Known so far") || !strings.Contains(got, "nobody is told") {
		t.Errorf("tried on the newest: %q", got)
	}
	late := w.post(at, with("try_body", `{"event_id":"B","message_id":"m1","status":"failed"}`))
	if got := late.Find("[data-reason]").Text(); !strings.Contains(got, "failed comes too late") {
		t.Errorf("too late: %q", got)
	}
	broken := w.post(at, with("subject", "bdy"))
	broken.wantStatus(http.StatusUnprocessableEntity)
	headers := w.post(at, with("try_headers", "no colon"))
	headers.wantStatus(http.StatusUnprocessableEntity)
	if all := entries(n.must(200, http.MethodGet, "/events?source=carrier", nil)); len(all) != 1 {
		t.Errorf("trials stored %v", all)
	}
}

// Each status says what happened, and the way on.
func TestEveryStatusHasWords(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	p := n.newCarrier()
	n.must(200, http.MethodPut, "/sources/carrier/rule", object{"subject": "body.message_id", "state": "body.status", "emit": `body.status == "quiet" ? null : "message." + body.status`, "requires_existing": true})
	id := func(body string) string {
		t.Helper()
		id := p.do(p.raw(http.MethodPost, "", body, http.Header{})).header.Get("Rowlock-Event-Id")
		p.process(t, id)
		return id
	}
	waiting := id(`{"message_id":"m1","status":"sent"}`)
	decision := func(id string) string {
		return strings.Join(strings.Fields(w.get(w.home+"/events/"+id).Find("#decision").Text()), " ")
	}
	if got := decision(waiting); !strings.Contains(got, "It waits for its subject.") || !strings.Contains(got, "looked for again after 1 s") || strings.Contains(got, "Process again") {
		t.Errorf("waiting: %q", got)
	}
	n.must(200, http.MethodPut, "/sources/carrier/rule", object{"subject": "body.message_id", "state": "body.status", "emit": `body.status == "quiet" ? null : "message." + body.status`})
	for body, want := range map[string][]string{
		`{"status":"sent"}`:                        {"The source’s rule failed.", "no such key: message_id", "Mend the rule, then process the event again.", "Open the rule", "Process again"},
		`{"message_id":"m2","status":"quiet"}`:     {"Nobody is to be told of it.", "The rule emits nothing for it.", "What is known of it"},
		`{"message_id":"m3","status":"delivered"}`: {"No endpoint asked for message.delivered", "Add endpoint", "Process again"},
	} {
		got := decision(id(body))
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q lacks %q", body, got, w)
			}
		}
	}
	if got := decision(id(`{"message_id":"m3","status":"delivered"}`)); !strings.Contains(got, "It reports what was told before.") || !strings.Contains(got, "What is known of it") {
		t.Errorf("a repeat: %q", got)
	}
}
