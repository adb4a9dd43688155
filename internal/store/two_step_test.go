package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// twoStep is a person who has turned two-step log-in on, with the code of a step.
func (b bundle) twoStep(t *testing.T, email string, step int64) (gateway.UserID, store.StepKey) {
	t.Helper()
	user := b.newUser(t, email).ID
	b.in(t, func(tx store.Tx) error { return granted(tx.BeginTwoStep(t.Context(), user, "key of "+email)) })
	key := b.stepKey(t, user)
	b.in(t, func(tx store.Tx) error { return granted(tx.TurnTwoStepOn(t.Context(), user, key, step)) })
	return user, key
}

func (b bundle) stepKey(t *testing.T, user gateway.UserID) store.StepKey {
	t.Helper()
	key, err := b.StepKey(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

var errRefused = errors.New("refused")

// granted makes an error of a guard that says no.
func granted(ok bool, err error) error {
	if err == nil && !ok {
		return errRefused
	}
	return err
}

// A key counts from its first code on, once, and is not replaced then.
func TestTurningTwoStepOn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	if _, err := b.StepKey(t.Context(), user); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("before any: %v", err)
	}
	var keys []store.StepKey
	for _, text := range []string{"first", "second"} {
		b.in(t, func(tx store.Tx) error { return granted(tx.BeginTwoStep(t.Context(), user, text)) })
		if keys = append(keys, b.stepKey(t, user)); keys[len(keys)-1].Text != text {
			t.Errorf("the key is %q", keys[len(keys)-1].Text)
		}
	}
	turnOn := func(key store.StepKey) func(store.Tx, int) error {
		return func(tx store.Tx, _ int) error { return granted(tx.TurnTwoStepOn(t.Context(), user, key, 7)) }
	}
	wantErrors(t, b.atOnce(t.Context(), 1, turnOn(keys[0])), 0, errRefused) // it was replaced
	if state, err := b.TwoStep(t.Context(), user); err != nil || state.OnAt != nil || !state.Begun {
		t.Errorf("begun: %+v, %v", state, err)
	}
	wantErrors(t, b.atOnce(t.Context(), 4, turnOn(keys[1])), 1, errRefused)
	wantErrors(t, b.atOnce(t.Context(), 1, turnOn(keys[1])), 0, errRefused)
	wantErrors(t, b.atOnce(t.Context(), 2, func(tx store.Tx, _ int) error {
		return granted(tx.BeginTwoStep(t.Context(), user, "third"))
	}), 0, errRefused)
	if state, err := b.TwoStep(t.Context(), user); err != nil || state.OnAt == nil || b.stepKey(t, user).Text != "second" {
		t.Errorf("on: %+v, %v", state, err)
	}
}

// A code lets in once, however many come with it at once, and none from before
// it does.
func TestAStepIsUsedOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user, key := b.twoStep(t, "ada@example.com", 7)
	other, _ := b.twoStep(t, "bob@example.com", 7)
	use := func(user gateway.UserID, key store.StepKey, step int64) func(store.Tx, int) error {
		return func(tx store.Tx, _ int) error {
			_, used, err := tx.UseStep(t.Context(), user, key, step)
			return granted(used, err)
		}
	}
	wantErrors(t, b.atOnce(t.Context(), 2, use(user, key, 7)), 0, errRefused) // it has turned it on
	wantErrors(t, b.atOnce(t.Context(), 6, use(user, key, 8)), 1, errRefused)
	for _, step := range []int64{8, 7, 0} {
		wantErrors(t, b.atOnce(t.Context(), 2, use(user, key, step)), 0, errRefused)
	}
	wantErrors(t, b.atOnce(t.Context(), 1, use(other, key, 9)), 0, errRefused) // another person's key
	wantErrors(t, b.atOnce(t.Context(), 1, use(user, key, 9)), 1, errRefused)
}

func TestARecoveryCodeIsUsedOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user, _ := b.twoStep(t, "ada@example.com", 7)
	other, _ := b.twoStep(t, "bob@example.com", 7)
	b.in(t, func(tx store.Tx) error {
		return granted(tx.ReplaceRecoveryCodes(t.Context(), user, [][32]byte{{1}, {2}, {3}}))
	})
	use := func(user gateway.UserID, code byte) func(store.Tx, int) error {
		return func(tx store.Tx, _ int) error {
			_, left, used, err := tx.UseRecoveryCode(t.Context(), user, [32]byte{code})
			if used && left != 2 {
				t.Errorf("%d are left, want 2", left)
			}
			return granted(used, err)
		}
	}
	wantErrors(t, b.atOnce(t.Context(), 1, use(other, 1)), 0, errRefused)
	wantErrors(t, b.atOnce(t.Context(), 6, use(user, 1)), 1, errRefused)
	wantErrors(t, b.atOnce(t.Context(), 2, use(user, 1)), 0, errRefused)
	if state, err := b.TwoStep(t.Context(), user); err != nil || state.Codes != 2 {
		t.Errorf("%+v, %v", state, err)
	}
}

// Codes that are made at once are those of one who makes them, whole.
func TestRecoveryCodesAreReplacedWhole(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user, _ := b.twoStep(t, "ada@example.com", 7)
	off := b.newUser(t, "bob@example.com").ID
	wantErrors(t, b.atOnce(t.Context(), 4, func(tx store.Tx, i int) error {
		first := byte(10 * i)
		return granted(tx.ReplaceRecoveryCodes(t.Context(), user, [][32]byte{{first}, {first + 1}, {first + 2}}))
	}), 4, nil)
	if n := b.count(t, `SELECT count(DISTINCT get_byte(hash, 0) / 10) * 10 + count(*) FROM recovery_codes WHERE user_id = $1`, user); n != 13 {
		t.Errorf("sets and codes: %d, want one set of 3", n)
	}
	wantErrors(t, b.atOnce(t.Context(), 1, func(tx store.Tx, _ int) error {
		return granted(tx.ReplaceRecoveryCodes(t.Context(), off, [][32]byte{{99}}))
	}), 0, errRefused)
}

func TestTurningTwoStepOff(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user, key := b.twoStep(t, "ada@example.com", 7)
	b.in(t, func(tx store.Tx) error { return granted(tx.ReplaceRecoveryCodes(t.Context(), user, [][32]byte{{1}})) })
	turnOff := func(tx store.Tx, _ int) error { return granted(tx.TurnTwoStepOff(t.Context(), user)) }
	wantErrors(t, b.atOnce(t.Context(), 4, turnOff), 1, errRefused)
	wantErrors(t, b.atOnce(t.Context(), 1, turnOff), 0, errRefused)
	if state, err := b.TwoStep(t.Context(), user); err != nil || state != (store.TwoStep{}) {
		t.Errorf("%+v, %v", state, err)
	}
	wantErrors(t, b.atOnce(t.Context(), 1, func(tx store.Tx, _ int) error {
		_, step, stepErr := tx.UseStep(t.Context(), user, key, 99)
		_, _, code, codeErr := tx.UseRecoveryCode(t.Context(), user, [32]byte{1})
		return granted(step || code, errors.Join(stepErr, codeErr))
	}), 0, errRefused)
}

