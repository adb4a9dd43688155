package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestSourceLabels(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, gone := b.newSource(t).ID, b.newSource(t).ID
	b.in(t, func(tx store.Tx) error { return tx.DeleteSource(t.Context(), b.account, gone) })
	got, err := b.SourceLabels(t.Context(), b.account, []gateway.SourceID{one, gone, one, {}})
	want := map[gateway.SourceID]store.SourceLabel{
		one: {Name: "GitHub", Kind: "github"}, gone: {Name: "GitHub", Kind: "github", Deleted: true},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	for name, ask := range map[string]func() (map[gateway.SourceID]store.SourceLabel, error){
		"none": func() (map[gateway.SourceID]store.SourceLabel, error) {
			return b.SourceLabels(t.Context(), b.account, nil)
		},
		"another account": func() (map[gateway.SourceID]store.SourceLabel, error) {
			return b.SourceLabels(t.Context(), b.newAccount(t, "other"), []gateway.SourceID{one})
		},
	} {
		if got, err := ask(); len(got) != 0 || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestEndpointLabels(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, gone := b.newEndpoint(t), b.newEndpoint(t)
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, gone.ID) })
	ids := []gateway.EndpointID{one.ID, gone.ID, {}}
	got, err := b.EndpointLabels(t.Context(), b.account, ids)
	want := map[gateway.EndpointID]store.EndpointLabel{
		one.ID: {URL: one.URL, State: gateway.EndpointActive}, gone.ID: {URL: gone.URL, State: gateway.EndpointDisabled, Deleted: true},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	if got, err := b.EndpointLabels(t.Context(), b.newAccount(t, "other"), ids); len(got) != 0 || err != nil {
		t.Errorf("another account: %v, %v", got, err)
	}
}
