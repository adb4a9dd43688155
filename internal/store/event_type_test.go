package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// declare declares a type of the bundle's account.
func (b bundle) declare(t *testing.T, declared gateway.EventType) gateway.EventType {
	t.Helper()
	if declared.OnDoubt == "" {
		declared.OnDoubt = gateway.OnDoubtResend
	}
	var made gateway.EventType
	b.in(t, func(tx store.Tx) (err error) {
		made, err = tx.CreateEventType(t.Context(), b.account, declared, gateway.MaxEventTypes)
		return err
	})
	return made
}

func TestEventTypeIsStoredAsGiven(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	want := gateway.EventType{
		AccountID: b.account, Name: "credit/check:done.v2", Description: "A check is done.",
		Schema:   []byte(`{ "type": "object", "type": "object" }`),
		Examples: []json.RawMessage{json.RawMessage(`{"n": 9007199254740993}`), json.RawMessage(`"\u0000"`)}, SingleFire: true, OnDoubt: gateway.OnDoubtHold,
	}
	made := b.declare(t, want)
	want.Version, want.CreatedAt, want.UpdatedAt = made.Version, made.CreatedAt, made.UpdatedAt
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	read, err := b.EventType(t.Context(), b.account, want.Name)
	if diff := cmp.Diff(want, read); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	want.Schema, want.Examples, want.SingleFire, want.OnDoubt = nil, []json.RawMessage{}, false, gateway.OnDoubtResend
	var changed gateway.EventType
	b.in(t, func(tx store.Tx) (err error) {
		if locked, err := tx.LockEventType(t.Context(), b.account, want.Name); err != nil || locked.Version != made.Version {
			t.Errorf("locked version %d, want %d: %v", locked.Version, made.Version, err)
		}
		changed, err = tx.UpdateEventType(t.Context(), b.account, want)
		return err
	})
	want.Version, want.UpdatedAt = changed.Version, changed.UpdatedAt
	if diff := cmp.Diff(want, changed); diff != "" || changed.Version == made.Version {
		t.Errorf("version %d after %d: %s", changed.Version, made.Version, diff)
	}
}

// A name that is declared again after it was deleted has a version of its own.
func TestEventTypeVersionsNeverComeAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	seen := map[int64]bool{}
	for range 3 {
		seen[b.declare(t, gateway.EventType{Name: "a"}).Version] = true
		b.in(t, func(tx store.Tx) error { return tx.DeleteEventType(t.Context(), b.account, "a") })
	}
	if len(seen) != 3 {
		t.Errorf("versions %v", seen)
	}
}

func TestEventTypeIsDeclaredOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	create := func(tx store.Tx, _ int) error {
		_, err := tx.CreateEventType(t.Context(), b.account, gateway.EventType{Name: "a", OnDoubt: gateway.OnDoubtResend}, 9)
		return err
	}
	wantErrors(t, b.atOnce(t.Context(), 5, create), 1, gateway.ErrNameTaken)
	other := b
	other.account = b.newAccount(t, "other")
	other.declare(t, gateway.EventType{Name: "a"})

	remove := func(tx store.Tx, _ int) error { return tx.DeleteEventType(t.Context(), b.account, "a") }
	wantErrors(t, b.atOnce(t.Context(), 5, remove), 1, gateway.ErrNotFound)
	if _, err := b.EventType(t.Context(), other.account, "a"); err != nil {
		t.Errorf("the type of the other account: %v", err)
	}
	b.in(t, func(tx store.Tx) error {
		_, lock := tx.LockEventType(t.Context(), b.account, "a")
		_, update := tx.UpdateEventType(t.Context(), b.account, gateway.EventType{Name: "a", OnDoubt: gateway.OnDoubtHold})
		for _, err := range []error{lock, update} {
			if !errors.Is(err, gateway.ErrNotFound) {
				t.Errorf("a type that is gone: %v", err)
			}
		}
		return nil
	})
}

func TestEventTypesAreLimited(t *testing.T) {
	t.Parallel()
	const most = 3
	b := newBundle(t)
	create := func(tx store.Tx, i int) error {
		_, err := tx.CreateEventType(t.Context(), b.account, gateway.EventType{Name: fmt.Sprint("t", i), OnDoubt: gateway.OnDoubtResend}, most)
		return err
	}
	wantErrors(t, b.atOnce(t.Context(), 8, create), most, gateway.ErrLimitReached)
}

// Lists are in the order of bytes, whatever the database's language.
func TestEventTypesAreListedByName(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, name := range []string{"b", "B", "a.b", "a", "a_b", "a:b", "a/b"} {
		b.declare(t, gateway.EventType{Name: name})
	}
	other := b
	other.account = b.newAccount(t, "other")
	other.declare(t, gateway.EventType{Name: "theirs"})
	var names []string
	for after := ""; ; after = names[len(names)-1] {
		part, err := b.EventTypes(t.Context(), b.account, after, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(part) == 0 {
			break
		}
		for _, p := range part {
			names = append(names, p.Name)
		}
	}
	if diff := cmp.Diff([]string{"B", "a", "a.b", "a/b", "a:b", "a_b", "b"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestSingleFire(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.declare(t, gateway.EventType{Name: "once", SingleFire: true})
	b.declare(t, gateway.EventType{Name: "hold", SingleFire: true, OnDoubt: gateway.OnDoubtHold})
	b.declare(t, gateway.EventType{Name: "often", Schema: []byte("true")})
	other := b
	other.account = b.newAccount(t, "other")
	other.declare(t, gateway.EventType{Name: "often", SingleFire: true})
	asked := []string{"once", "hold", "often", "once", "unknown"}
	b.in(t, func(tx store.Tx) error {
		mine, err := tx.SingleFire(t.Context(), b.account, asked)
		if diff := cmp.Diff(map[string]gateway.OnDoubt{"once": gateway.OnDoubtResend, "hold": gateway.OnDoubtHold}, mine); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		none, err := tx.SingleFire(t.Context(), b.account, nil)
		if len(none) != 0 || err != nil {
			t.Errorf("of no types %v are single-fire, %v", none, err)
		}
		both, err := tx.SingleFireAmong(t.Context(), []store.TypeRef{{b.account, "often"}, {other.account, "often"}, {other.account, "once"}})
		if diff := cmp.Diff(map[store.TypeRef]gateway.OnDoubt{{other.account, "often"}: gateway.OnDoubtResend}, both); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		return nil
	})
	declared, err := b.DeclaredTypes(t.Context(), b.account)
	if len(declared) != 3 || err != nil {
		t.Fatalf("%v %v", declared, err)
	}
	for _, d := range declared {
		if d.SingleFire != (d.Name != "often") || d.HasSchema != (d.Name == "often") || d.Version == 0 {
			t.Errorf("%+v", d)
		}
	}
}
