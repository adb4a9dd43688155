package endpoint_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

func TestCreateWithDefaults(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, signing := b.create(t)
	if e.URL != "https://example.com/hook" || e.State != gateway.EndpointActive || e.MaxInFlight != gateway.DefaultMaxInFlight ||
		e.UID != nil || e.RetrySchedule != nil || e.Timeout != 0 || len(e.EventTypes) != 0 || e.CreatedAt.IsZero() {
		t.Errorf("created %+v", e)
	}
	if _, err := signature.ParseSigningKey(signing.Value); err != nil || signing.CreatedAt.IsZero() || signing.EndsAt != nil {
		t.Errorf("secret %v, created %v, ends %v", err, signing.CreatedAt, signing.EndsAt)
	}
	if diff := cmp.Diff([]string{signing.Value}, b.values(t, e.ID)); diff != "" {
		t.Error(diff)
	}
	b.wantAudit(t, "endpoint.create")
}

func TestCreateWithEverything(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const key = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE" // 32 bytes, padding left out
	e, signing, err := b.Create(t.Context(), b.account, actor, endpoint.Input{
		URL: new("https://example.com"), UID: new("shop"), Description: new("a\nb"),
		EventTypes:    &[]string{"order.*", "user.created", "order.*"},
		Headers:       &map[string]string{"x-team": "a: b", "X-Empty": ""},
		RetrySchedule: &[]time.Duration{time.Second, time.Minute}, Timeout: new(2 * time.Second), MaxInFlight: new(3),
		StopOn: &[]int{404, 400, 404}, Secret: new("  " + key + "\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := gateway.Endpoint{
		ID: e.ID, AccountID: b.account, UID: new("shop"), Kind: gateway.EndpointHTTP, URL: "https://example.com", Description: "a\nb",
		EventTypes: []string{"order.*", "user.created"}, Headers: []byte("X-Empty: \r\nX-Team: a: b\r\n"),
		RetrySchedule: []time.Duration{time.Second, time.Minute}, Timeout: 2 * time.Second, MaxInFlight: 3,
		StopOn: []int{400, 404}, Signature: gateway.SignatureHMAC, State: gateway.EndpointActive,
		StateChangedAt: e.StateChangedAt, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
	if signing.Value != key+"=" {
		t.Errorf("the secret is not stored in its canonical form")
	}
}

// One that is listened for has no address, now and later, and stays of its kind.
func TestListened(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, signing, err := b.Create(t.Context(), b.account, actor, endpoint.Input{Kind: new(gateway.EndpointListen), UID: new("laptop")})
	if err != nil || e.Kind != gateway.EndpointListen || e.URL != "" || signing.Value == "" {
		t.Fatalf("created %+v, %v", e, err)
	}
	for name, in := range map[string]endpoint.Input{
		"url":  {Kind: new(gateway.EndpointListen), URL: new("https://example.com")},
		"kind": {Kind: new(gateway.EndpointKind("smoke")), URL: new("https://example.com")},
	} {
		if _, _, err := b.Create(t.Context(), b.account, actor, in); !slices.Equal(fields(err), []string{name}) {
			t.Errorf("a new one with a wrong %s: %v", name, err)
		}
	}
	if _, _, err := b.Create(t.Context(), b.account, actor, endpoint.Input{Kind: new(gateway.EndpointHTTP)}); !slices.Equal(fields(err), []string{"url"}) {
		t.Errorf("one without an address: %v", err)
	}
	if _, err := b.Update(t.Context(), b.account, actor, e.ID, endpoint.Input{URL: new("https://example.com")}); !slices.Equal(fields(err), []string{"url"}) {
		t.Errorf("an address: %v", err)
	}
	if _, err := b.Update(t.Context(), b.account, actor, e.ID, endpoint.Input{Kind: new(gateway.EndpointHTTP)}); !slices.Equal(fields(err), []string{"kind"}) {
		t.Errorf("another kind: %v", err)
	}
	if now, err := b.Update(t.Context(), b.account, actor, e.ID, endpoint.Input{Description: new("Jo")}); err != nil || now.Kind != gateway.EndpointListen {
		t.Errorf("changed %+v, %v", now, err)
	}
}

func TestCreateLimit(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := atOnce(t, 20, gateway.ErrLimitReached, func(ctx context.Context) error {
		_, _, err := b.Create(ctx, b.account, actor, endpoint.Input{URL: new("https://example.com")})
		return err
	})
	if made != most {
		t.Errorf("%d endpoints were made, want %d", made, most)
	}
	other := b
	other.account = b.newAccount(t, "other")
	other.create(t)
}

func TestUIDIsTaken(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	in := endpoint.Input{URL: new("https://example.com"), UID: new("mine")}
	if _, _, err := b.Create(t.Context(), b.account, actor, in); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Create(t.Context(), b.account, actor, in); !errors.Is(err, gateway.ErrUIDTaken) {
		t.Errorf("created twice: %v, want ErrUIDTaken", err)
	}
	second, _ := b.create(t)
	if _, err := b.Update(t.Context(), b.account, actor, second.ID, endpoint.Input{UID: new("mine")}); !errors.Is(err, gateway.ErrUIDTaken) {
		t.Errorf("renamed: %v, want ErrUIDTaken", err)
	}
}

func TestUpdateChangesWhatIsGiven(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	steps := []struct {
		in   endpoint.Input
		want func(*gateway.Endpoint)
	}{
		{endpoint.Input{URL: new("https://example.com/2")}, func(e *gateway.Endpoint) { e.URL = "https://example.com/2" }},
		{endpoint.Input{UID: new("mine"), Timeout: new(5 * time.Second)}, func(e *gateway.Endpoint) { e.UID, e.Timeout = new("mine"), 5*time.Second }},
		{endpoint.Input{RetrySchedule: &[]time.Duration{}}, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{} }},
		{endpoint.Input{Headers: &map[string]string{"X-A": "b"}}, func(e *gateway.Endpoint) { e.Headers = []byte("X-A: b\r\n") }},
		{endpoint.Input{Headers: &map[string]string{}}, func(e *gateway.Endpoint) { e.Headers = []byte{} }},
		{endpoint.Input{UID: new(""), Timeout: new(time.Duration(0)), RetrySchedule: new([]time.Duration(nil))}, func(e *gateway.Endpoint) {
			e.UID, e.Timeout, e.RetrySchedule = nil, 0, nil
		}},
		{endpoint.Input{}, func(*gateway.Endpoint) {}},
	}
	for i, step := range steps {
		got, err := b.Update(t.Context(), b.account, actor, e.ID, step.in)
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		step.want(&e)
		e.UpdatedAt = got.UpdatedAt
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	}
	b.wantAudit(t, "endpoint.create", "endpoint.update: url", "endpoint.update: uid, timeout", "endpoint.update: retry_schedule",
		"endpoint.update: headers", "endpoint.update: headers", "endpoint.update: uid, retry_schedule, timeout")
}

// Two changes at once of different fields both last.
func TestUpdatesDoNotOverwriteEachOther(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	inputs := make(chan endpoint.Input, 2)
	inputs <- endpoint.Input{Description: new("d")}
	inputs <- endpoint.Input{MaxInFlight: new(5)}
	atOnce(t, 2, nil, func(ctx context.Context) error {
		_, err := b.Update(ctx, b.account, actor, e.ID, <-inputs)
		return err
	})
	got, err := b.store.Endpoint(t.Context(), b.account, e.ID)
	if err != nil || got.Description != "d" || got.MaxInFlight != 5 {
		t.Errorf("description %q, max in flight %d, %v", got.Description, got.MaxInFlight, err)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	deleted := atOnce(t, 4, gateway.ErrNotFound, func(ctx context.Context) error { return b.Delete(ctx, b.account, actor, e.ID) })
	if deleted != 1 {
		t.Errorf("deleted %d times", deleted)
	}
	if _, err := b.store.Endpoint(t.Context(), b.account, e.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("after its deletion: %v", err)
	}
	b.wantAudit(t, "endpoint.create", "endpoint.delete")
}

func TestAnotherAccountsEndpointIsNotFound(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, signing := b.create(t)
	owner := b.account
	b.account = b.newAccount(t, "other")
	ctx := t.Context()
	calls := map[string]func() error{
		"Update": func() error {
			_, err := b.Update(ctx, b.account, actor, e.ID, endpoint.Input{UID: new("x")})
			return err
		},
		"Delete":    func() error { return b.Delete(ctx, b.account, actor, e.ID) },
		"Pause":     func() error { _, err := b.Pause(ctx, b.account, actor, e.ID); return err },
		"Resume":    func() error { _, err := b.Resume(ctx, b.account, actor, e.ID); return err },
		"Rotate":    func() error { _, err := b.Rotate(ctx, b.account, actor, e.ID, nil, nil); return err },
		"EndSecret": func() error { return b.EndSecret(ctx, b.account, actor, e.ID, signing.ID) },
		"Secrets":   func() error { _, err := b.Secrets(ctx, b.account, actor, e.ID); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	got, err := b.store.Endpoint(ctx, owner, e.ID)
	if diff := cmp.Diff(e, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	b.wantAudit(t, "endpoint.create")
}
