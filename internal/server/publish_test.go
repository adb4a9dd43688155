package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server"
)

// payload reads an event's bytes as they are stored.
func (n *tenant) payload(id string) string {
	n.t.Helper()
	got := n.call(http.MethodGet, "/events/"+id+"/payload", nil)
	if got.StatusCode != http.StatusOK {
		n.t.Fatalf("payload: %d %s", got.StatusCode, got.text)
	}
	return string(got.text)
}

func TestPublishKeepsDataByteForByte(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	for _, data := range []string{
		`{"b": 1,  "a":"\u0000é","n":12345678901234567890, "a":2}`,
		`1e400`, `-0`, `null`, `"text"`, `[ ]`, `{"Type":"x","type":"y","data":{}}`,
		"\"\xff\"", `"\ud800"`, `"<script>&"`, strings.Repeat("[", 12000) + strings.Repeat("]", 12000),
	} {
		got := n.must(202, http.MethodPost, "/events", "{\"type\":\"a.b\" ,\n\"data\" :  "+data+"\t}")
		if stored := n.payload(text(got, "id")); stored != data {
			t.Errorf("stored %.80q, want %.80q", stored, data)
		}
	}
}

func TestPublishAnswers(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	body := `{"type":"order.created","data":{},"subject":"s-1","key":"k-1","occurred_at":"2026-01-02T03:04:05.6+02:00"}`
	first := n.must(202, http.MethodPost, "/events", body)
	if text(first, "type") != "order.created" || first["duplicate"] != false {
		t.Errorf("%v", first)
	}
	if _, err := time.Parse("2006-01-02T15:04:05.000000Z", text(first, "created_at")); err != nil {
		t.Errorf("created_at: %v", err)
	}
	again := n.must(200, http.MethodPost, "/events", body)
	if again["duplicate"] != true || again["id"] != first["id"] || again["created_at"] != first["created_at"] {
		t.Errorf("repeat %v, first %v", again, first)
	}
	event := n.must(200, http.MethodGet, "/events/"+text(first, "id"), nil)
	if event["subject"] != "s-1" || event["key"] != "k-1" || event["occurred_at"] != "2026-01-02T01:04:05.600000Z" {
		t.Errorf("%v", event)
	}
	n.refused(422, "idempotency_key_reused", http.MethodPost, "/events", `{"type":"order.created","data":{"other":1},"key":"k-1"}`)
}

func TestPublishKeyFromHeader(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	const body = `{"type":"a.b","data":1}`
	first := n.must(202, http.MethodPost, "/events", body, "Idempotency-Key", "k")
	for _, again := range []object{
		n.must(200, http.MethodPost, "/events", `{"type":"a.b","data":1,"key":"k"}`),
		n.must(200, http.MethodPost, "/events", `{"type":"a.b","data":1,"key":"k"}`, "Idempotency-Key", "k"),
		n.must(200, http.MethodPost, "/events", body, "Idempotency-Key", "k", "Idempotency-Key", "k"),
	} {
		if again["id"] != first["id"] {
			t.Errorf("%v, first %v", again, first)
		}
	}
	n.refused(422, "invalid", http.MethodPost, "/events", `{"type":"a.b","data":1,"key":"x"}`, "Idempotency-Key", "k")
	n.refused(422, "invalid", http.MethodPost, "/events", body, "Idempotency-Key", "k", "Idempotency-Key", "x")
	for _, key := range []string{"", "\xff", strings.Repeat("k", 1025)} {
		p := n.refused(422, "invalid", http.MethodPost, "/events", body, "Idempotency-Key", key)
		if !strings.HasPrefix(text(p, "detail"), "header.Idempotency-Key: ") {
			t.Errorf("%.20q: %v", key, p)
		}
	}
}

