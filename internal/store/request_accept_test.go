package store_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// A refused request is accepted once, however many press at once, and remembers
// the first event.
func TestRequestIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newBundle(t)
	source := b.newSource(t).ID
	for cause, want := range map[string]int32{
		"signature_mismatch": 1, gateway.CauseAddress: 1, gateway.CauseReplay: 1, gateway.CauseDuplicate: 0, gateway.CauseHandshake: 0,
	} {
		request := b.request(source, cause)
		b.insertRequests(t, request)
		for round := range int32(2) {
			var accepted atomic.Int32
			var winner atomic.Pointer[gateway.EventID]
			errs := b.wide(t, n).atOnce(t.Context(), n, func(tx store.Tx, _ int) error {
				event := gateway.EventID(b.clock.NewID())
				did, err := tx.AcceptRequest(t.Context(), b.account, source, request.ID, event)
				if did {
					accepted.Add(1)
					winner.Store(&event)
				}
				return err
			})
			wantErrors(t, errs, n, nil)
			if want := want * (1 - round); accepted.Load() != want {
				t.Errorf("%s, round %d: accepted %d times, want %d", cause, round, accepted.Load(), want)
			}
			if first := winner.Load(); first != nil {
				if twice, err := b.EventRequests(t.Context(), b.account, *first, 9); len(twice) > 0 || err != nil {
					t.Errorf("%s: %d requests are its duplicates, %v", cause, len(twice), err)
				}
				kept, err := b.Request(t.Context(), b.account, source, request.ID)
				if err != nil || kept.AcceptedAt == nil || kept.EventID == nil || *kept.EventID != *first {
					t.Errorf("%s: kept %+v, %v", cause, kept, err)
				}
			}
		}
	}
}

// accepts tells whether a request is taken in as the source's.
func (b bundle) accepts(t *testing.T, source gateway.SourceID, id gateway.RequestID) (did bool) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		did, err = tx.AcceptRequest(t.Context(), b.account, source, id, gateway.EventID(b.clock.NewID()))
		return err
	})
	return did
}

func TestRequestOfAnotherSourceIsNotAccepted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source, other := b.newSource(t).ID, b.newSource(t).ID
	request := b.request(source, "signature_mismatch")
	b.insertRequests(t, request)
	if b.accepts(t, other, request.ID) || b.accepts(t, source, gateway.RequestID(b.clock.NewID())) {
		t.Error("a request that is not there was accepted")
	}
	if !b.accepts(t, source, request.ID) {
		t.Error("it was not accepted")
	}
}

// together stores the events of one request, and its bytes.
func (b bundle) together(t *testing.T, source gateway.SourceID, id gateway.RequestID, n int) (events []store.NewEvent, raw gateway.Body) {
	t.Helper()
	raw = gateway.Body{Method: "POST", Path: []byte("/p"), Query: []byte("q"), Headers: []byte("A: 1\r\n"), Data: everyByte()}
	for range n {
		event := b.newEvent(source, `{}`)
		event.Event.RequestID = &id
		events = append(events, event)
	}
	b.insert(t, events...)
	b.in(t, func(tx store.Tx) error { return tx.InsertRaw(t.Context(), b.account, id, raw) })
	return events, raw
}

func TestEventsOfOneRequest(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	id := gateway.RequestID(b.clock.NewID())
	events, raw := b.together(t, source, id, 3)
	b.together(t, source, gateway.RequestID(b.clock.NewID()), 2)
	alone := b.newEvent(source, `{}`)
	b.insert(t, alone)
	for _, of := range events {
		for limit, want := range map[int]int{2: 2, 9: 3} {
			found, err := b.Siblings(t.Context(), b.account, b.event(t, of.Event.ID), limit)
			if err != nil || len(found) != want || found[0].ID != events[0].Event.ID || *found[1].RequestID != id {
				t.Errorf("siblings %+v, %v; want %d", found, err, want)
			}
		}
	}
	if found, err := b.Siblings(t.Context(), b.account, b.event(t, alone.Event.ID), 9); len(found) != 0 || err != nil {
		t.Errorf("siblings of an event that came alone: %v, %v", found, err)
	}
	whole, err := b.WholeRequest(t.Context(), b.account, id)
	if diff := cmp.Diff(raw, whole); diff != "" || err != nil {
		t.Errorf("%s %v", diff, err)
	}
	if n := b.count(t, `SELECT sum(body_size) FROM events`); n != 6*len(`{}`) {
		t.Errorf("events of %d bytes", n)
	}
}

// Whoever has one event's payload deleted has its copy in the request deleted
// too; the events beside it keep theirs, and the same can be done with them.
func TestDeletingAPayloadDeletesTheRequest(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	late := b.request(source, "signature_mismatch")
	late.Body = gateway.Body{Data: []byte(`[{},{}]`)}
	b.insertRequests(t, late)
	events, _ := b.together(t, source, late.ID, 2)
	for i, event := range events {
		for round, want := range []bool{true, false} {
			b.in(t, func(tx store.Tx) error {
				if did, err := tx.DeletePayload(t.Context(), b.account, event.Event.ID); did != want || err != nil {
					t.Errorf("round %d: deleted %v, %v", round, did, err)
				}
				return nil
			})
		}
		if _, err := b.WholeRequest(t.Context(), b.account, late.ID); !errors.Is(err, gateway.ErrPayloadGone) {
			t.Errorf("the request: %v, want ErrPayloadGone", err)
		}
		kept, err := b.Request(t.Context(), b.account, source, late.ID)
		if err != nil || len(kept.Body.Data) != 0 {
			t.Errorf("the refused request still says %q, %v", kept.Body.Data, err)
		}
		if n := b.count(t, `SELECT count(*) FROM event_bodies`); n != 1-i {
			t.Errorf("%d bodies are left, want %d", n, 1-i)
		}
	}
}

// The bodies of an event's repeats go with its payload, and no others.
func TestDeletingAPayloadDeletesItsRepeats(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	ids := b.accepted(t, source, 2)
	var all []gateway.Request
	for _, of := range []*gateway.EventID{&ids[0], &ids[1], &ids[0], nil} {
		r := b.request(source, gateway.CauseDuplicate)
		r.EventID, r.Body, r.BodySize = of, gateway.Body{Method: "POST", Headers: []byte("A: 1\r\n"), Data: []byte("{}")}, 2
		all = append(all, r)
	}
	all[3].Cause = "signature_mismatch"
	b.insertRequests(t, all...)
	stranger := b.newAccount(t, "other")
	for account, want := range map[gateway.AccountID]bool{stranger: false, b.account: true} {
		b.in(t, func(tx store.Tx) error {
			if did, err := tx.DeletePayload(t.Context(), account, ids[0]); did != want || err != nil {
				t.Errorf("deleted %v, %v", did, err)
			}
			return nil
		})
	}
	for i, r := range all {
		kept, err := b.Request(t.Context(), b.account, source, r.ID)
		want := "{}"
		if i%2 == 0 {
			want = ""
		}
		if err != nil || string(kept.Body.Data) != want || kept.BodySize != 2 || len(kept.Body.Headers) == 0 {
			t.Errorf("request %d: %+v, %v, want the body %q", i, kept, err, want)
		}
	}
}