// The password alone begins a half log-in, which becomes one session.
func TestHalfLogins(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user, _ := b.twoStep(t, "ada@example.com", 7)
	without := b.newUser(t, "bob@example.com").ID
	session := func(user gateway.UserID, coded bool) func(store.Tx, int) error {
		return func(tx store.Tx, i int) error {
			return granted(tx.CreateSession(t.Context(), store.NewSession{
				ID: gateway.SessionID(b.clock.NewID()), User: user, PasswordHash: "hash", Hash: [32]byte{byte(i), user[15], 9}, Coded: coded, Idle: time.Hour, Longest: time.Hour,
			}))
		}
	}
	half := func(user gateway.UserID, hash byte, lives time.Duration) func(store.Tx, int) error {
		return func(tx store.Tx, _ int) error {
			return granted(tx.CreateHalfLogin(t.Context(), store.NewHalfLogin{Hash: [32]byte{hash}, User: user, PasswordHash: "hash", Keep: true, Lives: lives}))
		}
	}
	wantErrors(t, b.atOnce(t.Context(), 1, session(user, false)), 0, errRefused)
	wantErrors(t, b.atOnce(t.Context(), 1, session(user, true)), 1, errRefused)
	wantErrors(t, b.atOnce(t.Context(), 1, session(without, false)), 1, errRefused)
	wantErrors(t, b.atOnce(t.Context(), 1, half(without, 1, time.Hour)), 0, errRefused)
	wantErrors(t, b.atOnce(t.Context(), 1, half(user, 2, time.Hour)), 1, errRefused)
	wantErrors(t, b.atOnce(t.Context(), 1, half(user, 3, 0)), 1, errRefused)
	if found, err := b.HalfLogin(t.Context(), [32]byte{2}); err != nil || found.User != user || found.Email != "ada@example.com" || !found.Keep {
		t.Errorf("%+v, %v", found, err)
	}
	use := func(user gateway.UserID, hash byte) func(store.Tx, int) error {
		return func(tx store.Tx, _ int) error { return tx.UseHalfLogin(t.Context(), [32]byte{hash}, user) }
	}
	wantErrors(t, b.atOnce(t.Context(), 1, use(without, 2)), 0, gateway.ErrNotFound)
	wantErrors(t, b.atOnce(t.Context(), 5, use(user, 2)), 1, gateway.ErrNotFound)
	for _, hash := range []byte{2, 3} { // used, and over
		wantErrors(t, b.atOnce(t.Context(), 1, use(user, hash)), 0, gateway.ErrNotFound)
		if _, err := b.HalfLogin(t.Context(), [32]byte{hash}); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%d is found: %v", hash, err)
		}
	}
}

// While two-step log-in is turned on, no session begins without a code: it waits
// for the row, and finds it on.
func TestNoSessionSlipsThroughWhileItIsTurnedOn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	b.in(t, func(tx store.Tx) error { return granted(tx.BeginTwoStep(t.Context(), user, "key")) })
	key := b.stepKey(t, user)
	var made bool
	err := b.whileWaiting(t, func(tx store.Tx) error {
		return granted(tx.TurnTwoStepOn(t.Context(), user, key, 7))
	}, func(tx store.Tx) (err error) {
		made, err = tx.CreateSession(t.Context(), store.NewSession{ID: gateway.SessionID(b.clock.NewID()), User: user, PasswordHash: "hash", Hash: [32]byte{1}, Idle: time.Hour, Longest: time.Hour})
		return err
	}, func(tx store.Tx) error {
		_, err := tx.EndSessions(t.Context(), user, gateway.SessionID{})
		return err
	})
	if err != nil || made {
		t.Errorf("a session was made: %t, %v", made, err)
	}
}

// An owner who has it turned on requires it, and of many at once one changes it.
func TestRequiringTwoStep(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner, _ := b.twoStep(t, "owner@example.com", 7)
	admin, _ := b.twoStep(t, "admin@example.com", 7)
	stranger, _ := b.twoStep(t, "stranger@example.com", 7)
	without := b.newMember(t, b.account, "without", gateway.RoleOwner)
	other := b.newAccount(t, "other")
	b.in(t, func(tx store.Tx) error {
		return errors.Join(tx.AddMember(t.Context(), b.account, owner, gateway.RoleOwner),
			tx.AddMember(t.Context(), b.account, admin, gateway.RoleAdmin), tx.AddMember(t.Context(), other, stranger, gateway.RoleOwner))
	})
	require := func(by gateway.UserID, required bool) func(store.Tx, int) error {
		return func(tx store.Tx, _ int) error {
			return granted(tx.RequireTwoStep(t.Context(), b.account, by, required))
		}
	}
	for _, by := range []gateway.UserID{admin, stranger, without} {
		wantErrors(t, b.atOnce(t.Context(), 1, require(by, true)), 0, errRefused)
	}
	wantErrors(t, b.atOnce(t.Context(), 4, require(owner, true)), 1, errRefused)
	m, err := b.Membership(t.Context(), b.account, admin)
	if err != nil || !m.TwoStepRequired {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := b.Membership(t.Context(), other, stranger); err != nil || m.TwoStepRequired {
		t.Errorf("another account: %+v, %v", m, err)
	}
	wantErrors(t, b.atOnce(t.Context(), 1, require(owner, true)), 0, errRefused)
	wantErrors(t, b.atOnce(t.Context(), 4, require(without, false)), 1, errRefused)
}
