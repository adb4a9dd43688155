package store_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// newMember adds a person to an account; their mail address is name@example.com.
func (b bundle) newMember(t *testing.T, account gateway.AccountID, name string, role gateway.Role) gateway.UserID {
	t.Helper()
	id := gateway.UserID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		if err := tx.CreateUser(t.Context(), store.User{ID: id, Email: name + "@example.com", Name: name}, ""); err != nil {
			return err
		}
		return tx.AddMember(t.Context(), account, id, role)
	})
	return id
}

// choose has a member choose these kinds and no others, and returns how many
// choices changed.
func (b bundle) choose(t *testing.T, account gateway.AccountID, user gateway.UserID, kinds ...gateway.AlertKind) (changed int64) {
	t.Helper()
	wanted := make([]bool, len(gateway.AlertKinds))
	for i, kind := range gateway.AlertKinds {
		for _, k := range kinds {
			wanted[i] = wanted[i] || k == kind
		}
	}
	b.in(t, func(tx store.Tx) (err error) {
		changed, err = tx.ChooseAlerts(t.Context(), account, user, gateway.AlertKinds, wanted)
		return err
	})
	return changed
}

// wantRecipients fails unless these people, by their names, are told of a kind.
func (b bundle) wantRecipients(t *testing.T, kind gateway.AlertKind, names ...string) {
	t.Helper()
	var want, got []string
	for _, name := range names {
		want = append(want, name+"@example.com")
	}
	b.in(t, func(tx store.Tx) (err error) {
		got, err = tx.Recipients(t.Context(), b.account, kind)
		return err
	})
	if diff := cmp.Diff(append([]string{}, want...), append([]string{}, got...)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", kind, diff)
	}
}

func TestRecipients(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner := b.newMember(t, b.account, "owner", gateway.RoleOwner)
	b.newMember(t, b.account, "manager", gateway.RoleAdmin)
	member := b.newMember(t, b.account, "member", gateway.RoleViewer)
	other := b.newAccount(t, "other")
	stranger := b.newMember(t, other, "stranger", gateway.RoleOwner)
	b.choose(t, other, stranger, gateway.AlertKinds...)

	for _, kind := range gateway.AlertKinds {
		if kind.ByDefault() {
			b.wantRecipients(t, kind, "owner", "manager")
		} else {
			b.wantRecipients(t, kind)
		}
	}
	if n := b.choose(t, b.account, member, gateway.AlertDeliveryFailed, gateway.AlertEndpointDisabled); n != int64(len(gateway.AlertKinds)) {
		t.Errorf("%d choices", n)
	}
	if n := b.choose(t, b.account, member, gateway.AlertDeliveryFailed, gateway.AlertEndpointDisabled); n != 0 {
		t.Errorf("%d choices changed by the same choice", n)
	}
	b.choose(t, b.account, owner)
	b.wantRecipients(t, gateway.AlertDeliveryFailed, "member")
	b.wantRecipients(t, gateway.AlertEndpointDisabled, "manager", "member")
	b.wantRecipients(t, gateway.AlertEndpointFailing, "manager")

	// Who is no member any more is told nothing.
	b.exec(t, 1, `DELETE FROM members WHERE user_id = $1`, member)
	b.wantRecipients(t, gateway.AlertDeliveryFailed)
	if n := b.count(t, `SELECT count(*) FROM alert_choices WHERE user_id = $1`, member); n != 0 {
		t.Errorf("%d choices of nobody are left", n)
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.ChooseAlerts(t.Context(), b.account, member, gateway.AlertKinds[:1], []bool{true})
		wantErrors(t, []error{err}, 0, gateway.ErrNotFound)
		return nil
	})
}

func TestChoosingAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newMember(t, b.account, "ada", gateway.RoleViewer)
	errs := b.atOnce(t.Context(), poolSize, func(tx store.Tx, i int) error {
		all := make([]bool, len(gateway.AlertKinds))
		for k := range all {
			all[k] = i%2 == 0
		}
		_, err := tx.ChooseAlerts(t.Context(), b.account, user, gateway.AlertKinds, all)
		return err
	})
	wantErrors(t, errs, poolSize, nil)
	choices, err := b.AlertChoices(t.Context(), b.account, user)
	if err != nil || len(choices) != len(gateway.AlertKinds) {
		t.Fatal(choices, err)
	}
	for kind, wanted := range choices {
		if wanted != choices[gateway.AlertKinds[0]] {
			t.Errorf("%s: a choice is made of two: %v", kind, choices)
		}
	}
}

