package e2e

import (
	"bytes"
	"net/http"
	"slices"
	"time"
)

// maxTold is how many faults of one kind are told.
const maxTold = 5

// settle stops the publishers, waits until everything that was acknowledged
// has arrived and the ledger has nothing open, compares both, and reports.
func (w *world) settle() {
	w.t.Helper()
	w.load.end()
	began := time.Now()
	var missing []message
	arrived := func() bool {
		missing = w.missing()
		return len(missing) == 0
	}
	w.waitOrTell(arrived, func() { w.tellMissing(missing) })
	took := time.Since(began)
	waitFor(w.t, patience, "the ledger has nothing open", func() bool {
		return none(w.t, w.account, "/deliveries", "status=pending") && none(w.t, w.account, "/deliveries", "status=sending") &&
			none(w.t, w.account, "/events", "status=accepted")
	})
	repeated := w.compare()
	w.t.Logf("acknowledged %d, missing 0, repeated %d of %d under way, refused %d; whole %s after the last was published",
		w.load.acknowledged(), repeated, len(w.flights), w.load.refusals(), took.Round(time.Millisecond))
}

// complain is Errorf that tells the first few of many alike.
func (w *world) complain(format string, args ...any) {
	w.t.Helper()
	w.complaints[format]++
	switch n := w.complaints[format]; {
	case n <= maxTold:
		w.t.Errorf(format, args...)
	case n == maxTold+1:
		w.t.Error("… and more of these")
	}
}

// waitOrTell waits for a condition, and tells more when it does not come.
func (w *world) waitOrTell(holds func() bool, tell func()) {
	w.t.Helper()
	defer func() {
		if !holds() {
			tell()
		}
	}()
	waitFor(w.t, patience, "everything acknowledged has arrived", holds)
}

// missing are acknowledged messages that have not come to all their places.
func (w *world) missing() (missing []message) {
	for _, m := range w.load.sent() {
		if m.id != "" && slices.ContainsFunc(m.places(), func(p place) bool { return !w.receiver.got(p) }) {
			missing = append(missing, m)
		}
	}
	return missing
}

func (w *world) tellMissing(missing []message) {
	w.t.Errorf("%d of %d acknowledged events are missing at the receiver", len(missing), w.load.acknowledged())
	for _, m := range missing[:min(len(missing), maxTold)] {
		_, event := w.account.call(w.t, http.MethodGet, "/events/"+m.id, nil)
		_, deliveries := w.account.call(w.t, http.MethodGet, "/deliveries?event="+m.id, nil)
		w.t.Errorf("missing: %s %s", event, deliveries)
	}
}

// compare checks the receiver's word against the publishers' and the ledger's,
// and returns how many deliveries came more than once.
func (w *world) compare() (repeated int) {
	w.t.Helper()
	w.compareBodies()
	deliveries := list[deliveryObject](w.t, w.account, "/deliveries", "")
	known := make(map[string]bool, len(deliveries))
	perEvent := map[string]int{}
	for _, d := range deliveries {
		known[d.ID] = true
		perEvent[d.EventID]++
		if w.compareDelivery(d) {
			repeated++
		}
	}
	for _, m := range w.load.sent() {
		if got := perEvent[m.id]; m.id != "" && got != len(m.places()) {
			w.complain("acknowledged event %s has %d deliveries in the ledger, want %d", m.id, got, len(m.places()))
		}
	}
	w.compareTally(deliveries)
	for _, h := range w.receiver.all() {
		if !known[h.delivery] {
			w.complain("the receiver got delivery %q, which the ledger does not have", h.delivery)
		}
	}
	return repeated
}

// compareTally checks that each delivery was counted once as a success, and
// that nothing else was counted but what nobody knows.
func (w *world) compareTally(deliveries []deliveryObject) {
	w.t.Helper()
	tries := 0
	for _, d := range deliveries {
		tries += d.Count
	}
	expected := statsObject{Succeeded: len(deliveries), Unknown: tries - len(deliveries)}
	var counted statsObject
	for _, endpoint := range w.endpoints {
		stats := want[statsObject](w.t, w.account, http.StatusOK, http.MethodGet, "/endpoints/"+endpoint+"/stats?window=24h", "")
		counted.Succeeded += stats.Succeeded
		counted.Rejected += stats.Rejected
		counted.Unreachable += stats.Unreachable
		counted.Unknown += stats.Unknown
	}
	if counted != expected {
		w.complain("attempts were counted as %+v, want %+v", counted, expected)
	}
}

// compareBodies checks that what came is what was sent, under the id that was
// acknowledged, and that a key made one event.
func (w *world) compareBodies() {
	w.t.Helper()
	sent := w.load.sent()
	events := map[string]string{} // by token
	for _, h := range w.receiver.all() {
		m, ok := sent[tokenOf(h.body)]
		switch {
		case !ok || !bytes.Equal(m.body, h.body):
			w.complain("event %s: nobody sent the body that came: %.200q", h.event, h.body)
		case !h.verified:
			w.complain("event %s: its signature does not verify", h.event)
		case m.id != "" && m.id != h.event:
			w.complain("event %s came, and was acknowledged as %s", h.event, m.id)
		case events[m.token] != "" && events[m.token] != h.event:
			w.complain("one message came as two events, %s and %s", events[m.token], h.event)
		}
		events[m.token] = h.event
	}
}

// compareDelivery checks one delivery, and tells whether it came repeatedly.
func (w *world) compareDelivery(d deliveryObject) (repeated bool) {
	w.t.Helper()
	hits := w.receiver.of(d.ID)
	if d.Status != "delivered" {
		w.complain("delivery %s is %s; the receiver takes everything", d.ID, d.Status)
	}
	if len(hits) == 0 {
		w.complain("delivery %s is %s, and never came", d.ID, d.Status)
		return false
	}
	if len(hits) == 1 && d.Count == 1 {
		return false
	}
	w.compareAttempts(d.ID, hits)
	return len(hits) > 1
}

// compareAttempts checks a delivery that was tried more than once: it was under
// way at a blow, each request was an attempt of its own, and all but the one
// that succeeded have the outcome that nobody knows.
func (w *world) compareAttempts(id string, hits []hit) {
	w.t.Helper()
	if _, ok := w.flights[id]; !ok {
		w.complain("delivery %s was tried more than once, and was not under way at a blow", id)
	}
	detail := want[deliveryObject](w.t, w.account, http.StatusOK, http.MethodGet, "/deliveries/"+id, "")
	outcomes := map[string]int{}
	requests := map[int]int{}
	for _, h := range hits {
		requests[h.attempt]++
	}
	for _, a := range detail.Attempts {
		outcomes[a.Outcome]++
		if requests[a.Number] > 1 {
			w.complain("delivery %s: attempt %d came %d times", id, a.Number, requests[a.Number])
		}
		delete(requests, a.Number)
	}
	if len(requests) > 0 {
		w.complain("delivery %s: requests of attempts that the ledger does not have: %v", id, requests)
	}
	if outcomes["succeeded"] != 1 || outcomes["unknown"] != len(detail.Attempts)-1 {
		w.complain("delivery %s came %d times; its attempts ended as %v, want one succeeded and the others unknown", id, len(hits), outcomes)
	}
}
