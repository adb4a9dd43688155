package server_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestEventsAreSearched(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	e := n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","description":"ERP","event_types":["order.*"]}`)
	order := n.publish(`{"type":"order.created","subject":"ord_1","key":"k-1","data":{"id":12345678901234567890,"paid":true}}`)
	other := n.publish(`{"type":"invoice.sent","data":{"id":12345678901234567891,"paid":false}}`)
	w.process(t, order)
	for query, want := range map[string][]string{
		"q=" + order: {order}, "q=ord_1": {order}, "q=k-1": {order}, "q=invoice.sent": {other}, "q=12345678901234567891": {other},
		"q=" + url.QueryEscape("$.id = 12345678901234567890"): {order}, "q=" + url.QueryEscape("$.paid = false"): {other}, "q=" + url.QueryEscape("header.content-type ~ json"): {other, order},
		"q=nothing": nil, "endpoint=" + text(e, "id"): {order}, "endpoint=nonsense": nil, "status=pending": {order}, "status=pending&status=accepted": {other, order}, "status=failed": nil,
	} {
		p := w.get(w.home + "/events?" + query)
		p.wantStatus(http.StatusOK)
		if got := p.eventsListed(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	p := w.get(w.home + "/events?q=" + url.QueryEscape(`$.id = "<b>`))
	p.wantText("#q-error", `Character 8: want " at the end of the text.`)
	if field := p.Find(".filters input[name='q']"); field.AttrOr("value", "") != `$.id = "<b>` || field.AttrOr("aria-describedby", "") != "q-error" || len(p.eventsListed()) != 0 {
		t.Error("the search is not shown again with what is wrong in it")
	}
	p.wantText(".filters .chip[data-on]", "Received All time")
}

// An empty list offers the time in which there is something, and says how much.
func TestEventsOfAWiderTime(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	id := n.publish(`{"type":"a.b","data":1}`)
	b.older(t, id)
	p := w.get(w.home + "/events?type=a.b&range=1h")
	p.wantText("#events .empty", "The same search finds 1 event in last 7 days.")
	wider := p.hrefs("#events .empty a")
	if len(wider) != 2 || !strings.Contains(wider[0], "range=7d") || len(w.get(wider[0]).eventsListed()) != 1 {
		t.Errorf("the ways out are %v", wider)
	}
}

// older makes an event one of two days ago.
func (b *bundle) older(t *testing.T, text string) {
	t.Helper()
	id, err := gateway.ParseID[gateway.EventID](text)
	if err != nil {
		t.Fatal(err)
	}
	before := gateway.FirstIDAt[gateway.EventID](id.Time().AddDate(0, 0, -2))
	if _, err := b.store.MakePartitions(t.Context(), before.Time(), id.Time()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE events SET id = $2 WHERE id = $1`, id, before); err != nil {
		t.Fatal(err)
	}
}

// Bars of the histogram lead to the events of their time.
func TestEventsHistogram(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	id := n.publish(`{"type":"a.b","data":1}`)
	b.process(t, id)
	p := w.get(w.home + "/events")
	if label := p.Find("#histogram svg").AttrOr("aria-label", ""); !strings.HasPrefix(label, "Events over this time: 1 event") {
		t.Errorf("the histogram says %q", label)
	}
	bars := p.hrefs("#histogram a.bin")
	if len(bars) < 24 {
		t.Fatalf("%d bars", len(bars))
	}
	last := w.get(bars[len(bars)-1])
	if got := last.eventsListed(); !slices.Equal(got, []string{id}) {
		t.Errorf("the last bar leads to %v", got)
	}
	if got := w.get(bars[0]).eventsListed(); len(got) != 0 {
		t.Errorf("the first bar leads to %v", got)
	}
	if w.get(w.home+"/events?q=a.b").Find("#histogram").Length() != 0 {
		t.Error("a search has a histogram")
	}
}

func TestSavedViews(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	w.tenant().publish(`{"type":"a.b","data":1}`)
	list := w.get(w.home + "/events?type=a.b&range=7d")
	save := list.hrefs(".filters a[href*='/events/views/new']")
	if len(save) != 1 {
		t.Fatalf("a list can be saved at %v", save)
	}
	ask := w.get(save[0])
	if p := w.submit(ask, "form.dialog", nil); p.status != http.StatusUnprocessableEntity || p.Find("#name").AttrOr("aria-invalid", "") != "true" {
		t.Errorf("a view without a name: %d", p.status)
	}
	saved := w.follow(w.submit(ask, "form.dialog", url.Values{"name": {"Big <b>payments</b>"}}))
	saved.wantToast("Saved as “Big <b>payments</b>”.")
	saved.wantText("[aria-label=Views] a[aria-current]", "Big <b>payments</b>")
	if saved.Find(".filters a[href*='/events/views/new']").Length() != 0 || saved.Find("[aria-label=Views] b").Length() != 0 {
		t.Error("it can be saved again, or is shown as it was typed")
	}
	if tab := w.get(w.home + "/events").hrefs("[aria-label=Views] a[href*='type=a.b']"); len(tab) != 1 || len(w.get(tab[0]).eventsListed()) != 1 {
		t.Errorf("the view leads to %v", tab)
	}
	if w.newMember().get(w.home+"/events").Find("[aria-label=Views] a[href*='type=a.b']").Length() != 0 {
		t.Error("somebody else sees it")
	}
	remove := saved.hrefs(".filters a[href*='/events/views/delete']")
	p := w.follow(w.submit(w.get(remove[0]), "form.dialog", nil))
	p.wantToast("The view was deleted.")
	w.follow(w.post(w.home+"/events/views/delete", url.Values{"name": {"Big <b>payments</b>"}})).wantToast("There is no such view any more.")
	for i := range gateway.MaxSavedViews {
		w.post(w.home+"/events/views/new", url.Values{"name": {fmt.Sprint(i)}, "query": {"type=x"}}).wantStatus(http.StatusSeeOther)
	}
	full := w.post(w.home+"/events/views/new", url.Values{"name": {"one more"}, "query": {"type=x"}})
	full.wantStatus(http.StatusUnprocessableEntity)
	full.wantText("#name-error", "as many views as there can be")
	w.post(w.home+"/events/views/new", url.Values{"name": {"x"}, "query": {"%zz"}}).wantStatus(http.StatusUnprocessableEntity)
}

// Events that are chosen, or all that a list has, are sent again by one press.
func TestRedeliverEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`"}`)
	var events []string
	for i := range 3 {
		events = append(events, n.publish(fmt.Sprintf(`{"type":"a.b","data":{"n":%d}}`, i)))
	}
	b.process(t, events...)
	b.closeAll(t, "failed")
	p := w.get(w.home + "/events")
	if p.Find("table[data-select='chosen-bar'] tbody .check[form='chosen'][name='id']").Length() != 3 || p.Find("#chosen button[formaction='"+w.home+"/events/redeliver']").Length() != 1 {
		t.Fatal("nothing can be chosen")
	}
	chosen := w.home + "/events/redeliver?id=" + events[0] + "&id=" + events[1] + "&id=nonsense&format=csv"
	ask := w.get(chosen)
	ask.wantText("h1", "Redeliver 2 events?")
	ask.wantText("form.dialog", "2 deliveries match.")
	ask.wantText("form.dialog button[type=submit][data-variant=primary]", "Redeliver 2")
	o := w.follow(w.submit(ask, "form.dialog", nil))
	o.wantText("main", "Failed, of 2 events.")

	for query, want := range map[string]string{
		"type=a.b": "3 deliveries match.", "q=" + url.QueryEscape("$.n = 1"): "1 delivery matches.", "status=failed": "3 deliveries match.", "type=no.such": "Nothing matches.",
		"q=some+text": "cannot be redelivered as a whole", "status=delivered": "cannot be redelivered as a whole", "key=k": "cannot be redelivered as a whole", "q=" + url.QueryEscape("$.n ="): "cannot be redelivered as a whole",
	} {
		w.get(w.home+"/events/redeliver?"+query).wantText("form.dialog", want)
	}
	all := w.get(w.home + "/events?type=a.b").hrefs(".bulk > span a")
	if len(all) != 1 {
		t.Fatalf("all that match are at %v", all)
	}
	ask = w.get(all[0])
	until := ask.Find("form.dialog input[name=until]").AttrOr("value", "")
	if until == "" || ask.Find("form.dialog input[name=range]").Length() != 0 {
		t.Error("what is confirmed is not what was counted")
	}
	w.follow(w.submit(ask, "form.dialog", nil)).wantText("main", "Failed, of the type a.b")

	b.closeAll(t, "delivered")
	w.get(chosen).wantText("form.dialog [name=which][checked] + span", "Everything that is closed")
	w.get(chosen+"&which=failed").wantText("form.dialog", "Nothing matches.")
	w.follow(w.post(w.home+"/events/redeliver", url.Values{"q": {"$.n ="}})).wantToast("Not sent: choose events")
	w.newMember().post(w.home+"/events/redeliver", url.Values{"type": {"a.b"}}).wantStatus(http.StatusForbidden)
}

// closeAll closes every delivery.
func (b *bundle) closeAll(t *testing.T, status string) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), `UPDATE deliveries SET status = $1, closed_at = now() - interval '1 second', next_attempt_at = NULL, last_outcome = 'rejected', last_status_code = 503, attempts = 1`, status); err != nil {
		t.Fatal(err)
	}
}

