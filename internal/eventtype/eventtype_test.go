package eventtype_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/eventtype"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

func raw(text string) *json.RawMessage {
	message := json.RawMessage(text)
	return &message
}

func rawList(texts ...string) *[]json.RawMessage {
	list := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		list[i] = json.RawMessage(text)
	}
	return &list
}

func TestCreate(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	hold := gateway.OnDoubtHold
	made := b.create(t, eventtype.Input{
		Name: new("credit/check:done.v2"), Description: new(" A check is done.\n"), Schema: raw(` {"type":"object"} `),
		Examples: rawList(`{"n":9007199254740993}`), SingleFire: new(true), OnDoubt: &hold,
	})
	want := gateway.EventType{
		AccountID: b.account, Name: "credit/check:done.v2", Description: "A check is done.", Schema: []byte(`{"type":"object"}`),
		Examples: []json.RawMessage{json.RawMessage(`{"n":9007199254740993}`)}, SingleFire: true, OnDoubt: hold,
		Version: made.Version, CreatedAt: made.CreatedAt, UpdatedAt: made.UpdatedAt,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	plain := b.create(t, eventtype.Input{Name: new("Push Hook")})
	if plain.Schema != nil || len(plain.Examples) != 0 || plain.SingleFire || plain.OnDoubt != gateway.OnDoubtResend {
		t.Errorf("%+v", plain)
	}
	b.wantAudit(t, "event_type.create event-types/credit/check:done.v2: single-fire, when in doubt: hold", "event_type.create event-types/Push Hook: repeats")
	if b.told.Load() != 2 {
		t.Errorf("told of %d changes", b.told.Load())
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	bad := gateway.OnDoubt("hunter2")
	for want, in := range map[string]eventtype.Input{
		"name: is missing":                    {},
		"name: want":                          {Name: new(".hunter2")},
		"name: types that begin with rowlock": {Name: new("rowlock.x")},
		"description: want":                   {Name: new("a"), Description: new(strings.Repeat("a", 2001))},
		"on_doubt: want resend or hold":       {Name: new("a"), OnDoubt: &bad},
		"schema: want a JSON Schema":          {Name: new("a"), Schema: raw(`"hunter2"`)},
		"schema: refers to another document":  {Name: new("a"), Schema: raw(`{"$ref":"https://hunter2.example/x"}`)},
		"schema: is not a JSON Schema: at /t": {Name: new("a"), Schema: raw(`{"type":"hunter2"}`)},
		"examples: want at most 20":           {Name: new("a"), Examples: rawList(strings.Split(strings.Repeat("1 ", 20)+"1", " ")...)},
		"examples: want at most 65536 bytes":  {Name: new("a"), Examples: rawList(`"` + strings.Repeat("a", 64<<10) + `"`)},
		"examples[1]: is not JSON":            {Name: new("a"), Examples: rawList(`1`, `{`)},
		"examples[1]/a: want string":          {Name: new("a"), Schema: raw(`{"properties":{"a":{"type":"string"}}}`), Examples: rawList(`{}`, `{"a":1}`)},
	} {
		_, err := b.Create(t.Context(), b.account, actor, in)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	b.wantAudit(t)
	if b.told.Load() != 0 {
		t.Error("told of what did not change")
	}
}

// All that is wrong is told at once.
func TestCreateTellsEveryFault(t *testing.T) {
	t.Parallel()
	_, err := newBundle(t).Create(t.Context(), gateway.AccountID{}, actor, eventtype.Input{
		Name: new("."), Description: new("a\x00"), Schema: raw(`1`),
	})
	for _, field := range []string{"name: ", "description: ", "schema: "} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v lacks %s", err, field)
		}
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.create(t, eventtype.Input{Name: new("a"), Examples: rawList(`1`)})
	hold := gateway.OnDoubtHold
	for i, step := range []struct {
		in   eventtype.Input
		want func(*gateway.EventType)
	}{
		{eventtype.Input{Name: new("a"), Description: new("A")}, func(t *gateway.EventType) { t.Description = "A" }},
		{eventtype.Input{Schema: raw(`{"type":"number"}`)}, func(t *gateway.EventType) { t.Schema = []byte(`{"type":"number"}`) }},
		{eventtype.Input{SingleFire: new(true), OnDoubt: &hold}, func(t *gateway.EventType) { t.SingleFire, t.OnDoubt = true, hold }},
		{eventtype.Input{Schema: raw(`null`)}, func(t *gateway.EventType) { t.Schema = nil }},
		{eventtype.Input{}, func(*gateway.EventType) {}},
	} {
		got, err := b.Update(t.Context(), b.account, actor, "a", step.in)
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		step.want(&made)
		made.UpdatedAt, made.Version = got.UpdatedAt, got.Version
		if diff := cmp.Diff(made, got); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	}
	for want, in := range map[string]eventtype.Input{
		"name: cannot be changed": {Name: new("b")},
		"examples[0]: want":       {Schema: raw(`{"type":"string"}`)},
	} {
		if _, err := b.Update(t.Context(), b.account, actor, "a", in); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := b.Update(t.Context(), b.account, actor, "b", eventtype.Input{}); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("a type that is not there: %v", err)
	}
	b.wantAudit(t, "event_type.create event-types/a: repeats", "event_type.update event-types/a: description", "event_type.update event-types/a: schema",
		"event_type.update event-types/a: single-fire, when in doubt: hold", "event_type.update event-types/a: schema")
}

// Of two who change one type neither undoes what the other did.
func TestUpdatesDoNotUndoEachOther(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, eventtype.Input{Name: new("a")})
	for range 5 {
		changes := make(chan eventtype.Input, 2)
		changes <- eventtype.Input{Description: new("A")}
		changes <- eventtype.Input{SingleFire: new(true)}
		atOnce(t, 2, nil, func(ctx context.Context) error {
			_, err := b.Update(ctx, b.account, actor, "a", <-changes)
			return err
		})
		got, err := b.store.EventType(t.Context(), b.account, "a")
		if err != nil || got.Description != "A" || !got.SingleFire {
			t.Fatalf("%+v, %v", got, err)
		}
		if _, err := b.Update(t.Context(), b.account, actor, "a", eventtype.Input{Description: new(""), SingleFire: new(false)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeclaredAndDeletedOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := atOnce(t, 5, gateway.ErrNameTaken, func(ctx context.Context) error {
		_, err := b.Create(ctx, b.account, actor, eventtype.Input{Name: new("a")})
		return err
	})
	deleted := atOnce(t, 5, gateway.ErrNotFound, func(ctx context.Context) error { return b.Delete(ctx, b.account, actor, "a") })
	if made != 1 || deleted != 1 || b.told.Load() != 2 {
		t.Errorf("declared %d times, deleted %d times, told %d times", made, deleted, b.told.Load())
	}
	b.wantAudit(t, "event_type.create event-types/a: repeats", "event_type.delete event-types/a")
}

// A type that is made to repeat, or is not declared any more, lets go what waits
// for its facts, by a job that comes with the change; no other change does.
func TestWhatWaitsIsFreed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	jobs := func() int {
		return pgtest.Count(t, b.pool, `
			SELECT count(*)
			FROM river_job
			WHERE kind = 'free_waiting'
			  AND args @> jsonb_build_object('account_id', $1::text, 'event_type', 'phone.verified')`, b.account.String())
	}
	b.create(t, eventtype.Input{Name: new("phone.verified"), SingleFire: new(true)})
	for i, change := range []struct {
		in   eventtype.Input
		jobs int
	}{
		{eventtype.Input{Description: new("once")}, 0},
		{eventtype.Input{SingleFire: new(true)}, 0},
		{eventtype.Input{SingleFire: new(false)}, 1},
		{eventtype.Input{SingleFire: new(false)}, 1},
		{eventtype.Input{SingleFire: new(true)}, 1},
		{eventtype.Input{SingleFire: new(false)}, 2},
	} {
		if _, err := b.Update(t.Context(), b.account, actor, "phone.verified", change.in); err != nil {
			t.Fatal(err)
		}
		if n := jobs(); n != change.jobs {
			t.Errorf("change %d: %d jobs, want %d", i, n, change.jobs)
		}
	}
	if err := b.Delete(t.Context(), b.account, actor, "phone.verified"); err != nil {
		t.Fatal(err)
	}
	if n := jobs(); n != 3 {
		t.Errorf("%d jobs after the deletion", n)
	}
}
