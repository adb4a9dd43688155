package store_test

import (
	stdcmp "cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// fullEndpoint is one with everything chosen.
func (b bundle) fullEndpoint(uid string) gateway.Endpoint {
	e := b.endpoint()
	e.UID = &uid
	e.URL, e.Description = "https://example.com/full", "everything"
	e.EventTypes, e.Headers = []string{"order.*", "user.created"}, []byte("X-Team: a\r\n")
	e.RetrySchedule = []time.Duration{time.Second, 1500 * time.Millisecond}
	e.Timeout, e.MaxInFlight, e.StopOn = 2500*time.Millisecond, 7, []int{400, 404}
	e.Filter, e.RatePerSecond, e.Signature = "body.amount > 100", 12, gateway.SignatureEd25519
	return e
}

// asStored is what the database adds to an endpoint that was just made.
func (b bundle) asStored(e gateway.Endpoint) gateway.Endpoint {
	e.AccountID, e.State, e.Signature = b.account, gateway.EndpointActive, stdcmp.Or(e.Signature, gateway.SignatureHMAC)
	return e
}

var ignoreTimes = cmp.Options{
	cmpopts.IgnoreFields(gateway.Endpoint{}, "StateChangedAt", "CreatedAt", "UpdatedAt"),
	cmpopts.IgnoreFields(gateway.Source{}, "CreatedAt", "UpdatedAt"),
}

func TestEndpointIsStoredAsGiven(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	once := b.endpoint()
	once.RetrySchedule = []time.Duration{} // one attempt, not the server's schedule
	once.EventTypes, once.StopOn, once.Headers = []string{}, []int{}, []byte{}
	bare := b.endpoint()
	for name, e := range map[string]gateway.Endpoint{"full": b.fullEndpoint("full"), "once": once, "bare": bare} {
		var made gateway.Endpoint
		b.in(t, func(tx store.Tx) (err error) {
			made, err = tx.CreateEndpoint(t.Context(), b.account, e, 0)
			return err
		})
		read, err := b.Endpoint(t.Context(), b.account, e.ID)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(made, read); diff != "" {
			t.Errorf("%s: made and read differ: %s", name, diff)
		}
		if (read.RetrySchedule == nil) != (e.RetrySchedule == nil) {
			t.Errorf("%s: schedule %#v became %#v", name, e.RetrySchedule, read.RetrySchedule)
		}
		if diff := cmp.Diff(b.asStored(e), read, ignoreTimes, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if n := b.count(t, `SELECT count(*) FROM lanes WHERE endpoint_id = $1 AND account_id = $2`, e.ID, b.account); n != 1 {
			t.Errorf("%s: %d lanes", name, n)
		}
	}
}

func TestUpdateEndpoint(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	old := b.newEndpoint(t)
	changed := b.fullEndpoint("new-name")
	changed.ID = old.ID
	b.in(t, func(tx store.Tx) error {
		_, err := tx.UpdateEndpoint(t.Context(), b.account, changed)
		return err
	})
	read, err := b.EndpointByUID(t.Context(), b.account, "new-name")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.asStored(changed), read, ignoreTimes); diff != "" {
		t.Error(diff)
	}
	if !read.UpdatedAt.After(old.UpdatedAt) || !read.CreatedAt.Equal(old.CreatedAt) {
		t.Errorf("created %v, updated %v; before: %v", read.CreatedAt, read.UpdatedAt, old.UpdatedAt)
	}
}

func TestEndpointUID(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	create := func(tx store.Tx, account gateway.AccountID) error {
		_, err := tx.CreateEndpoint(t.Context(), account, b.fullEndpoint("mine"), 0)
		return err
	}
	errs := b.atOnce(t.Context(), 5, func(tx store.Tx, _ int) error { return create(tx, b.account) })
	wantErrors(t, errs, 1, gateway.ErrUIDTaken)
	other := b.newAccount(t, "other")
	b.in(t, func(tx store.Tx) error { return create(tx, other) })

	taken, err := b.EndpointByUID(t.Context(), b.account, "mine")
	if err != nil {
		t.Fatal(err)
	}
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, taken.ID) })
	if _, err := b.EndpointByUID(t.Context(), b.account, "mine"); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("a deleted endpoint is found by its uid: %v", err)
	}
	b.in(t, func(tx store.Tx) error { return create(tx, b.account) })
}

func TestEndpointLimitHoldsUnderRace(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const most, tries = 5, 20
	create := func(tx store.Tx, _ int) error {
		_, err := tx.CreateEndpoint(t.Context(), b.account, b.endpoint(), most)
		return err
	}
	wantErrors(t, b.atOnce(t.Context(), tries, create), most, gateway.ErrLimitReached)
	if n := b.count(t, `SELECT count(*) FROM endpoints`); n != most {
		t.Errorf("%d endpoints, want %d", n, most)
	}
	// A deleted one makes room for one.
	list, err := b.Endpoints(t.Context(), b.account, store.Page[gateway.EndpointID]{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, list[0].ID) })
	wantErrors(t, b.atOnce(t.Context(), 3, create), 1, gateway.ErrLimitReached)
}

func TestEndpointsArePagedNewestFirst(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var want []gateway.EndpointID
	for range 5 {
		want = append(want, b.newEndpoint(t).ID)
	}
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, want[2]) })
	want = slices.Delete(want, 2, 3)
	slices.Reverse(want)

	var got []gateway.EndpointID
	page := store.Page[gateway.EndpointID]{Limit: 3}
	for {
		part, err := b.Endpoints(t.Context(), b.account, page)
		if err != nil {
			t.Fatal(err)
		}
		if len(part) == 0 {
			break
		}
		for _, e := range part {
			got = append(got, e.ID)
		}
		page.Before = &got[len(got)-1]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