func TestEventsAreDownloaded(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	ids := b.age(t, n.publish(`{"type":"a.b","data":{"n":1},"subject":"=1"}`), n.publish(`{"type":"c.d","data":{"n":2}}`))
	p := w.get(w.home + "/events")
	links := p.hrefs(".head .menu a[download]")
	if len(links) != 3 {
		t.Fatalf("the list is exported at %v", links)
	}
	table := w.get(links[0])
	rows, err := csv.NewReader(strings.NewReader(table.text)).ReadAll()
	if err != nil || len(rows) != 3 || rows[2][6] != "'=1" || !strings.HasPrefix(table.header.Get("Content-Disposition"), "attachment") || table.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v, %v, %v", rows, err, table.header)
	}
	lines := w.get(links[2])
	if got := strings.Count(lines.text, "\n"); got != 2 || !strings.Contains(lines.text, `"payload":{"n":2}`) {
		t.Errorf("%q", lines.text)
	}
	one := w.get(w.home + "/events/export?format=ndjson&id=" + ids[0])
	if strings.Count(one.text, "\n") != 1 || !strings.Contains(one.text, ids[0]) {
		t.Errorf("the one that was chosen is exported as %q", one.text)
	}
	w.follow(w.get(w.home + "/events/export?q=" + url.QueryEscape("$.a ="))).wantToast("Not exported")
	if got := w.newMember().get(w.home + "/events/export?format=csv"); got.status != http.StatusOK {
		t.Errorf("a member exports: %d", got.status)
	}
	if got := b.signedUp(t, "Other"); strings.Count(got.get(got.home+"/events/export?format=ndjson&id="+ids[0]).text, "\n") != 0 {
		t.Error("another account exports it")
	}
}

func TestPeekAtAnEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","description":"ERP <b>"}`)
	id := n.publish(`{"type":"a.b","subject":"s<i>","data":{"n":7}}`)
	b.process(t, id)
	path := w.home + "/events/" + id
	p := w.fragment(path + "/peek")
	p.wantStatus(http.StatusOK)
	p.wantText(".drawer", "ERP <b>")
	p.wantText(".drawer", "s<i>")
	if p.Find("main, b, i").Length() != 0 || p.Find("#dialog-title").Text() != "a.b" {
		t.Error("the peek is more than a fragment")
	}
	if whole := w.get(path + "/peek"); whole.status != http.StatusSeeOther || whole.location != path {
		t.Errorf("without a script it leads to %q", whole.location)
	}
	if stranger := b.signedUp(t, "Other"); stranger.fragment(stranger.home+"/events/"+id+"/peek").status != http.StatusNotFound {
		t.Error("another account peeks at it")
	}
}

// Beside the list an event stands as it does in it, however many deliveries it has.
func TestPeekAtManyDeliveries(t *testing.T) {
	t.Parallel()
	const many = 24 // more than are listed
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	for range many {
		n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`"}`)
	}
	id := n.publish(`{"type":"a.b","data":1}`)
	b.process(t, id)
	if _, err := b.pool.Exec(t.Context(), `
		UPDATE deliveries SET status = 'failed', closed_at = now(), next_attempt_at = NULL
		WHERE id = (SELECT id FROM deliveries ORDER BY id LIMIT 1)`); err != nil {
		t.Fatal(err)
	}
	p := w.fragment(w.home + "/events/" + id + "/peek")
	p.wantText(".drawer header", "Failed")
	p.wantText(".drawer section", fmt.Sprintf("0 of %d endpoints have it", many))
	p.wantText(".drawer section", "There are more of them")
}

// Other events of a subject, and those of another source with the same key,
// stand on an event's page.
func TestRelatedEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	var all []string
	for i := range 8 {
		all = append(all, n.publish(fmt.Sprintf(`{"type":"a.b%d","subject":"s","data":1}`, i)))
	}
	alone := n.publish(`{"type":"x.y","subject":"other","key":"k","data":1}`)
	p := w.get(w.home + "/events/" + all[0])
	if got := p.hrefs("#related-subject li a"); len(got) != 5 || strings.HasSuffix(got[0], all[0]) {
		t.Errorf("related are %v", got)
	}
	p.wantText("#related-subject", "All of them")
	if got := w.get(p.hrefs("#related-subject .actions a")[0]).eventsListed(); len(got) != 8 {
		t.Errorf("the list has %v", got)
	}
	if w.get(w.home+"/events/"+alone).Find("[id^=related-]").Length() != 0 {
		t.Error("an event alone has related ones")
	}
	src := n.must(201, http.MethodPost, "/sources", `{"name":"Open","kind":"none","uid":"open"}`)
	n.must(200, http.MethodPut, "/sources/open/rule", object{"key": "body.id"})
	twin := text(n.send(t, http.MethodPost, text(src, "ingest_url"), `{"id":"k"}`, "Content-Type", "application/json").object(t), "id")
	if got := w.get(w.home + "/events/" + alone).hrefs("#related-key li a"); len(got) != 1 || !strings.HasSuffix(got[0], twin) {
		t.Errorf("with the same key there are %v, want %s", got, twin)
	}
}

// Copies are counted beside each event.
func TestCopiesOfEvents(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	const body = `{"type":"a.b","key":"k-1","data":1}`
	n.publish(body)
	for range 3 {
		n.must(200, http.MethodPost, "/events", body)
	}
	n.publish(`{"type":"c.d","data":1}`)
	p := w.get(w.home + "/events")
	if got := strings.Fields(p.Find("td [title='How often it came again']").Text()); !slices.Equal(got, []string{"+3"}) {
		t.Errorf("%q copies", got)
	}
}
