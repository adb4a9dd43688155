package server_test

import (
	"net/http"
	"net/url"
	"testing"
)

func TestSearchLeadsToWhatIsCalledSo(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w, stranger := b.signedUp(t, "Acme"), b.signedUp(t, "Other")
	n := w.tenant()
	ep := n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "e"})
	src := n.must(201, http.MethodPost, "/sources", `{"name":"GH","kind":"github","secret":"0123456789abcdef"}`)
	n.send(t, http.MethodPost, text(src, "ingest_url"), "{}") // no signature: a request
	requests := entries(n.must(200, http.MethodGet, "/sources/"+text(src, "id")+"/requests", nil))
	a := n.must(200, http.MethodPost, "/endpoints/e/test", nil)
	id := n.publish(`{"type":"order.created","subject":"ord 1","key":"key/1","data":1}`)
	for q, want := range map[string]string{
		id:                      "/events/" + id,
		" " + id + "\n":         "/events/" + id,
		text(a, "delivery_id"):  "/deliveries/" + text(a, "delivery_id"),
		text(a, "id"):           "/deliveries/" + text(a, "delivery_id") + "?attempt=1#" + text(a, "id"),
		text(ep, "id"):          "/endpoints/" + text(ep, "id"),
		text(src, "id"):         "/sources/" + text(src, "id"),
		text(requests[0], "id"): "/sources/" + text(src, "id") + "/requests/" + text(requests[0], "id"),
		"key/1":                 "/events/" + id,
		"ord 1":                 "/events?range=all&subject=ord+1",
		"order.created":         "/events?range=all&type=order.created",
	} {
		p := w.get(w.home + "/search?q=" + url.QueryEscape(q))
		if p.status != http.StatusSeeOther || p.location != w.home+want {
			t.Errorf("%q leads to %d %s, want %s", q, p.status, p.location, want)
		}
		p = stranger.get(stranger.home + "/search?q=" + url.QueryEscape(q))
		p.wantStatus(http.StatusOK)
	}
}

func TestSearchSaysThatItFoundNothing(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	for _, q := range []string{
		"nothing", "evt_06h1m3v9c8x7k2q5n4t6w8y0za", "evt_zzzzzzzzzzzzzzzzzzzzzzzzzz", "att_06h1m3v9c8x7k2q5n4t6w80000",
		"req_06h1m3v9c8x7k2q5n4t6w8y0za", "usr_06h1m3v9c8x7k2q5n4t6w8y0za", "<script>alert(1)</script>", "\x00", "\xff\xfe", "",
	} {
		p := w.get(w.home + "/search?q=" + url.QueryEscape(q))
		p.wantStatus(http.StatusOK)
		if p.Find("#found-nothing").Length() != 1 || p.Find("main script").Length() != 0 {
			t.Errorf("%q: %s", q, p.Find("main").Text())
		}
	}
}
