package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// publish publishes an event and returns its id.
func (n *tenant) publish(body string) string {
	n.t.Helper()
	return text(n.must(202, http.MethodPost, "/events", body), "id")
}

func ids(list []object) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = text(list[i], "id")
	}
	return out
}

func TestListsComeNewestFirstInParts(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	var want []string
	for i := range 5 {
		want = append(want, n.publish(fmt.Sprintf(`{"type":"a.b","data":%d}`, i)))
	}
	slices.Reverse(want)
	var got []string
	cursor := ""
	for {
		part := n.must(200, http.MethodGet, "/events?limit=2&cursor="+cursor, nil)
		got = append(got, ids(entries(part))...)
		if n.publish(`{"type":"later","data":1}`); part["next_cursor"] == nil {
			break
		}
		cursor = text(part, "next_cursor")
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCursorsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.publish(`{"type":"a.b","data":1}`)
	n.publish(`{"type":"a.b","data":1}`)
	good := text(n.must(200, http.MethodGet, "/events?limit=1", nil), "next_cursor")
	n.must(200, http.MethodGet, "/events?cursor="+good, nil)
	for _, cursor := range []string{"x", "%00", good + "A", good[:len(good)-1], "B" + good[1:], strings.ToUpper(good), "eyJpZCI6MX0="} {
		n.refused(422, "invalid_cursor", http.MethodGet, "/events?cursor="+cursor, nil)
	}
	for _, list := range []string{"/deliveries", "/endpoints", "/sources", "/attempts"} {
		n.refused(422, "invalid_cursor", http.MethodGet, list+"?cursor="+good, nil)
	}
}

func TestListParametersAreChecked(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	for _, query := range []string{
		"limit=0", "limit=251", "limit=x", "limit=1&limit=2", "since=yesterday", "until=1700000000", "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
		"since=0001-01-01T00:00:00%2B01:00", "until=9999-12-31T23:59:59-01:00", "since=2026-01-02T03:04:05,5Z", "since=2026-01-02T3:04:05Z",
		"status=hunter2", "statu=processed", "Status=processed", "subject=%00", "subject=%ff", "type=%ff", "source=src_x", "source=hunter2", "limit=%zz", "consumer=x",
	} {
		n.refused(422, "invalid", http.MethodGet, "/events?"+query, nil)
	}
	for query, says := range map[string]string{
		"since=yesterday": "query.since: want a time such as 2026-07-01T12:00:00Z", "until=2026-01-02T03:04:05+02:00": "write a + as %2B",
	} {
		for _, list := range []string{"/events", "/deliveries", "/attempts"} {
			p := n.refused(422, "invalid", http.MethodGet, list+"?"+query, nil)
			if detail := text(p, "detail"); !strings.Contains(detail, says) || strings.Contains(detail, "2006") || strings.Contains(detail, "invalid value") {
				t.Errorf("%s?%s: %v", list, query, p)
			}
		}
	}
	for _, query := range []string{"endpoint=ep_x", "endpoint=nobody", "event=x", "status=accepted", "outcome=x", "event=ep_01jabcdefghjkmnpqrstvwxyz0"} {
		n.refused(422, "invalid", http.MethodGet, "/deliveries?"+query, nil)
	}
	for _, query := range []string{"delivery=x", "outcome=x", "limit=1000"} {
		n.refused(422, "invalid", http.MethodGet, "/attempts?"+query, nil)
	}
	for _, list := range []string{"/events", "/deliveries", "/attempts", "/endpoints", "/sources"} {
		got := n.must(200, http.MethodGet, list+"?limit=250", nil)
		if _, ok := got["next_cursor"]; !ok || got["data"] == nil {
			t.Errorf("%s: %v", list, got)
		}
	}
}

func TestEventFilters(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	src := n.must(201, http.MethodPost, "/sources", `{"name":"Open","kind":"none","uid":"open"}`)
	start := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	order := n.publish(`{"type":"order.created","data":1,"subject":"s 1","key":"k/1"}`)
	invoice := n.publish(`{"type":"invoice.paid","data":1}`)
	hook := text(b.send(t, http.MethodPost, text(src, "ingest_url"), "x").object(t), "id")
	b.process(t, order)
	for query, want := range map[string][]string{
		"":                                          {hook, invoice, order},
		"type=order.created":                        {order},
		"subject=" + url.QueryEscape("s 1"):         {order},
		"key=" + url.QueryEscape("k/1"):             {order},
		"key=%ff%00":                                {},
		"source=open":                               {hook},
		"source=" + text(src, "id"):                 {hook},
		"status=no_endpoints":                       {order},
		"status=accepted":                           {hook, invoice},
		"status=accepted&type=order.created":        {},
		"since=" + start:                            {hook, invoice, order},
		"until=" + start:                            {},
		"source=src_01jabcdefghjkmnpqrstvwxyz0":     {},
		"since=2020-01-01T00:00:00Z&until=" + start: {},
	} {
		if got := ids(entries(n.must(200, http.MethodGet, "/events?"+query, nil))); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

func TestEventProcessAndRedeliver(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	id := n.publish(`{"type":"a.b","data":1}`)
	n.refused(409, "state_changed", http.MethodPost, "/events/"+id+"/process", nil)
	b.process(t, id)
	ep := n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`)
	if event := n.must(200, http.MethodPost, "/events/"+id+"/process", `{}`); event["status"] != "accepted" {
		t.Errorf("%v", event)
	}
	b.process(t, id)
	event := n.must(200, http.MethodGet, "/events/"+id, nil)
	if event["status"] != "processed" || event["deliveries"].(object)["pending"] != 1.0 {
		t.Fatalf("%v", event)
	}
	again := entries(n.must(202, http.MethodPost, "/events/"+id+"/redeliver", `{"endpoint":"e"}`))
	if len(again) != 1 || again[0]["endpoint_id"] != ep["id"] || again[0]["event_id"] != id || again[0]["reopened"] != true || again[0]["left_alone"] != nil {
		t.Errorf("%v", again)
	}
	n.must(202, http.MethodPost, "/events/"+id+"/redeliver", nil)
	n.refused(422, "invalid", http.MethodPost, "/events/"+id+"/redeliver", `{"endpoint":"nobody"}`)
}

func TestPayloadIsSavedAndNotShown(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	src := n.must(201, http.MethodPost, "/sources", `{"name":"Open","kind":"none"}`)
	const page = `<script>alert(1)</script>`
	hook := text(b.send(t, http.MethodPost, text(src, "ingest_url"), page, "Content-Type", "text/html").object(t), "id")
	for id, want := range map[string][2]string{
		hook:                                   {"application/octet-stream", page},
		n.publish(`{"type":"a.b","data":[1]}`): {"application/json", "[1]"},
	} {
		got := n.call(http.MethodGet, "/events/"+id+"/payload", nil)
		if got.Header.Get("Content-Type") != want[0] || string(got.text) != want[1] {
			t.Errorf("%q %s, want %q", got.Header.Get("Content-Type"), got.text, want)
		}
		if !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") ||
			!strings.Contains(got.Header.Get("Content-Security-Policy"), "sandbox") || got.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%v", got.Header)
		}
	}
	n.must(204, http.MethodDelete, "/events/"+hook+"/payload", nil)
	n.refused(410, "payload_deleted", http.MethodGet, "/events/"+hook+"/payload", nil)
	n.refused(410, "payload_deleted", http.MethodPost, "/events/"+hook+"/redeliver", nil)
	if event := n.must(200, http.MethodGet, "/events/"+hook, nil); event["payload_deleted_at"] == nil || event["headers"] != nil {
		t.Errorf("%v", event)
	}
}
