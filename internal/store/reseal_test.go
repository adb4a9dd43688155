package store_test

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// plainBytes are the columns of bytes that hold nothing sealed: hashes,
// headers, what came in and went out. The keyset is wrapped by the master key.
var plainBytes = []string{
	"alerts.data", "api_keys.hash", "claims.key_hash", "claims.call_hash", "claims.result", "endpoints.headers", "event_types.schema", "event_types.examples", "sessions.hash", "invitations.hash", "keyset.wrapped",
	"password_resets.hash", "recovery_codes.hash", "half_logins.hash", "email_changes.hash", "setup_tokens.hash", "sources.settings", "tries.subject", "facts.subject_hash", "reconciliation_rows.hash",
	"events.key", "events.span", "event_keys.key_hash", "event_keys.body_hash",
	"event_bodies.path", "event_bodies.query", "event_bodies.headers", "event_bodies.body",
	"requests.path", "requests.query", "requests.headers", "requests.body",
	"attempts.request_headers", "attempts.response_headers", "attempts.response_body",
	"relays.request_headers", "relays.response_headers", "relays.response_body",
}

// A column whose values are sealed is sealed anew by a rotation, or what is in
// it is lost some day. So each column of bytes is said to be sealed or not.
func TestEveryColumnOfBytesIsSealedOrPlain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	rows, err := b.pool.Query(t.Context(), `
		SELECT c.relname || '.' || a.attname
		FROM pg_attribute a
		JOIN pg_class c ON c.oid = a.attrelid
		JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE a.atttypid = 'bytea'::regtype
		  AND c.relkind IN ('r', 'p')
		  AND NOT c.relispartition
		  AND NOT a.attisdropped
		  AND n.nspname NOT IN ('pg_catalog', 'information_schema')`)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	sealed := map[string]bool{}
	for _, c := range store.SealedColumns {
		sealed[c.Place()] = true
		if !slices.Contains(columns, c.Place()) {
			t.Errorf("%s (%s) is not there", c.Place(), c.Name)
		}
	}
	for _, column := range columns {
		if known := sealed[column] || slices.Contains(plainBytes, column) || isOthers(column); !known {
			t.Errorf("%s: is it sealed? Then it belongs to store.SealedColumns, else to plainBytes", column)
		}
	}
}

// isOthers tells that a column is River's.
func isOthers(column string) bool { return len(column) > 6 && column[:6] == "river_" }

