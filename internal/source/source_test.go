package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/store"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made, err := b.Create(t.Context(), b.account, actor, source.Input{
		Name: new(" Shop\n"), Kind: new("hmac"), UID: new("shop"), Secret: new(" s3cret "),
		Settings: json.RawMessage(` {"header":"X-Sig","tolerance":"1m"} `),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := gateway.Source{
		ID: made.ID, AccountID: b.account, UID: new("shop"), Name: "Shop", Kind: "hmac", Token: made.Token,
		Settings: []byte(`{"header":"X-Sig","tolerance":"1m"}`), State: gateway.SourceActive,
		CreatedAt: made.CreatedAt, UpdatedAt: made.UpdatedAt,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	found, live, err := b.store.SourceByToken(t.Context(), made.Token)
	if err != nil || found.ID != made.ID || len(live) != 1 || live[0].Value != "s3cret" {
		t.Errorf("by token: %v, %d secrets, %v", found.ID, len(live), err)
	}
	b.wantAudit(t, "source.create: hmac")
}

func TestCreateWithoutSecret(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	tokens := map[string]bool{}
	for _, given := range []source.Input{{}, {Secret: new("")}, {Settings: json.RawMessage("null")}} {
		given.Name, given.Kind = new("open"), new("none")
		made, err := b.Create(t.Context(), b.account, actor, given)
		if err != nil {
			t.Fatal(err)
		}
		tokens[made.Token] = true
		if live := b.values(t, made.ID); len(live) != 0 || string(made.Settings) != "{}" {
			t.Errorf("%d secrets, settings %s", len(live), made.Settings)
		}
	}
	if len(tokens) != 3 {
		t.Error("tokens repeat")
	}
}

func TestInputIsRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ok := func() source.Input { return source.Input{Name: new("n"), Kind: new("github"), Secret: new("s")} }
	for name, tt := range map[string]struct {
		change func(*source.Input)
		field  string
	}{
		"no kind":          {func(in *source.Input) { in.Kind = nil }, "kind"},
		"unknown kind":     {func(in *source.Input) { in.Kind = new("acme") }, "kind"},
		"built-in kind":    {func(in *source.Input) { in.Kind = new("api") }, "kind"},
		"no name":          {func(in *source.Input) { in.Name = nil }, "name"},
		"blank name":       {func(in *source.Input) { in.Name = new(" \t") }, "name"},
		"long name":        {func(in *source.Input) { in.Name = new(strings.Repeat("ä", 201)) }, "name"},
		"NUL in the name":  {func(in *source.Input) { in.Name = new("a\x00b") }, "name"},
		"bad UTF-8":        {func(in *source.Input) { in.Name = new("\xff") }, "name"},
		"uid":              {func(in *source.Input) { in.UID = new("-a") }, "uid"},
		"no secret":        {func(in *source.Input) { in.Secret = nil }, "secret"},
		"empty secret":     {func(in *source.Input) { in.Secret = new(" ") }, "secret"},
		"unused secret":    {func(in *source.Input) { in.Kind = new("none") }, "secret"},
		"unknown setting":  {func(in *source.Input) { in.Settings = json.RawMessage(`{"x":1}`) }, "settings"},
		"bad tolerance":    {func(in *source.Input) { in.Settings = json.RawMessage(`{"tolerance":"-1s"}`) }, "settings"},
		"no object":        {func(in *source.Input) { in.Settings = json.RawMessage(`[]`) }, "settings"},
		"missing settings": {func(in *source.Input) { in.Kind = new("hmac") }, "settings"},
	} {
		in := ok()
		tt.change(&in)
		_, err := b.Create(t.Context(), b.account, actor, in)
		var invalid *gateway.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != tt.field {
			t.Errorf("%s: %v, want field %s", name, err, tt.field)
		}
	}
	if list, err := b.store.Sources(t.Context(), b.account, store.Page[gateway.SourceID]{Limit: 9}); err != nil || len(list) != 0 {
		t.Errorf("%d sources were made, %v", len(list), err)
	}
}

