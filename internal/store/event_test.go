package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestEventsAreOfTheirAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	stranger := b.newAccount(t, "stranger")
	id := b.accepted(t, b.newSource(t).ID, 1)[0]
	for name, account := range map[string]gateway.AccountID{"another account": stranger, "no account": {}} {
		if _, err := b.Event(t.Context(), account, id); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%s reads the event: %v", name, err)
		}
		if _, err := b.Body(t.Context(), account, id); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%s reads the body: %v", name, err)
		}
		events, err := b.Events(t.Context(), account, store.EventFilter{}, store.Page[gateway.EventID]{Limit: 9})
		if err != nil || len(events) != 0 {
			t.Errorf("%s lists %d events, %v", name, len(events), err)
		}
		b.in(t, func(tx store.Tx) error {
			if did, err := tx.DeletePayload(t.Context(), account, id); did || err != nil {
				t.Errorf("%s deletes the payload: %t, %v", name, did, err)
			}
			did, err := tx.ReopenEvent(t.Context(), account, id, gateway.EventStatuses)
			if did {
				t.Errorf("%s reopens the event", name)
			}
			return err
		})
	}
	if _, err := b.Event(t.Context(), b.account, gateway.EventID{}); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an event that is not there: %v", err)
	}
}

func TestEventFilters(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, other := b.newSource(t).ID, b.newSource(t).ID
	subject, key := "customer 7", []byte{'k', 0, 0xff}
	events := make([]store.NewEvent, 4)
	for i := range events {
		events[i] = b.newEvent(one, queuedBody)
	}
	events[0].Event.Type = "user.created"
	events[1].Event.Subject = &subject
	events[2].Event.SourceID = other
	events[3].Event.Status = gateway.EventHeld
	for _, i := range []int{0, 2} { // one key of two sources
		events[i].Event.Key = key
		claim := b.key(events[i].Event.SourceID, string(key), "x")
		claim.EventID = events[i].Event.ID
		b.claim(t, claim)
	}
	b.insert(t, events...)
	for name, test := range map[string]struct {
		filter store.EventFilter
		want   []int // newest first
	}{
		"none":                {store.EventFilter{}, []int{3, 2, 1, 0}},
		"type":                {store.EventFilter{Type: "user.created"}, []int{0}},
		"subject":             {store.EventFilter{Subject: subject}, []int{1}},
		"source":              {store.EventFilter{Source: &other}, []int{2}},
		"accepted":            {store.EventFilter{Status: gateway.EventAccepted}, []int{2, 1, 0}},
		"held":                {store.EventFilter{Status: gateway.EventHeld}, []int{3}},
		"processed":           {store.EventFilter{Status: gateway.EventProcessed}, nil},
		"key":                 {store.EventFilter{Key: key}, []int{2, 0}},
		"another key":         {store.EventFilter{Key: []byte("k")}, nil},
		"empty key":           {store.EventFilter{Key: []byte{}}, nil},
		"key and source":      {store.EventFilter{Key: key, Source: &other}, []int{2}},
		"type and status":     {store.EventFilter{Type: "user.created", Status: gateway.EventHeld}, nil},
		"hostile text":        {store.EventFilter{Type: `' OR 1=1 --`, Subject: "$1"}, nil},
		"type in other case":  {store.EventFilter{Type: "User.created"}, nil},
		"subject's beginning": {store.EventFilter{Subject: "customer"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := b.Events(t.Context(), b.account, test.filter, store.Page[gateway.EventID]{Limit: 9})
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, e := range found {
				got = append(got, slices.IndexFunc(events, func(n store.NewEvent) bool { return n.Event.ID == e.ID }))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Pages together are the list, whatever the limit, and stay so while new
// events come in.
func TestEventsArePagedNewestFirst(t *testing.T) {
	t.Parallel()
	const n = 7
	b := newBundle(t)
	source := b.newSource(t).ID
	want := b.accepted(t, source, n)
	slices.Reverse(want)
	for limit := 1; limit <= n+1; limit++ {
		var got []gateway.EventID
		page := store.Page[gateway.EventID]{Limit: limit, Until: want[0].Time().Add(time.Millisecond)}
		for more := true; more; {
			part, err := b.Events(t.Context(), b.account, store.EventFilter{}, page)
			if err != nil || len(part) > limit {
				t.Fatalf("%d events, %v", len(part), err)
			}
			for _, e := range part {
				got = append(got, e.ID)
			}
			if more = len(part) == limit; more {
				page.Before = &got[len(got)-1]
			}
			b.at(t, source, b.clock.Now().Add(time.Hour))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
	}
}

// at stores an event of a time, and returns its id.
func (b bundle) at(t *testing.T, source gateway.SourceID, at time.Time) gateway.EventID {
	t.Helper()
	event := b.newEvent(source, queuedBody)
	first := gateway.FirstIDAt[gateway.EventID](at)
	copy(event.Event.ID[:6], first[:6])
	b.insert(t, event)
	return event.Event.ID
}

func TestPagesOfATime(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	base := b.clock.Now().Truncate(time.Millisecond)
	var ids []gateway.EventID // one a millisecond
	for i := range 5 {
		ids = append(ids, b.at(t, source, base.Add(time.Duration(i)*time.Millisecond)))
	}
	at := func(i int) time.Time { return base.Add(time.Duration(i) * time.Millisecond) }
	for name, test := range map[string]struct {
		page store.Page[gateway.EventID]
		want []int
	}{
		"all":                 {store.Page[gateway.EventID]{Limit: 9}, []int{4, 3, 2, 1, 0}},
		"since":               {store.Page[gateway.EventID]{Limit: 9, Since: at(3)}, []int{4, 3}},
		"until":               {store.Page[gateway.EventID]{Limit: 9, Until: at(2)}, []int{1, 0}},
		"both":                {store.Page[gateway.EventID]{Limit: 9, Since: at(1), Until: at(3)}, []int{2, 1}},
		"before":              {store.Page[gateway.EventID]{Limit: 9, Before: &ids[2]}, []int{1, 0}},
		"before, since":       {store.Page[gateway.EventID]{Limit: 9, Before: &ids[2], Since: at(1)}, []int{1}},
		"before under until":  {store.Page[gateway.EventID]{Limit: 9, Before: &ids[1], Until: at(4)}, []int{0}},
		"until under before":  {store.Page[gateway.EventID]{Limit: 9, Before: &ids[4], Until: at(1)}, []int{0}},
		"upside down":         {store.Page[gateway.EventID]{Limit: 9, Since: at(4), Until: at(1)}, nil},
		"in another zone":     {store.Page[gateway.EventID]{Limit: 9, Since: at(3).In(time.FixedZone("", 5*3600))}, []int{4, 3}},
		"since far in future": {store.Page[gateway.EventID]{Limit: 9, Since: at(0).AddDate(7000, 0, 0)}, nil},
		"limit":               {store.Page[gateway.EventID]{Limit: 2}, []int{4, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := b.Events(t.Context(), b.account, store.EventFilter{}, test.page)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, e := range found {
				got = append(got, slices.Index(ids, e.ID))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDeliverySummary(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	event := b.accepted(t, b.newSource(t).ID, 2)
	var deliveries []store.NewDelivery
	for range 4 {
		deliveries = append(deliveries, store.NewDelivery{AccountID: b.account, EventID: event[0], EndpointID: b.newEndpoint(t).ID})
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.InsertDeliveries(t.Context(), deliveries)
		return err
	})
	delivery := func(i int) gateway.DeliveryID { return gateway.DeriveDeliveryID(event[0], deliveries[i].EndpointID) }
	b.exec(t, 1, `UPDATE deliveries SET status = 'delivered' WHERE id = $1`, delivery(0))
	b.exec(t, 1, `UPDATE deliveries SET status = 'sending' WHERE id = $1`, delivery(1))
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, deliveries[2].EndpointID)
	for i, want := range []map[gateway.DeliveryStatus]int{
		{gateway.DeliveryDelivered: 1, gateway.DeliverySending: 1, gateway.DeliveryHeld: 1, gateway.DeliveryPending: 1}, {},
	} {
		got, err := b.DeliverySummary(t.Context(), b.account, event[i])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// Of twenty that delete a payload one does, and what is still to be sent of it
// is cancelled once.
func TestDeletePayload(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	endpoint := b.newEndpoint(t).ID
	open := b.queued(t, endpoint, 2)
	id := b.eventOf(t, open[0])
	closed := gateway.DeriveDeliveryID(id, b.newEndpoint(t).ID)
	b.exec(t, 1, `
		INSERT INTO deliveries (id, account_id, event_id, endpoint_id, status, closed_at)
		SELECT $1, account_id, event_id, endpoint_id, 'delivered', '2020-01-01'
		FROM deliveries
		WHERE id = $2`, closed, open[0])
	for round, want := range []int32{1, 0} {
		var deleted atomic.Int32
		errs := b.wide(t, 20).atOnce(t.Context(), 20, func(tx store.Tx, _ int) error {
			did, err := tx.DeletePayload(t.Context(), b.account, id)
			if did {
				deleted.Add(1)
			}
			return err
		})
		wantErrors(t, errs, 20, nil)
		if deleted.Load() != want {
			t.Errorf("round %d: %d deleted the payload, want %d", round, deleted.Load(), want)
		}
	}
	if _, err := b.Body(t.Context(), b.account, id); !errors.Is(err, gateway.ErrPayloadGone) {
		t.Errorf("body: %v, want ErrPayloadGone", err)
	}
	if e := b.event(t, id); e.PayloadDeletedAt == nil {
		t.Error("the event does not tell that its payload was deleted")
	}
	for delivery, want := range map[gateway.DeliveryID]string{open[0]: "cancelled", open[1]: "pending", closed: "delivered"} {
		if n := b.count(t, `SELECT count(*) FROM deliveries WHERE id = $1 AND status = $2`, delivery, want); n != 1 {
			t.Errorf("delivery %s is not %s", delivery, want)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM event_bodies`); n != 1 {
		t.Errorf("%d bodies are left, want the other event's", n)
	}
}

func (b bundle) eventOf(t *testing.T, delivery gateway.DeliveryID) (id gateway.EventID) {
	t.Helper()
	if err := b.pool.QueryRow(t.Context(), `SELECT event_id FROM deliveries WHERE id = $1`, delivery).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// Whoever changes several deliveries locks them in the order of their ids: the
// second waits for the first, and not both for each other.
func TestDeliveriesAreLockedInOrder(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	open := b.toSeveral(t, 8)
	err := b.whileWaiting(t, func(tx store.Tx) error {
		return b.reopenAll(t, tx, open[0])
	}, func(tx store.Tx) error {
		_, err := tx.DeletePayload(t.Context(), b.account, open[0].EventID)
		return err
	}, func(tx store.Tx) error {
		return b.reopenAll(t, tx, open[1:]...)
	})
	if err != nil {
		t.Error(err)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE status = 'cancelled'`); n != len(open) {
		t.Errorf("%d of %d deliveries are cancelled", n, len(open))
	}
}

// toSeveral makes an event's deliveries to n endpoints, in the order of their
// ids.
func (b bundle) toSeveral(t *testing.T, n int) (open []gateway.Delivery) {
	t.Helper()
	id := b.eventOf(t, b.queued(t, b.newEndpoint(t).ID, 1)[0])
	b.in(t, func(tx store.Tx) error {
		var more []store.NewDelivery
		for range n - 1 {
			more = append(more, store.NewDelivery{AccountID: b.account, EventID: id, EndpointID: b.newEndpoint(t).ID})
		}
		_, err := tx.InsertDeliveries(t.Context(), more)
		return err
	})
	b.in(t, func(tx store.Tx) (err error) {
		open, err = tx.EventDeliveries(t.Context(), b.account, id, nil)
		return err
	})
	slices.Reverse(open)
	return open
}

// reopenAll makes deliveries due now, one after the other.
func (b bundle) reopenAll(t *testing.T, tx store.Tx, deliveries ...gateway.Delivery) error {
	for _, d := range deliveries {
		if did, err := tx.Reopen(t.Context(), b.account, d.ID, 0, gateway.TriggerManual, false); !did {
			return fmt.Errorf("not reopened: %w", err)
		}
	}
	return nil
}

// A deletion that rolls back leaves everything as it was.
func TestDeletePayloadRolledBack(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	open := b.queued(t, b.newEndpoint(t).ID, 1)[0]
	id := b.eventOf(t, open)
	err := b.InTx(t.Context(), func(tx store.Tx) error {
		if did, err := tx.DeletePayload(t.Context(), b.account, id); !did {
			return fmt.Errorf("not deleted: %w", err)
		}
		return errRollBack
	})
	if !errors.Is(err, errRollBack) {
		t.Fatal(err)
	}
	body, err := b.Body(t.Context(), b.account, id)
	if err != nil || string(body.Data) != queuedBody {
		t.Errorf("body %q, %v", body.Data, err)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE id = $1 AND status = 'pending'`, open); n != 1 {
		t.Error("the delivery is not pending")
	}
}