// newSealed is a bundle whose sealer is known.
func newSealed(t *testing.T) (bundle, *secret.Sealer) {
	t.Helper()
	b := newBundle(t)
	sealer := pgtest.Sealer(t)
	var err error
	if b.Store, err = store.New(b.pool, sealer, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return b, sealer
}

// rotated gives the database a keyset whose fresh key the bundle's own store
// knows nothing of, and returns a store that has it.
func (b bundle) rotated(t *testing.T, sealer *secret.Sealer) *store.Store {
	t.Helper()
	next, err := sealer.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := next.Rewrap()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.pool.Exec(t.Context(), `
		INSERT INTO keyset (wrapped, key_id, rotated_at)
		VALUES ($1, $2, now())
		ON CONFLICT (singleton) DO UPDATE
		SET wrapped = EXCLUDED.wrapped, key_id = EXCLUDED.key_id, rotated_at = now(), resealed_at = NULL`,
		wrapped, int64(next.KeyID())); err != nil {
		t.Fatal(err)
	}
	s, err := store.New(b.pool, next, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sealedWorld is one value in each column that holds sealed ones.
func (b bundle) sealedWorld(t *testing.T) (check func(*testing.T, *store.Store)) {
	t.Helper()
	e, source := b.newEndpoint(t), b.newSource(t)
	b.addSecret(t, e.ID, "endpoint's")
	b.in(t, func(tx store.Tx) error {
		_, err := tx.SetEndpointAuth(t.Context(), b.account, e.ID, gateway.Auth{Kind: gateway.AuthBearer, Header: "Bearer words"})
		return err
	})
	user := b.newUser(t, "ada@example.com").ID
	b.in(t, func(tx store.Tx) error { return granted(tx.BeginTwoStep(t.Context(), user, "codes'")) })
	session, mail := b.newSession(t, user, [32]byte{1}), b.newMail(t, false)
	b.in(t, func(tx store.Tx) error { return b.addSourceSecret(t.Context(), tx, source.ID, b.secret("source's")) })
	if err := b.SetFlash(t.Context(), user, session, store.Flash{Message: []byte("browser's")}); err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, s *store.Store) {
		t.Helper()
		got := map[string]string{}
		note := func(what, value string, err error) {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			got[what] = value
		}
		ours, err := s.EndpointSecrets(t.Context(), b.account, e.ID)
		note("endpoint", ours[0].Value, err)
		target, err := s.EndpointTarget(t.Context(), b.account, e.ID)
		note("authorization", target.Auth.Header, err)
		theirs, err := s.SourceSecrets(t.Context(), b.account, source.ID)
		note("source", theirs[0].Value, err)
		kept, err := s.MailByID(t.Context(), mail)
		note("mail", kept.Body, err)
		message, err := s.TakeFlash(t.Context(), user, session, "")
		note("session", string(message), err)
		key, err := s.StepKey(t.Context(), user)
		note("codes", key.Text, err)
		if diff := cmp.Diff(map[string]string{"codes": "codes'", "endpoint": "endpoint's", "authorization": "Bearer words", "source": "source's", "mail": "body of " + mail.String(), "session": "browser's"}, got); diff != "" {
			t.Error(diff)
		}
	}
}

// sealedWith counts the values that a key has sealed, by their columns.
func (b bundle) sealedWith(t *testing.T, key secret.KeyID) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, place := range []struct{ table, column string }{
		{"endpoint_secrets", "sealed"}, {"endpoints", "auth_sealed"}, {"source_secrets", "sealed"}, {"mails", "body"}, {"sessions", "flash"}, {"users", "step_key"},
	} {
		counts[place.table] = b.count(t, `SELECT count(*) FROM `+place.table+` WHERE substr(`+place.column+`, 1, 5) = $1`, key.Prefix())
	}
	return counts
}

func resealAll(t *testing.T, s *store.Store) (sum store.ResealStep) {
	t.Helper()
	for _, c := range store.SealedColumns {
		step, err := s.Reseal(t.Context(), c, [16]byte{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		sum.Found += step.Found
		sum.Resealed += step.Resealed
		sum.Unsealable += step.Unsealable
	}
	return sum
}

// Each sealed value is opened and sealed with the fresh key alone, and opens as
// before.
func TestReseal(t *testing.T) {
	t.Parallel()
	b, sealer := newSealed(t)
	check := b.sealedWorld(t)
	old := sealer.KeyID()
	s := b.rotated(t, sealer)
	if all, err := s.AllResealed(t.Context()); all || err != nil {
		t.Errorf("all is sealed with the fresh key before: %t, %v", all, err)
	}
	if sum := resealAll(t, s); sum.Found != 6 || sum.Resealed != 6 || sum.Unsealable != 0 {
		t.Errorf("sealed anew: %+v", sum)
	}
	for table, n := range b.sealedWith(t, old) {
		if n != 0 {
			t.Errorf("%d values of %s are still sealed with the old key", n, table)
		}
	}
	if sum := resealAll(t, s); sum.Found != 0 { // twice
		t.Errorf("again: %+v", sum)
	}
	if all, err := s.AllResealed(t.Context()); !all || err != nil {
		t.Errorf("all is sealed with the fresh key: %t, %v", all, err)
	}
	check(t, s)
}

// Of many at once each value is written once, and opens.
func TestResealAtOnce(t *testing.T) {
	t.Parallel()
	b, sealer := newSealed(t)
	e := b.newEndpoint(t)
	want := map[string]bool{}
	for i := range gateway.MaxLiveSecrets {
		value := string(rune('a' + i))
		b.addSecret(t, e.ID, value)
		want[value] = true
	}
	s := b.rotated(t, sealer)
	done, errs := make([]int, poolSize), make([]error, poolSize)
	pgtest.AtOnce(poolSize, func(i int) {
		step, err := s.Reseal(t.Context(), store.SealedColumns[0], [16]byte{}, 100)
		done[i], errs[i] = step.Resealed, err
	})
	wantErrors(t, errs, poolSize, nil)
	sum := 0
	for _, n := range done {
		sum += n
	}
	if rest := resealAll(t, s); sum+rest.Resealed != len(want) {
		t.Errorf("%d values were written, want %d", sum+rest.Resealed, len(want))
	}
	got := map[string]bool{}
	live, err := s.EndpointSecrets(t.Context(), b.account, e.ID)
	for _, one := range live {
		got[one.Value] = true
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("live are %v, %v", got, err)
	}
}

// A value that somebody changes, or has locked, is left as it is: nobody waits.
func TestResealLeavesWhatIsLocked(t *testing.T) {
	t.Parallel()
	b, sealer := newSealed(t)
	e := b.newEndpoint(t)
	held, free := b.addSecret(t, e.ID, "held"), b.addSecret(t, e.ID, "free")
	s := b.rotated(t, sealer)
	tx, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // committed
	if _, err := tx.Exec(t.Context(), `UPDATE endpoint_secrets SET ends_at = now() + interval '1 hour' WHERE id = $1`, held.ID); err != nil {
		t.Fatal(err)
	}
	if step := resealAll(t, s); step.Found != 2 || step.Resealed != 1 {
		t.Errorf("beside a lock: %+v", step)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if step := resealAll(t, s); step.Found != 1 || step.Resealed != 1 {
		t.Errorf("after it: %+v", step)
	}
	live, err := s.EndpointSecrets(t.Context(), b.account, e.ID)
	if err != nil || len(live) != 2 || live[0].ID != free.ID || live[1].EndsAt == nil {
		t.Errorf("live are %+v, %v", live, err)
	}
}

// What opens with no key stays as it is and stops nothing.
func TestResealLeavesWhatDoesNotOpen(t *testing.T) {
	t.Parallel()
	b, sealer := newSealed(t)
	e := b.newEndpoint(t)
	junk := []byte("\x01junk that nobody sealed")
	broken := b.addSecret(t, e.ID, "broken")
	b.addSecret(t, e.ID, "whole")
	b.exec(t, 1, `UPDATE endpoint_secrets SET sealed = $2 WHERE id = $1`, broken.ID, junk)
	s := b.rotated(t, sealer)
	if step := resealAll(t, s); step.Found != 2 || step.Resealed != 1 || step.Unsealable != 1 {
		t.Errorf("%+v", step)
	}
	var left []byte
	if err := b.pool.QueryRow(t.Context(), `SELECT sealed FROM endpoint_secrets WHERE id = $1`, broken.ID).Scan(&left); err != nil || !bytes.Equal(left, junk) {
		t.Errorf("it became %q, %v", left, err)
	}
}

// A pass goes on after the last row of a step.
func TestResealInSteps(t *testing.T) {
	t.Parallel()
	b, sealer := newSealed(t)
	e := b.newEndpoint(t)
	for range 5 {
		b.addSecret(t, e.ID, "s")
	}
	s := b.rotated(t, sealer)
	var after [16]byte
	for _, want := range []int{2, 2, 1, 0} {
		step, err := s.Reseal(t.Context(), store.SealedColumns[0], after, 2)
		if err != nil || step.Found != want || step.Resealed != want {
			t.Fatalf("%+v, %v, want %d", step, err, want)
		}
		after = step.Last
	}
}

func TestResealWithoutSealer(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	blind, err := store.New(b.pool, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blind.Reseal(t.Context(), store.SealedColumns[0], [16]byte{}, 1); err == nil {
		t.Error("something was sealed without a sealer")
	}
}