// The kinds are the registry's: each can be made with what it asks for.
func TestEveryKindIsKnown(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, kind := range signature.Kinds() {
		_, err := b.Create(t.Context(), b.account, actor, source.Input{Name: new(kind), Kind: &kind})
		var invalid *gateway.InvalidError
		if errors.As(err, &invalid) && invalid.Field == "kind" {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.create(t)
	steps := []struct {
		in   source.Input
		want func(*gateway.Source)
	}{
		{source.Input{Name: new("Renamed"), Kind: new("github")}, func(s *gateway.Source) { s.Name = "Renamed" }},
		{source.Input{UID: new("gh"), Settings: json.RawMessage(`{"tolerance":"2m"}`)}, func(s *gateway.Source) {
			s.UID, s.Settings = new("gh"), []byte(`{"tolerance":"2m"}`)
		}},
		{source.Input{UID: new("")}, func(s *gateway.Source) { s.UID = nil }},
		{source.Input{}, func(*gateway.Source) {}},
	}
	for i, step := range steps {
		got, err := b.Update(t.Context(), b.account, actor, made.ID, step.in)
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		step.want(&made)
		made.UpdatedAt = got.UpdatedAt
		if diff := cmp.Diff(made, got); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	}
	for field, in := range map[string]source.Input{
		"kind":     {Kind: new("stripe")},
		"secret":   {Secret: new("other")},
		"settings": {Settings: json.RawMessage(`{"header":"X"}`)},
		"name":     {Name: new("")},
	} {
		var invalid *gateway.InvalidError
		if _, err := b.Update(t.Context(), b.account, actor, made.ID, in); !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	b.wantAudit(t, "source.create: github", "source.update: name", "source.update: uid, settings", "source.update: uid")
}

func TestUIDIsTaken(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := atOnce(t, 4, gateway.ErrUIDTaken, func(ctx context.Context) error {
		_, err := b.Create(ctx, b.account, actor, source.Input{Name: new("n"), Kind: new("none"), UID: new("mine")})
		return err
	})
	if made != 1 {
		t.Errorf("%d sources have one uid", made)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.create(t)
	deleted := atOnce(t, 4, gateway.ErrNotFound, func(ctx context.Context) error { return b.Delete(ctx, b.account, actor, made.ID) })
	if deleted != 1 || b.told.Load() != 1 {
		t.Errorf("deleted %d times, told %d times", deleted, b.told.Load())
	}
	if _, _, err := b.store.SourceByToken(t.Context(), made.Token); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("its token: %v, want ErrNotFound", err)
	}
	b.wantAudit(t, "source.create: github", "source.delete")
}

func TestRotate(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.create(t)
	added, err := b.Rotate(t.Context(), b.account, actor, made.ID, " second ", nil)
	if err != nil || added.Value != "" || added.CreatedAt.IsZero() {
		t.Fatalf("rotated: %+v, %v; want no value", added, err)
	}
	if diff := cmp.Diff([]string{"second", "first"}, b.values(t, made.ID)); diff != "" {
		t.Error(diff)
	}
	if _, err := b.Rotate(t.Context(), b.account, actor, made.ID, "third", new(time.Duration(0))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"third"}, b.values(t, made.ID)); diff != "" {
		t.Error(diff)
	}
	for field, call := range map[string]func() error{
		"secret": func() error { _, err := b.Rotate(t.Context(), b.account, actor, made.ID, "", nil); return err },
		"overlap": func() error {
			_, err := b.Rotate(t.Context(), b.account, actor, made.ID, "x", new(-time.Second))
			return err
		},
	} {
		var invalid *gateway.InvalidError
		if err := call(); !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestRotationsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.create(t)
	const room = gateway.MaxLiveSecrets - 1
	done := atOnce(t, room+2, gateway.ErrTooManySecrets, func(ctx context.Context) error {
		_, err := b.Rotate(ctx, b.account, actor, made.ID, "next", new(time.Hour))
		return err
	})
	var endless int
	err := b.pool.QueryRow(t.Context(), `SELECT count(*) FROM source_secrets WHERE ends_at IS NULL`).Scan(&endless)
	if err != nil || done != room || endless != 1 {
		t.Errorf("%d rotations, want %d; %d secrets without an end, want 1; %v", done, room, endless, err)
	}
}

func TestRotateSourceWithoutSecrets(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made, err := b.Create(t.Context(), b.account, actor, source.Input{Name: new("open"), Kind: new("none")})
	if err != nil {
		t.Fatal(err)
	}
	for _, given := range []string{"", "x"} {
		var invalid *gateway.InvalidError
		if _, err := b.Rotate(t.Context(), b.account, actor, made.ID, given, nil); !errors.As(err, &invalid) || invalid.Field != "secret" {
			t.Errorf("secret %q: %v", given, err)
		}
	}
}

// everyChange calls each method that changes a source.
func everyChange(ctx context.Context, b bundle, id gateway.SourceID) map[string]error {
	_, update := b.Update(ctx, b.account, actor, id, source.Input{Name: new("x")})
	_, pause := b.Pause(ctx, b.account, actor, id)
	_, resume := b.Resume(ctx, b.account, actor, id)
	_, rotate := b.Rotate(ctx, b.account, actor, id, "x", nil)
	_, set := b.SetRule(ctx, b.account, actor, id, gateway.Rule{Key: "body.id"})
	_, cleared := b.ClearRule(ctx, b.account, actor, id)
	return map[string]error{
		"SetRule": set, "ClearRule": cleared,
		"Update": update, "Pause": pause, "Resume": resume, "Rotate": rotate, "Delete": b.Delete(ctx, b.account, actor, id),
	}
}

func TestAnotherAccountsSourceIsNotFound(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made, owner := b.create(t), b.account
	b.account = b.newAccount(t, "other")
	for name, err := range everyChange(t.Context(), b, made.ID) {
		if !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	got, err := b.store.Source(t.Context(), owner, made.ID)
	if diff := cmp.Diff(made, got); diff != "" || err != nil || b.told.Load() != 0 {
		t.Errorf("%v %s", err, diff)
	}
}

func TestBuiltInSourceStays(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	api := gateway.Source{
		ID: gateway.SourceID(b.clock.NewID()), Name: "API", Kind: gateway.SourceKindAPI, Token: secret.NewToken(""), Settings: []byte("{}"),
	}
	err := b.store.InTx(t.Context(), func(tx store.Tx) (err error) {
		api, err = tx.CreateSource(t.Context(), b.account, api)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range everyChange(t.Context(), b, api.ID) {
		if !errors.Is(err, gateway.ErrBuiltIn) {
			t.Errorf("%s: %v, want ErrBuiltIn", name, err)
		}
	}
	got, err := b.store.Source(t.Context(), b.account, api.ID)
	if diff := cmp.Diff(api, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}