func TestAnAlertIsTakenByOne(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	a := store.Alert{ID: gateway.AlertID(b.clock.NewID()), AccountID: b.account, Type: gateway.TypeEndpointDisabled, Data: []byte(`{}`)}
	b.in(t, func(tx store.Tx) error { return tx.AddAlert(t.Context(), b.account, a) })
	take := func(tx store.Tx, _ int) error {
		got, err := tx.TakeAlert(t.Context(), a.ID)
		if diff := cmp.Diff(a, got); err == nil && diff != "" {
			return fmt.Errorf("taken (-want +got):\n%s", diff)
		}
		return err
	}
	// Who takes it and fails leaves it to the others.
	failed := b.InTx(t.Context(), func(tx store.Tx) error {
		if err := take(tx, 0); err != nil {
			return err
		}
		return errUndo
	})
	wantErrors(t, []error{failed}, 0, errUndo)
	if ids, err := b.Alerts(t.Context(), 10); err != nil || len(ids) != 1 || ids[0] != a.ID {
		t.Errorf("alerts %v, %v", ids, err)
	}
	wantErrors(t, b.atOnce(t.Context(), poolSize, take), 1, gateway.ErrNotFound)
	wantErrors(t, b.atOnce(t.Context(), 1, take), 0, gateway.ErrNotFound)
}

// Each failure in a row is counted by one, so that each crossing is told once
// however many count at the same moment.
func TestEachCrossingIsCountedOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane := b.acquire(t, b.newEndpoint(t).ID, "n")
	const limit = 10
	var crossed [101]atomic.Int32
	for range limit {
		errs := b.atOnce(t.Context(), 20, func(tx store.Tx, _ int) error {
			counted, err := tx.CountFailure(t.Context(), lane, limit)
			crossed[gateway.FailingPercent(counted.Failures, limit)].Add(1)
			if counted.Disabled {
				crossed[100].Add(1)
			}
			if (counted.Failures > 0) == counted.Since.IsZero() {
				return fmt.Errorf("counted %+v", counted)
			}
			return err
		})
		wantErrors(t, errs, 20, nil)
		b.exec(t, 1, `UPDATE endpoints SET failure_counted_at = failure_counted_at - interval '1 s' WHERE id = $1`, lane.EndpointID)
	}
	for _, percent := range []int{50, 70, 90, 100} {
		if n := crossed[percent].Load(); n != 1 {
			t.Errorf("%d %% was told %d times", percent, n)
		}
	}
}

func TestPruneAlerts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for range 2 {
		b.in(t, func(tx store.Tx) error {
			return tx.AddAlert(t.Context(), b.account, store.Alert{ID: gateway.AlertID(b.clock.NewID()), Type: "t", Data: []byte(`{}`)})
		})
	}
	b.exec(t, 1, `UPDATE alerts SET created_at = now() - interval '25 hours' WHERE id = (SELECT id FROM alerts LIMIT 1)`)
	for _, told := range []string{`now() - interval '25 hours', NULL, NULL`, `now(), NULL, NULL`, `now() - interval '25 hours', now(), now()`} {
		b.exec(t, 1, `INSERT INTO failure_digests (endpoint_id, account_id, failed, causes, told_at, since, due_at) SELECT $1, $2, 0, '{}', `+told, b.newEndpoint(t).ID, b.account)
	}
	if err := b.PruneAlerts(t.Context(), 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	if alerts, digests := b.count(t, `SELECT count(*) FROM alerts`), b.count(t, `SELECT count(*) FROM failure_digests`); alerts != 1 || digests != 2 {
		t.Errorf("%d alerts and %d digests are left", alerts, digests)
	}
}

func TestScene(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	other := b.newAccount(t, "other")
	scene := func(account gateway.AccountID, endpoint *gateway.EndpointID) (sc store.Scene) {
		b.in(t, func(tx store.Tx) (err error) {
			sc, err = tx.Scene(t.Context(), account, endpoint)
			return err
		})
		return sc
	}
	if sc := scene(b.account, &e.ID); sc.Account.Slug != "acme" || sc.Endpoint.URL != e.URL || sc.Endpoint.Deleted || sc.Waiting != 0 {
		t.Errorf("%+v", sc)
	}
	if sc := scene(b.account, nil); sc.Account.Name != "Account acme" || sc.Endpoint.URL != "" {
		t.Errorf("%+v", sc)
	}
	if sc := scene(other, &e.ID); sc.Account.Slug != "other" || sc.Endpoint.URL != "" || !sc.Endpoint.Deleted {
		t.Errorf("another account's endpoint: %+v", sc)
	}
}
