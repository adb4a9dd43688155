package accept_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// declare declares a type without telling the service.
func (b bundle) declare(t *testing.T, declared gateway.EventType) {
	t.Helper()
	declared.OnDoubt = gateway.OnDoubtResend
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateEventType(t.Context(), b.account, declared, gateway.MaxEventTypes)
		return err
	})
}

// redeclare changes a type without telling the service.
func (b bundle) redeclare(t *testing.T, changed gateway.EventType) {
	t.Helper()
	changed.OnDoubt = gateway.OnDoubtResend
	b.in(t, func(tx store.Tx) error {
		_, err := tx.UpdateEventType(t.Context(), b.account, changed)
		return err
	})
}

// faults are the fields and codes of what is wrong with an event.
func faults(err error) []string {
	var all []string
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case *gateway.InvalidError:
		return []string{e.Field + " " + e.Code}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, faults(one)...)
		}
	}
	return all
}

func TestPublishObeysDeclaredTypes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	b.declare(t, gateway.EventType{Name: "order.created", Schema: []byte(`{"required":["id"],"properties":{"lines":{"items":{"type":"string"}}}}`)})
	b.declare(t, gateway.EventType{Name: "check.done", SingleFire: true})
	subject := "s"
	for _, tt := range []struct {
		in   accept.PublishInput
		want []string
	}{
		{accept.PublishInput{Type: "order.created", Data: []byte(`{"id":1}`)}, nil},
		{accept.PublishInput{Type: "order.created", Data: []byte(`{"lines":[1,"a",2]}`)}, []string{"data schema_violated", "data/lines/0 schema_violated", "data/lines/2 schema_violated"}},
		{accept.PublishInput{Type: "order.updated", Data: []byte(`1`)}, nil},
		{accept.PublishInput{Type: "check.done", Data: []byte(`1`)}, []string{"subject subject_required"}},
		{accept.PublishInput{Type: "check.done", Subject: &subject, Data: []byte(`1`)}, nil},
	} {
		_, err := b.publish(t.Context(), tt.in)
		if diff := cmp.Diff(tt.want, faults(err)); diff != "" || (err == nil) != (tt.want == nil) {
			t.Errorf("%s %s: %v %s", tt.in.Type, tt.in.Data, err, diff)
		}
	}
	b.wantRows(t, rows{events: 3})
	// Another account has declared nothing.
	b.account, b.api = b.newAccount(t, "other")
	if _, err := b.publish(t.Context(), accept.PublishInput{Type: "check.done", Data: []byte(`1`)}); err != nil {
		t.Error(err)
	}
}

// Of a batch each stands alone.
func TestBatchObeysDeclaredTypes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	b.declare(t, gateway.EventType{Name: "a", Schema: []byte(`{"type":"string"}`)})
	results := b.PublishBatch(t.Context(), b.account, gateway.APIKey{AccountID: b.account}, []accept.PublishInput{
		{Type: "a", Data: []byte(`"x"`)}, {Type: "a", Data: []byte(`1`)}, {Type: "b", Data: []byte(`1`)},
	})
	if results[0].Err != nil || faults(results[1].Err) == nil || results[2].Err != nil {
		t.Errorf("%+v", results)
	}
	b.wantRows(t, rows{events: 2})
}

// A type is believed for a moment, and read again when the service was told that
// it changed. What is compiled is found by its version.
func TestForgetEventTypes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	in := accept.PublishInput{Type: "a", Data: []byte(`1`)}
	want := func(allowed bool, when string) {
		t.Helper()
		if _, err := b.publish(t.Context(), in); (err == nil) != allowed {
			t.Errorf("%s: %v", when, err)
		}
	}
	want(true, "not declared")
	b.declare(t, gateway.EventType{Name: "a", Schema: []byte(`{"type":"string"}`)})
	want(true, "remembered as not declared")
	b.ForgetEventTypes()
	want(false, "read again")
	b.redeclare(t, gateway.EventType{Name: "a", Schema: []byte(`{"type":"number"}`)})
	want(false, "remembered with its old schema")
	b.ForgetEventTypes()
	want(true, "with its new schema")
	b.redeclare(t, gateway.EventType{Name: "a"})
	b.ForgetEventTypes()
	in.Data = []byte(`"x"`)
	want(true, "without a schema")
	b.in(t, func(tx store.Tx) error { return tx.DeleteEventType(t.Context(), b.account, "a") })
	b.declare(t, gateway.EventType{Name: "a", Schema: []byte(`{"type":"number"}`)})
	b.ForgetEventTypes()
	want(false, "declared again")
}

// A type that is deleted between two looks at it asks for nothing.
func TestSchemaIsGone(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	b.declare(t, gateway.EventType{Name: "a", Schema: []byte(`false`)})
	b.declare(t, gateway.EventType{Name: "b"})
	if _, err := b.publish(t.Context(), accept.PublishInput{Type: "b", Data: []byte(`1`)}); err != nil {
		t.Fatal(err) // now both are remembered, and no schema is compiled
	}
	b.in(t, func(tx store.Tx) error { return tx.DeleteEventType(t.Context(), b.account, "a") })
	if _, err := b.publish(t.Context(), accept.PublishInput{Type: "a", Data: []byte(`1`)}); err != nil {
		t.Error(err)
	}
}

// Who asks again under a key whose event was accepted is told of it, whatever
// its type asks by now; and an event that is another is told apart.
func TestRepeatsPassStricterTypes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	first, err := b.publish(t.Context(), keyed("k", `1`))
	if err != nil {
		t.Fatal(err)
	}
	b.declare(t, gateway.EventType{Name: "order.created", Schema: []byte(`{"type":"string"}`), SingleFire: true})
	b.ForgetEventTypes()
	again, err := b.publish(t.Context(), keyed("k", `1`))
	if err != nil || again.ID != first.ID || !again.Duplicate {
		t.Errorf("%+v, %v; the first is %s", again, err, first.ID)
	}
	if _, err := b.publish(t.Context(), keyed("k", `2`)); !errors.Is(err, gateway.ErrKeyReused) {
		t.Errorf("another content under the key: %v", err)
	}
	if _, err := b.publish(t.Context(), keyed("other", `1`)); faults(err) == nil {
		t.Errorf("a new key: %v", err)
	}
}

func TestTypesWithoutDatabase(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	b.declare(t, gateway.EventType{Name: "a", Schema: []byte(`true`)})
	if _, err := b.publish(t.Context(), accept.PublishInput{Type: "b", Data: []byte(`1`)}); err != nil {
		t.Fatal(err)
	}
	b.pool.Close()
	if _, err := b.publish(t.Context(), accept.PublishInput{Type: "a", Data: []byte(`1`)}); !errors.Is(err, gateway.ErrUnavailable) {
		t.Errorf("a schema that cannot be read: %v", err)
	}
	b.ForgetEventTypes()
	if _, err := b.publish(t.Context(), accept.PublishInput{Type: "b", Data: []byte(`1`)}); !errors.Is(err, gateway.ErrUnavailable) {
		t.Errorf("types that cannot be read: %v", err)
	}
}
