package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// eventsListed are the ids of the events that a list leads to.
func (p page) eventsListed() (listed []string) {
	p.t.Helper()
	for _, href := range p.hrefs("#events tbody a.cell") {
		listed = append(listed, href[strings.LastIndex(href, "/")+1:])
	}
	return listed
}

func (p page) hrefs(selector string) (hrefs []string) {
	p.t.Helper()
	for _, link := range p.Find(selector).EachIter() {
		hrefs = append(hrefs, link.AttrOr("href", ""))
	}
	return hrefs
}

// wantText fails unless a part of the page holds a text.
func (p page) wantText(selector, want string) {
	p.t.Helper()
	if got := strings.Join(strings.Fields(p.Find(selector).Text()), " "); !strings.Contains(got, want) {
		p.t.Errorf("%s: %s is %q, want %q", p.path, selector, got[:min(len(got), 500)], want)
	}
}

func TestEventsPageIsEmptyAtFirst(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.get(w.home + "/events")
	p.wantStatus(http.StatusOK)
	p.wantText("#events", "No events yet")
	p.wantText("#events pre", w.url+"/api/v1/events")
	if p.Find("form.filters").Length() != 0 {
		t.Error("there is nothing to filter")
	}
}

func TestEventsComeInPages(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	var want []string
	for i := range 53 {
		want = append([]string{n.publish(fmt.Sprintf(`{"type":"a.b","data":%d}`, i))}, want...)
	}
	p := w.get(w.home + "/events?type=a.b")
	got := p.eventsListed()
	n.publish(`{"type":"a.b","data":"later"}`)
	older := p.hrefs(".pager a[rel=next]")
	if len(older) != 1 || p.Find(".pager a[rel=prev]").Length() != 0 {
		t.Fatalf("the first page leads to %v", older)
	}
	p = w.get(older[0])
	got = append(got, p.eventsListed()...)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if newest := p.hrefs(".pager a[rel=prev]"); len(newest) != 1 || newest[0] != w.home+"/events?type=a.b" {
		t.Errorf("back leads to %v", newest)
	}
}