func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	const mark = "hunter2"
	for _, c := range []struct {
		body   string
		status int
		code   string
		at     string
	}{
		{``, 400, "invalid_json", ""},
		{`{"type":"a.b","data":1`, 400, "invalid_json", ""},
		{`type=a.b`, 400, "invalid_json", ""},
		{"\xef\xbb\xbf" + `{"type":"a.b","data":1}`, 400, "invalid_json", ""},
		{`{"typ":"hunter2","data":01}`, 400, "invalid_json", ""},
		{`[]`, 422, "invalid", "body"},
		{`"hunter2"`, 422, "invalid", "body"},
		{`{"data":1}`, 422, "invalid", "body.type"},
		{`{"type":"a.b"}`, 422, "invalid", "body.data"},
		{`{"type":null,"data":1}`, 422, "invalid", "body.type"},
		{`{"type":1,"data":1}`, 422, "invalid", "body.type"},
		{`{"type":"hunter2 ","data":1}`, 422, "invalid", "body.type"},
		{`{"type":"rowlock.hunter2","data":1}`, 422, "type_reserved", "body.type"},
		{`{"Type":"hunter2","type":"a.b","data":1}`, 422, "invalid", "body.Type"},
		{`{"type":"a.b","data":1,"consumer":"hunter2"}`, 422, "invalid", "body.consumer"},
		{`{"type":"a.b","data":1,"data":"hunter2"}`, 422, "invalid", "body.data"},
		{`{"type":"a.b","data":1,"d\u0061ta":2}`, 422, "invalid", "body.data"},
		{`{"type":"a.b","data":1,"key":"hunter2\u0000"}`, 422, "invalid", "body.key"},
		{`{"type":"a.b","data":1,"key":""}`, 422, "invalid", "body.key"},
		{"{\"type\":\"a.b\",\"data\":1,\"key\":\"hunter2\xff\"}", 422, "invalid", "body.key"},
		{`{"type":"a.b","data":1,"subject":"hunter2\ud800"}`, 422, "invalid", "body.subject"},
		{`{"type":"a.b","data":1,"subject":["hunter2"]}`, 422, "invalid", "body.subject"},
		{`{"type":"a.b","data":1,"occurred_at":"hunter2"}`, 422, "invalid", "body.occurred_at"},
		{`{"type":"a.b","data":1,"occurred_at":1700000000}`, 422, "invalid", "body.occurred_at"},
		{`{"type":"a.b","data":1,"occurred_at":"0001-01-01T00:00:00+01:00"}`, 422, "invalid", "body.occurred_at"},
		{`{"type":"a.b","data":1,"occurred_at":"9999-12-31T23:59:59-01:00"}`, 422, "invalid", "body.occurred_at"},
		{`{"type":"a.b","data":1,"occurred_at":"2026-01-02T03:04:05,5Z"}`, 422, "invalid", "body.occurred_at"},
		{`{"type":"a.b","data":"` + strings.Repeat("x", maxBody) + `"}`, 413, "payload_too_large", ""},
		{strings.Repeat(" ", 3<<20) + `{}`, 413, "payload_too_large", ""},
	} {
		p := n.refused(c.status, c.code, http.MethodPost, "/events", c.body)
		faults, _ := p["errors"].([]any)
		if c.at != "" && (len(faults) == 0 || faults[0].(object)["location"] != c.at) {
			t.Errorf("%.60s: %v, want a fault at %s", c.body, p, c.at)
		}
		if shown, _ := json.Marshal(p); strings.Contains(string(shown), mark) {
			t.Errorf("%.60s: the answer repeats what was sent: %s", c.body, shown)
		}
	}
}

func TestPublishTakesDataUpToTheLimit(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	data := `"` + strings.Repeat("x", maxBody-2) + `"`
	n.must(202, http.MethodPost, "/events", `{"type":"a.b","data":`+data+`}`)
	for name, body := range map[string]string{
		"data":    `{"type":"a.b","data":` + data[:1] + "x" + data[1:] + `}`,
		"request": `{"type":"a.b","data":` + data + strings.Repeat(" ", 17<<10) + `}`,
	} {
		p := n.refused(413, "payload_too_large", http.MethodPost, "/events", body)
		if says := text(p, "detail"); !strings.Contains(says, fmt.Sprint(maxBody)) || !strings.Contains(says, "ROWLOCK_MAX_BODY") {
			t.Errorf("%s: the limit is not named: %v", name, p)
		}
	}
}

func TestPublishIsOneEventUnderRace(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	var all sync.WaitGroup
	answers := make([]answer, 20)
	for i := range answers {
		all.Go(func() {
			answers[i] = n.call(http.MethodPost, "/events", `{"type":"a.b","data":1}`, "Idempotency-Key", "k")
		})
	}
	all.Wait()
	ids, first := map[string]bool{}, 0
	for _, got := range answers {
		ids[text(got.object(t), "id")] = true
		if got.StatusCode == http.StatusAccepted {
			first++
		}
	}
	if len(ids) != 1 || first != 1 {
		t.Errorf("%d ids, %d first", len(ids), first)
	}
}

// results are the parts of a batch's answer.
func results(o object) []object {
	list, _ := o["results"].([]any)
	out := make([]object, len(list))
	for i := range list {
		out[i], _ = list[i].(object)
	}
	return out
}

func TestBatchItemsStandAlone(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	got := results(n.must(202, http.MethodPost, "/events/batch", `{"events":[
		{"type":"a.b","data":1e400,"key":"k"},
		{"type":"a.b","data":1e400,"key":"k"},
		{"type":"a.b"},
		{"type":"rowlock.x","data":1},
		{"type":"a.b","data":"`+strings.Repeat("x", maxBody)+`"},
		7,
		{"type":"a.b","data":2,"key":"k"},
		{"type":"a.b","data":{"last":true}}
	]}`))
	codes := make([]string, len(got))
	for i, r := range got {
		if p, ok := r["error"].(object); ok {
			codes[i] = text(p, "code")
			if r["id"] != nil || r["duplicate"] != nil {
				t.Errorf("%d: %v", i, r)
			}
		}
	}
	want := []string{"", "", "invalid", "type_reserved", "payload_too_large", "invalid", "idempotency_key_reused", ""}
	if fmt.Sprint(codes) != fmt.Sprint(want) {
		t.Fatalf("codes %q, want %q", codes, want)
	}
	if got[0]["id"] != got[1]["id"] || got[0]["duplicate"] == got[1]["duplicate"] {
		t.Errorf("one key: %v, %v", got[0], got[1])
	}
	if fault := got[2]["error"].(object)["errors"].([]any)[0].(object); fault["location"] != "body.events[2].data" {
		t.Errorf("%v", fault)
	}
	for i, at := range map[int]string{3: "body.events[3].type", 4: "body.events[4].data", 5: "body.events[5]"} {
		if fault := got[i]["error"].(object)["errors"].([]any)[0].(object); fault["location"] != at {
			t.Errorf("%v, want %s", fault, at)
		}
	}
	if stored := n.payload(text(got[7], "id")); stored != `{"last":true}` {
		t.Errorf("the order is lost: %s", stored)
	}
}

