package store_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func (b bundle) request(source gateway.SourceID, cause string) gateway.Request {
	return gateway.Request{ID: gateway.RequestID(b.clock.NewID()), AccountID: b.account, SourceID: source, Cause: cause}
}

func (b bundle) insertRequests(t *testing.T, requests ...gateway.Request) {
	t.Helper()
	b.in(t, func(tx store.Tx) error { return tx.InsertRequests(t.Context(), requests) })
}

func (b bundle) requests(t *testing.T, source gateway.SourceID, cause string) []gateway.Request {
	t.Helper()
	found, err := b.Requests(t.Context(), b.account, source, cause, store.Page[gateway.RequestID]{Limit: 99})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestRequestsAreStoredAsGiven(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	event, skew := gateway.EventID(b.clock.NewID()), int64(-7_200_000)
	full := b.request(source, gateway.CauseDuplicate)
	full.Detail, full.EventID, full.BodyDiffers, full.SkewMS = "why", &event, true, &skew
	full.Body = gateway.Body{Method: "POST", Path: []byte("/x"), Query: []byte("a=\xff"), Headers: []byte("A: 1\r\n"), Data: everyByte()}
	full.BodySize = 70_000
	bare := b.request(source, "signature_missing")
	b.insertRequests(t, full, bare)
	b.insertRequests(t)
	none := []byte{} // comes back of no bytes: they are not NULL
	bare.Body = gateway.Body{Path: none, Query: none, Headers: none, Data: none}
	if diff := cmp.Diff([]gateway.Request{bare, full}, b.requests(t, source, "")); diff != "" {
		t.Error(diff)
	}
	lines, err := b.RequestLines(t.Context(), b.account, source, "", store.Page[gateway.RequestID]{Limit: 9})
	full.Body.Headers, full.Body.Data = none, none
	if diff := cmp.Diff([]gateway.Request{bare, full}, lines); diff != "" || err != nil {
		t.Errorf("lines: %s, %v", diff, err)
	}
}

func TestRequestsOfASourceAndACause(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, other := b.newSource(t).ID, b.newSource(t).ID
	all := []gateway.Request{
		b.request(one, "signature_missing"), b.request(other, "signature_missing"), b.request(one, gateway.CauseDuplicate),
	}
	b.insertRequests(t, all...)
	for name, test := range map[string]struct {
		source gateway.SourceID
		cause  string
		want   []int
	}{
		"all causes":     {one, "", []int{2, 0}},
		"one cause":      {one, "signature_missing", []int{0}},
		"unknown cause":  {one, "no", nil},
		"another source": {other, "", []int{1}},
		"no source":      {gateway.SourceID{}, "", nil},
	} {
		var got []int
		for _, r := range b.requests(t, test.source, test.cause) {
			got = append(got, slices.IndexFunc(all, func(a gateway.Request) bool { return a.ID == r.ID }))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	stranger := b
	stranger.account = b.newAccount(t, "stranger")
	if found := stranger.requests(t, one, ""); len(found) != 0 {
		t.Errorf("another account lists %d requests", len(found))
	}
}

func TestTrimRequestsKeepsTheNewestOfEachSource(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	busy, quiet := b.newSource(t).ID, b.newSource(t).ID
	var newest []gateway.RequestID
	for i := range 7 {
		r := b.request(busy, "signature_missing")
		b.insertRequests(t, r)
		if i >= 4 {
			newest = append(newest, r.ID)
		}
	}
	b.insertRequests(t, b.request(quiet, "signature_missing"))
	for i, want := range []int64{3, 1, 0} {
		if went, err := b.TrimRequests(t.Context(), 3, 3); err != nil || went != want {
			t.Errorf("call %d: %d went, %v, want %d", i, went, err, want)
		}
	}
	var left []gateway.RequestID
	for _, r := range b.requests(t, busy, "") {
		left = append(left, r.ID)
	}
	slices.Reverse(left)
	if diff := cmp.Diff(newest, left); diff != "" {
		t.Error(diff)
	}
	if n := len(b.requests(t, quiet, "")); n != 1 {
		t.Errorf("%d requests of the quiet source are left", n)
	}
}

func TestTrimRequestsTogether(t *testing.T) {
	t.Parallel()
	const n = 40
	b := newBundle(t)
	source := b.newSource(t).ID
	var all []gateway.Request
	for range n {
		all = append(all, b.request(source, "signature_missing"))
	}
	b.insertRequests(t, all...)
	b = b.wide(t, 2*poolSize)
	errs := b.atOnce(t.Context(), poolSize, func(store.Tx, int) error {
		_, err := b.TrimRequests(t.Context(), 5, n)
		return err
	})
	wantErrors(t, errs, poolSize, nil)
	if left := len(b.requests(t, source, "")); left != 5 {
		t.Errorf("%d requests are left, want 5", left)
	}
}

func TestRequestByID(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source, other := b.newSource(t).ID, b.newSource(t).ID
	r := b.request(source, "too_old")
	r.Body.Data = []byte("body")
	b.insertRequests(t, r)
	got, err := b.Request(t.Context(), b.account, source, r.ID)
	if err != nil || got.ID != r.ID || got.Cause != "too_old" || string(got.Body.Data) != "body" {
		t.Errorf("%+v, %v", got, err)
	}
	for name, ask := range map[string]func() (gateway.Request, error){
		"another source":  func() (gateway.Request, error) { return b.Request(t.Context(), b.account, other, r.ID) },
		"another account": func() (gateway.Request, error) { return b.Request(t.Context(), b.newAccount(t, "other"), source, r.ID) },
		"nobody's": func() (gateway.Request, error) {
			return b.Request(t.Context(), b.account, source, gateway.RequestID(b.clock.NewID()))
		},
	} {
		if _, err := ask(); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEventRequests(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	ids := b.accepted(t, source, 3)
	var all []gateway.Request
	for i, event := range []int{0, 1, 0, 0} {
		r := b.request(source, gateway.CauseDuplicate)
		r.EventID, r.BodyDiffers = &ids[event], i == 2
		all = append(all, r)
	}
	b.insertRequests(t, append(all, b.request(source, "too_old"))...)
	stranger := b.newAccount(t, "other")
	for name, c := range map[string]struct {
		account gateway.AccountID
		event   gateway.EventID
		limit   int
		want    []int
	}{
		"several":         {b.account, ids[0], 10, []int{3, 2, 0}},
		"the newest":      {b.account, ids[0], 2, []int{3, 2}},
		"one":             {b.account, ids[1], 10, []int{1}},
		"none":            {b.account, ids[2], 10, nil},
		"another account": {stranger, ids[0], 10, nil},
	} {
		found, err := b.EventRequests(t.Context(), c.account, c.event, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, r := range found {
			got = append(got, slices.IndexFunc(all, func(a gateway.Request) bool { return a.ID == r.ID && a.BodyDiffers == r.BodyDiffers }))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
