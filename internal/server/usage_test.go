package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// number reads a number of an object.
func number(o object, name string) int {
	n, _ := o[name].(float64)
	return int(n)
}

// Usage is what was decided and delivered, whatever was repeated, refused,
// decided twice or answered with an error.
func TestUsageIsWhatHappened(t *testing.T) {
	t.Parallel()
	var sending *deliver.Service
	b := newBundle(t, withSending(t, &sending))
	n, other := b.newTenant(t), b.newTenant(t)
	var answered, confirmed atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if answered.Add(1)%4 == 0 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		confirmed.Add(1)
	}))
	t.Cleanup(receiver.Close)
	var lanes []store.LaneRef
	for range 2 {
		id, err := gateway.ParseID[gateway.EndpointID](text(n.must(201, http.MethodPost, "/endpoints", object{"url": receiver.URL}), "id"))
		if err != nil {
			t.Fatal(err)
		}
		lanes = append(lanes, store.LaneRef{AccountID: n.account, EndpointID: id})
	}
	n.must(201, http.MethodPost, "/event-types", `{"name":"strict","schema":{"type":"string"}}`)
	const events = 30
	var ids []gateway.EventID
	for i := range events {
		body := fmt.Sprintf(`{"type":"a","key":"k%d","data":12345}`, i)
		for status := 202; status >= 200; status -= 2 { // the second time it is a repeat
			id, err := gateway.ParseID[gateway.EventID](text(n.must(status, http.MethodPost, "/events", body), "id"))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
	}
	n.refused(422, "schema_violated", http.MethodPost, "/events", `{"type":"strict","data":1}`)
	n.refused(422, "idempotency_key_reused", http.MethodPost, "/events", `{"type":"a","key":"k1","data":1}`)
	var deciding sync.WaitGroup
	for range 4 {
		deciding.Go(func() {
			if err := b.decide.Process(t.Context(), ids); err != nil {
				t.Error(err)
			}
		})
	}
	deciding.Wait()
	sending.Wake(lanes)
	pgtest.Until(t, "all is attempted", func() bool {
		return len(entries(n.must(200, http.MethodGet, "/attempts?limit=250", nil))) == 2*events
	})
	got := n.must(200, http.MethodGet, "/usage", nil)
	days := got["days"].([]any)
	today := days[len(days)-1].(object)
	for name, want := range map[string]int{"events": events, "bytes": events * len("12345"), "deliveries": int(confirmed.Load())} {
		if number(got, name) != want || number(today, name) != want || want == 0 {
			t.Errorf("%s: %v, today %v, want %d", name, got[name], today[name], want)
		}
	}
	if theirs := other.must(200, http.MethodGet, "/usage", nil); number(theirs, "events")+number(theirs, "deliveries")+number(theirs, "bytes") != 0 {
		t.Errorf("another account: %v", theirs)
	}
}

func TestUsageOfATime(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	now := b.clock.Now().UTC()
	month := now.Format("2006-01")
	for query, days := range map[string]int{
		"": now.Day(), "?month=" + month: now.Day(), "?month=2024-02": 29, "?since=2024-02-28T00:00:00Z&until=2024-03-01T00:00:00Z": 2,
		"?since=2024-02-28T23:00:00Z&until=2024-02-29T00:00:01Z": 2, "?since=2024-01-01T00:00:00Z&until=2025-01-01T00:00:00Z": 366,
		"?since=" + now.Add(-time.Minute).Truncate(24*time.Hour).Format(time.RFC3339): now.Day() - now.Add(-time.Minute).Day() + 1,
	} {
		if got := n.must(200, http.MethodGet, "/usage"+query, nil); len(got["days"].([]any)) != days {
			t.Errorf("%s: %d days, want %d", query, len(got["days"].([]any)), days)
		}
	}
	for query, at := range map[string]string{
		"month=2024-13": "query.month", "month=july": "query.month", "month=0000-01": "query.month", "month=2999-01": "query.month",
		"month=" + month + "&since=2024-01-01T00:00:00Z":                   "query.month",
		"until=2024-01-01T00:00:00Z":                                       "query.since",
		"since=2024-01-02T00:00:00Z&until=2024-01-01T00:00:00Z":            "query.until",
		"since=2999-01-02T00:00:00Z":                                       "query.until",
		"since=2023-01-01T00:00:00Z&until=2024-01-03T00:00:00Z":            "query.since",
		"since=2024-01-02T00:00:00Z&until=2024-01-02T00:00:00Z&month=2024": "query.month",
	} {
		p := n.refused(422, "invalid", http.MethodGet, "/usage?"+query, nil)
		if faults := p["errors"].([]any); text(faults[0].(object), "location") != at {
			t.Errorf("%s: %v, want %s", query, p, at)
		}
	}
}
