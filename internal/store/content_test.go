package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestContents(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t)
	whole, bare, other := b.newEvent(source.ID, "{\"a\":\"\x00\xff\"}"), b.newEvent(source.ID, ""), b.newEvent(source.ID, "x")
	subject := "s"
	whole.Event.Subject = &subject
	whole.Body.Path, whole.Body.Query, whole.Body.Headers = []byte("/p"), []byte("q=1"), []byte("A: b\r\n")
	b.insert(t, whole, bare, other)
	if err := b.InTx(t.Context(), func(tx store.Tx) error {
		_, err := tx.DeletePayload(t.Context(), b.account, bare.Event.ID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	of := gateway.Source{ID: source.ID, UID: source.UID, Name: source.Name, Kind: source.Kind}
	want := map[gateway.EventID]gateway.Content{
		whole.Event.ID: {Type: whole.Event.Type, Subject: "s", Source: of, Body: whole.Body},
		bare.Event.ID:  {Type: bare.Event.Type, Source: of},
	}
	ids := []gateway.EventID{whole.Event.ID, bare.Event.ID, gateway.EventID(b.clock.NewID())}
	got, err := b.Contents(t.Context(), b.account, ids)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	b.in(t, func(tx store.Tx) error {
		got, err := tx.Contents(t.Context(), []gateway.AccountID{b.account}, ids)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		return err
	})
	if none, err := b.Contents(t.Context(), b.account, nil); len(none) != 0 || err != nil {
		t.Errorf("%v, %v", none, err)
	}
}

// Of the accounts that a transaction decides for, none gets another's.
func TestContentsAreTheAccounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	event := b.newEvent(b.newSource(t).ID, "x")
	b.insert(t, event)
	other := b.newAccount(t, "other")
	b.in(t, func(tx store.Tx) error {
		got, err := tx.Contents(t.Context(), []gateway.AccountID{other}, []gateway.EventID{event.Event.ID})
		if len(got) != 0 {
			t.Errorf("%v", got)
		}
		return err
	})
}

func TestFilteredEndpoints(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	names := map[gateway.EndpointID]string{}
	for name, types := range map[string][]string{"all": {}, "orders": {"order.*"}, "users": {"user.*"}, "unfiltered": {"order.*"}, "gone": {}} {
		id := b.newEndpointFor(t, types)
		names[id] = name
		if name != "unfiltered" {
			b.exec(t, 1, `UPDATE endpoints SET filter = 'body.a' WHERE id = $1`, id)
		}
	}
	b.exec(t, 1, `UPDATE endpoints SET deleted_at = now() WHERE id = $1`, keyOf(names, "gone"))
	got, err := b.FilteredEndpoints(t.Context(), b.account, gateway.PatternsFor("order.created"), 9)
	found := map[string]bool{}
	for _, e := range got {
		found[names[e.ID]] = e.Filter == "body.a"
	}
	if diff := cmp.Diff(map[string]bool{"all": true, "orders": true}, found); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if one, err := b.FilteredEndpoints(t.Context(), b.account, gateway.PatternsFor("order.created"), 1); len(one) != 1 || err != nil {
		t.Errorf("%d, %v", len(one), err)
	}
}
