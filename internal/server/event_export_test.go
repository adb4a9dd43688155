package server_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

// age makes an account's events a minute and more older than they are, and
// returns their ids as they are now, in the order of those that are given.
func (b *bundle) age(t *testing.T, ids ...string) (aged []string) {
	t.Helper()
	for i, text := range ids {
		id, err := gateway.ParseID[gateway.EventID](text)
		if err != nil {
			t.Fatal(err)
		}
		older := gateway.FirstIDAt[gateway.EventID](id.Time().Add(-2*time.Minute - time.Duration(len(ids)-i)*time.Second))
		older[15] = byte(i)
		for _, table := range []string{"events", "event_bodies"} {
			if _, err := b.pool.Exec(t.Context(), `UPDATE `+table+` SET id = $2 WHERE id = $1`, id, older); err != nil {
				t.Fatal(err)
			}
		}
		aged = append(aged, older.String())
	}
	return aged
}

func TestEventSearch(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	e := n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"erp","event_types":["order.*"]}`)
	src := n.must(201, http.MethodPost, "/sources", `{"name":"Open","kind":"none","uid":"open"}`)
	order := n.publish(`{"type":"order.created","data":{"id":12345678901234567890,"paid":true},"subject":"s-1","key":"k-1"}`)
	invoice := n.publish(`{"type":"invoice.paid","data":{"id":12345678901234567891,"to":"s-1"}}`)
	hook := text(b.send(t, http.MethodPost, text(src, "ingest_url"), `{"id":1}`, "X-Trace", "7f3a-1").object(t), "id")
	b.process(t, order)
	for query, want := range map[string][]string{
		"q=" + order:                             {order},
		"q=k-1":                                  {order},
		"q=s-1":                                  {order},
		"q=" + url.QueryEscape(`"s-1"`):          {order},
		"q=invoice.paid":                         {invoice},
		"q=12345678901234567891":                 {invoice},
		"q=7f3a":                                 {hook},
		"q=nothing":                              {},
		"q=" + url.QueryEscape("$.id = 1"):       {hook},
		"q=" + url.QueryEscape("$.id > 1"):       {invoice, order},
		"q=" + url.QueryEscape("$.paid=true"):    {order},
		"q=" + url.QueryEscape("$.id=1&&$.paid"): {},
		"q=header.x-trace&source=open":           {hook},
		"q=" + url.QueryEscape("$.id > 1") + "&type=order.created": {order},
		"endpoint=erp":                   {order},
		"endpoint=" + text(e, "id"):      {order},
		"endpoint=erp&type=invoice.paid": {},
		"endpoint=erp&progress=pending":  {order},
		"progress=pending":               {order},
		"progress=failed":                {},
	} {
		if got := ids(entries(n.must(200, http.MethodGet, "/events?"+query, nil))); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	for _, query := range []string{"q=" + url.QueryEscape("$.id ="), "q=%ff", "q=" + strings.Repeat("x", 1025), "endpoint=nobody", "progress=nonsense"} {
		n.refused(422, "invalid", http.MethodGet, "/events?"+query, nil)
		n.refused(422, "invalid", http.MethodGet, "/events/export?"+query, nil)
	}
	n.refused(422, "invalid", http.MethodGet, "/events/export?format=xml", nil)
	n.refused(422, "invalid", http.MethodGet, "/events/export?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", nil)
}

func TestEventExport(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	published := []string{
		n.publish(`{"type":"order.created","data":{"n":1},"subject":"=1+1","key":"k-1"}`),
		n.publish(`{"type":"order.paid","data":[1, 2],"occurred_at":"2026-01-01T00:00:00Z"}`),
	}
	n.publish(`{"type":"order.created","data":"just now"}`)
	all := b.age(t, published...)
	slices.Reverse(all)
	answer := n.call(http.MethodGet, "/events/export?payloads=true", nil)
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "application/x-ndjson" || !strings.HasPrefix(answer.Header.Get("Content-Disposition"), `attachment; filename="events-`) {
		t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	var lines []object
	for s := bufio.NewScanner(bytes.NewReader(answer.text)); s.Scan(); {
		var line object
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, s.Text())
		}
		lines = append(lines, line)
	}
	listed := entries(n.must(200, http.MethodGet, "/events", nil))[1:]
	for i, line := range lines {
		payload, _ := json.Marshal(line["payload"])
		if want := []string{`[1,2]`, `{"n":1}`}[i]; string(payload) != want || text(line, "id") != all[i] {
			t.Errorf("line %d is %v, want %s with %s", i, line, all[i], want)
		}
		for _, extra := range []string{"payload", "deliveries", "delivered"} {
			delete(line, extra)
		}
		if diff := cmp.Diff(map[string]any(listed[i]), map[string]any(line)); diff != "" {
			t.Errorf("a line has other fields than the list (-list +line):\n%s", diff)
		}
	}
	if len(lines) != 2 {
		t.Errorf("%d lines, want 2", len(lines))
	}
	table := n.call(http.MethodGet, "/events/export?format=csv&type=order.created", nil)
	rows, err := csv.NewReader(bytes.NewReader(table.text)).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][6] != "'=1+1" || table.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Errorf("%v, %v", rows, err)
	}
	stranger := b.newTenant(t)
	if got := stranger.call(http.MethodGet, "/events/export", nil); got.StatusCode != 200 || len(got.text) != 0 {
		t.Errorf("another account exports %q", got.text)
	}
}

// One press sends again what a list of events has.
func TestRedeliverWhatAListHas(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`"}`)
	var events []string
	for i := range 3 {
		events = append(events, n.publish(fmt.Sprintf(`{"type":"a.b","subject":"s","data":{"n":%d}}`, i)))
	}
	b.process(t, events...)
	for _, d := range entries(n.must(200, http.MethodGet, "/deliveries", nil)) {
		n.must(200, http.MethodPost, "/deliveries/"+text(d, "id")+"/cancel", nil)
	}
	for name, body := range map[string]object{
		"events": {"events": events[:2]}, "search": {"search": "$.n < 2"}, "and subject": {"subject": "s", "search": "$.n < 2"},
	} {
		body["dry_run"] = true
		o := n.must(202, http.MethodPost, "/deliveries/redeliver", body)
		filter := o["filter"].(object)
		delete(body, "dry_run")
		for field := range maps.Keys(body) {
			if fmt.Sprint(filter[field]) != fmt.Sprint(body[field]) {
				t.Errorf("%s: the filter is %v, want %v", name, filter, body)
			}
		}
		id, err := gateway.ParseID[gateway.OperationID](text(o, "id"))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.operate.Run(t.Context(), n.account, id); err != nil {
			t.Fatal(err)
		}
		if o := n.must(200, http.MethodGet, "/operations/"+text(o, "id"), nil); fmt.Sprint(o["total"]) != "2" {
			t.Errorf("%s: %v, want a total of 2", name, o)
		}
	}
	for _, body := range []string{`{"search":"$.a ="}`, `{"events":["nonsense"]}`, `{"source":"nobody"}`, `{"events":["` + events[0] + `"],"ids":["dlv_01jabcdefghjkmnpqrstvwxyz0"]}`} {
		n.refused(422, "invalid", http.MethodPost, "/deliveries/redeliver", body)
	}
}