func TestBatchRefuses(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	many := func(count int) string {
		return `{"events":[` + strings.TrimSuffix(strings.Repeat(`{"type":"a.b","data":1},`, count), ",") + `]}`
	}
	n.refused(422, "too_many_events", http.MethodPost, "/events/batch", many(1001))
	if got := results(n.must(202, http.MethodPost, "/events/batch", many(1000))); len(got) != 1000 {
		t.Errorf("%d results of 1,000", len(got))
	}
	if got := results(n.must(202, http.MethodPost, "/events/batch", many(0))); len(got) != 0 {
		t.Errorf("results of none: %v", got)
	}
	for _, body := range []string{`{}`, `{"events":null}`, `{"events":{}}`, `{"Events":[]}`, `{"events":[],"events":[]}`, `{"events":[],"x":1}`, `[]`} {
		n.refused(422, "invalid", http.MethodPost, "/events/batch", body)
	}
	for _, body := range []string{``, `{"events":[{]}`, many(1) + "x", many(1001)[:20000]} {
		n.refused(400, "invalid_json", http.MethodPost, "/events/batch", body)
	}
	p := n.refused(413, "payload_too_large", http.MethodPost, "/events/batch", `{"events":[]`+strings.Repeat(" ", 16<<20)+`}`)
	if says := text(p, "detail"); !strings.Contains(says, fmt.Sprint(16<<20)) || !strings.Contains(says, fmt.Sprint(maxBody)) {
		t.Errorf("the limits are not named: %v", p)
	}
	p = n.refused(422, "invalid", http.MethodPost, "/events/batch", many(2), "Idempotency-Key", "k")
	if !strings.HasPrefix(text(p, "detail"), "header.Idempotency-Key: ") || len(entries(n.must(200, http.MethodGet, "/events?key=k", nil))) != 0 {
		t.Errorf("one key for several events: %v", p)
	}
}

func TestBodiesThatAreEmptyOrEncoded(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	for _, path := range []string{"/events", "/events/batch", "/endpoints", "/sources"} {
		for _, body := range []string{"", " \n"} {
			if p := n.refused(400, "invalid_json", http.MethodPost, path, body); !strings.Contains(text(p, "detail"), "body is empty") {
				t.Errorf("%s: %v", path, p)
			}
		}
		n.refused(415, "content_encoding_refused", http.MethodPost, path, "\x1f\x8b", "Content-Encoding", "gzip")
	}
	n.must(202, http.MethodPost, "/events", `{"type":"a.b","data":1}`, "Content-Encoding", "identity")
}

func TestFullStorageHasACodeOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(d *server.Deps) {
		d.Accept = accept.New(accept.Options{Store: d.Store, Clock: clock.New(), Log: d.Log, Limits: accept.Limits{AccountStoredBytes: 1}})
	})
	n := b.newTenant(t)
	got := n.call(http.MethodPost, "/events", `{"type":"a.b","data":"more than a byte"}`)
	checkProblem(t, got, http.StatusTooManyRequests, "storage_full")
	if got.Header.Get("Retry-After") == "" || got.Header.Get("RateLimit-Limit") != "" {
		t.Errorf("%v", got.Header)
	}
}

func TestBatchOfNothingButTemporaryFaultsIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	b.stopAccepting()
	got := n.call(http.MethodPost, "/events/batch", `{"events":[{"type":"a.b","data":1},{"type":"a b","data":1}]}`)
	if got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
}

func TestPublishRateLimit(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	slow := n.keyLimitedTo(1)
	var limited answer
	for range 50 {
		if limited = slow.call(http.MethodPost, "/events", `{"type":"a.b","data":1}`); limited.StatusCode != http.StatusAccepted {
			break
		}
	}
	checkProblem(t, limited, http.StatusTooManyRequests, "rate_limited")
	for _, name := range []string{"Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		if limited.Header.Get(name) == "" {
			t.Errorf("no %s: %v", name, limited.Header)
		}
	}
}

// keyLimitedTo makes a key that may publish so many events a second.
func (n *tenant) keyLimitedTo(perSecond int) *tenant {
	n.t.Helper()
	return n.newKey(gateway.APIKey{Scopes: gateway.Scopes, EventsPerSecond: &perSecond})
}