func TestEventsAreFiltered(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	src := n.must(201, http.MethodPost, "/sources", `{"name":"Open","kind":"none"}`)
	hook := text(n.send(t, http.MethodPost, text(src, "ingest_url"), "{}").object(t), "id")
	first := n.publish(`{"type":"order.created","subject":"ord_1","key":"k-1","data":1}`)
	second := n.publish(`{"type":"order.paid","subject":"ord_2","data":1}`)
	w.process(t, first)
	for query, want := range map[string][]string{
		"":                                       {second, first, hook},
		"type=order.paid":                        {second},
		"subject=ord_1":                          {first},
		"key=k-1":                                {first},
		"source=" + text(src, "id"):              {hook},
		"status=no_endpoints":                    {first},
		"status=no_endpoints&status=accepted":    {second, first, hook},
		"status=no_endpoints&type=order.paid":    nil,
		"range=1h":                               {second, first, hook},
		"until=2020-01-01T00:00":                 nil,
		"since=2020-01-01T00:00:00Z&range=1h":    {second, first, hook},
		"type=order.paid&status=nonsense":        {second},
		"source=nonsense":                        nil,
		"type=%00":                               nil,
		"subject=%ff":                            nil,
		"key=%00%ff":                             nil,
		"after=nonsense&range=nonsense&since=x":  {second, first, hook},
		"after=" + second + "&until=99999999999": {first, hook},
	} {
		p := w.get(w.home + "/events?" + query)
		p.wantStatus(http.StatusOK)
		if got := p.eventsListed(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

// What the filters' form sends becomes an address that can be shared.
func TestEventFiltersAreAForm(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	w.tenant().publish(`{"type":"order.created","data":1}`)
	p := w.submit(w.get(w.home+"/events"), "form.filters", url.Values{"type": {"order.paid"}, "status": {"held", "accepted"}})
	if p.status != http.StatusSeeOther || p.location != w.home+"/events?status=held&status=accepted&type=order.paid" &&
		p.location != w.home+"/events?status=accepted&status=held&type=order.paid" {
		t.Fatalf("%d to %s", p.status, p.location)
	}
	p = w.follow(p)
	p.wantText("#events .empty", "No event matches these filters")
	p.wantText("#events .empty", "Last 24 hours")
	p.wantText(".chip[data-on]", "Accepted, Held at source")
	p.wantText(".chip[data-on]", "Status")
	p.wantText("main nav[aria-label=Views], main [aria-label=Views]", "Held at source")
	wider := p.hrefs("#events .empty a")
	if len(wider) != 2 || !strings.Contains(wider[0], "range=7d") || wider[1] != w.home+"/events" {
		t.Errorf("the ways out are %v", wider)
	}
}

func TestEventPageTellsWhatHappened(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","description":"ERP <b>sync</b>"}`)
	const body = `{"type":"order.created","subject":"ord/1 \u202e<script>","key":"k-1","data":{"n":12345678901234567890}}`
	id := n.publish(body)
	n.must(200, http.MethodPost, "/events", body)
	w.process(t, id)
	p := w.get(w.home + "/events/" + id)
	p.wantStatus(http.StatusOK)
	p.wantText("h1", "order.created")
	p.wantText("h1 .badge", "Pending")
	for _, want := range []string{"Published", "API key accepted", "Fanned out to 1 endpoint", "Duplicate received", "Attempt 1 to ERP <b>sync</b> is planned"} {
		p.wantText("#timeline", want)
	}
	p.wantText("#deliveries tbody tr", "ERP <b>sync</b>")
	p.wantText("#payload", "12345678901234567890")
	p.wantText(".strip", "ord/1 ⟨U+202E⟩<script>")
	if strings.Contains(p.text, "<script>") && strings.Contains(p.text, "ord/1 \u202e") || p.Find("main script, main b:contains('sync')").Length() != 0 {
		t.Error("the page holds what came from outside as it is")
	}
	if subject := p.hrefs(".strip a.link"); len(subject) != 2 || len(w.get(subject[0]).eventsListed()) != 1 || len(w.get(subject[1]).eventsListed()) != 1 {
		t.Errorf("the subject and the key lead to %v", subject)
	}
}

func TestRedeliverAnEvent(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	had := n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","description":"Had it","event_types":["a.b"]}`)
	other := n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`/2","description":"Never had it","event_types":["other"]}`)
	id := n.publish(`{"type":"a.b","data":1}`)
	w.process(t, id)
	path := w.home + "/events/" + id
	ask := w.get(path + "/redeliver")
	ask.wantText("form.dialog", "gets it again")
	ask.wantText("#endpoint", "Never had it: was not meant for it")
	if w.fragment(path+"/redeliver").Find("form.dialog").Length() != 1 || w.fragment(path+"/redeliver").Find("main").Length() != 0 {
		t.Error("a script gets more than the question")
	}
	w.follow(w.submit(ask, "form.dialog", url.Values{"endpoint": {"all"}})).wantToast("Sent again to 1 endpoint.")
	p := w.follow(w.submit(ask, "form.dialog", url.Values{"endpoint": {text(other, "id")}}))
	p.wantText("#deliveries", "Never had it")
	p.wantText("#timeline", "By Person of Acme.")
	for _, wrong := range []string{"", "nonsense", "ep_06h1m3v9c8x7k2q5n4t6w8y0za"} {
		p := w.submit(ask, "form.dialog", url.Values{"endpoint": {wrong}})
		p.wantStatus(http.StatusUnprocessableEntity)
		if p.Find("#endpoint").AttrOr("aria-invalid", "") != "true" {
			t.Errorf("%q is not told", wrong)
		}
	}
	n.must(204, http.MethodDelete, "/endpoints/"+text(had, "id"), nil)
	w.submit(ask, "form.dialog", url.Values{"endpoint": {text(had, "id")}}).wantStatus(http.StatusUnprocessableEntity)
}

// Nothing is said to be sent when there is nobody to send it to.
func TestRedeliverToNoEndpoint(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	id := n.publish(`{"type":"a.b","data":1}`)
	path := w.home + "/events/" + id
	all := url.Values{"endpoint": {"all"}}
	w.follow(w.post(path+"/redeliver", all)).wantToast("Not sent: it was for no endpoint yet. Choose one.")
	w.process(t, id)
	p := w.follow(w.post(path+"/redeliver", all))
	p.wantToast("Not sent: it was for no endpoint yet. Process it again, or choose an endpoint.")
	if strings.Contains(p.Find("#timeline").Text(), "Redelivered") {
		t.Error("the timeline tells of what did not happen")
	}
	ask := w.get(path + "/redeliver")
	if add := ask.hrefs("form.dialog p a"); len(add) != 1 || add[0] != w.home+"/endpoints/new" || ask.Find("form.dialog button[type=submit][disabled]").Length() != 1 {
		t.Errorf("with no endpoint the question leads to %v", add)
	}
	e := n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","description":"ERP"}`)
	w.submit(w.get(path+"/redeliver"), "form.dialog", url.Values{"endpoint": {text(e, "id")}}).wantStatus(http.StatusSeeOther)
	delivery := w.get(path).hrefs("#deliveries a.cell")[0]
	n.must(204, http.MethodDelete, "/endpoints/"+text(e, "id"), nil)
	w.follow(w.post(path+"/redeliver", all)).wantToast("Not sent: every endpoint that it was for was deleted. Choose another one.")
	ask = w.get(delivery + "/redeliver")
	ask.wantText("form.dialog", "Its endpoint was deleted, so it cannot be sent again.")
	if ask.Find("form.dialog button[type=submit][disabled]").Length() != 1 {
		t.Error("the question about a deleted endpoint can be answered")
	}
}

func TestProcessAnEventAgain(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	id := n.publish(`{"type":"a.b","data":1}`)
	w.process(t, id)
	path := w.home + "/events/" + id
	p := w.get(path)
	p.wantText("#decision", "No endpoint asked for a.b when it was decided. Add one that does, or process the event again.")
	if add := p.hrefs("#decision a"); len(add) != 1 || add[0] != w.home+"/endpoints/new" || p.Find("#process button").Length() != 1 {
		t.Errorf("the ways on are %v", add)
	}
	again := w.follow(w.submit(p, "#process", nil))
	again.wantToast("decided again")
	w.follow(w.post(path+"/process", url.Values{})).wantToast("decided in the meantime")
}

func TestDeletePayloadOfAnEvent(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`"}`)
	id := n.publish(`{"type":"a.b","data":{"very":"private"}}`)
	w.process(t, id)
	path := w.home + "/events/" + id
	delivery := w.get(path).hrefs("#deliveries a.cell")[0]
	p := w.follow(w.submit(w.get(path+"/payload/delete"), "form.dialog", nil))
	p.wantToast("The payload was deleted.")
	p.wantText("#payload", "The payload was deleted")
	p.wantText("#timeline", "Payload deleted")
	if strings.Contains(p.text, "private") || strings.Contains(p.text, "Redeliver…") {
		t.Error("the page offers what is gone")
	}
	if raw := w.get(path + "/raw"); raw.status != http.StatusGone {
		t.Errorf("the bytes are answered with %d", raw.status)
	}
	w.follow(w.post(path+"/redeliver", url.Values{"endpoint": {"all"}})).wantToast("the payload was deleted")
	w.follow(w.post(delivery+"/redeliver", url.Values{})).wantToast("the payload was deleted")
	w.get(delivery).wantText("main", "The payload was deleted.")
}

func TestPayloadIsDownloadedAndNotShown(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	src := n.must(201, http.MethodPost, "/sources", `{"name":"Open","kind":"none"}`)
	ingest := text(src, "ingest_url")
	for _, c := range []struct{ body, sent, kind, shown string }{
		{`<script>alert(1)</script>`, "text/html", "application/octet-stream", "<script>alert(1)</script>"},
		{`{"a":1}`, "application/json; charset=utf-8", "application/json", `"a": 1`},
		{"\x00\x01\xff", "image/png", "application/octet-stream", "00 01 ff"},
		{strings.Repeat("0123456789\n", 5900), "text/plain", "application/octet-stream", "Download all of it"},
	} {
		id := text(n.send(t, http.MethodPost, ingest, c.body, "Content-Type", c.sent).object(t), "id")
		p := w.get(w.home + "/events/" + id)
		p.wantText("#payload", c.shown)
		raw := w.get(w.home + "/events/" + id + "/raw")
		if raw.text != c.body || raw.header.Get("Content-Type") != c.kind ||
			!strings.HasPrefix(raw.header.Get("Content-Disposition"), "attachment") ||
			!strings.HasSuffix(raw.header.Get("Content-Security-Policy"), "; sandbox") || raw.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %q %v", c.sent, raw.text[:min(len(raw.text), 40)], raw.header)
		}
	}
}

func TestMembersSeeEventsAndChangeNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	member := owner.newMember()
	n := owner.tenant()
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`"}`)
	id := n.publish(`{"type":"a.b","data":1}`)
	b.process(t, id)
	path := owner.home + "/events/" + id
	p := member.get(path)
	p.wantStatus(http.StatusOK)
	delivery := p.hrefs("#deliveries a.cell")[0]
	for _, at := range []string{path, delivery} {
		if forms := member.get(at).Find("main form, main a[hx-get]"); forms.Length() != 0 {
			t.Errorf("%s offers a member %d ways to change something", at, forms.Length())
		}
	}
	for _, at := range []string{path + "/redeliver", path + "/process", path + "/payload/delete", delivery + "/redeliver", delivery + "/cancel"} {
		member.post(at, url.Values{"endpoint": {"all"}}).wantStatus(http.StatusForbidden)
	}
}
