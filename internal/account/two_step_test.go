package account_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// authenticator makes codes, as a person's program does.
type authenticator struct{ key string }

// code is the code that is shown after a number of steps.
func (a authenticator) code(t *testing.T, b bundle, steps int) string {
	t.Helper()
	code, err := totp.GenerateCode(a.key, b.clock.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// secured is somebody who has turned two-step log-in on, with the code of this
// step: the one of the next is taken, too.
func (b bundle) secured(t *testing.T, name, email string) (of account.Session, by authenticator, codes []string) {
	t.Helper()
	return b.turnedOn(t, b.create(t, name, email).UserID)
}

// turnedOn is secured of somebody who is there.
func (b bundle) turnedOn(t *testing.T, user gateway.UserID) (of account.Session, by authenticator, codes []string) {
	t.Helper()
	of = b.session(t, b.start(t, user, account.Device{}, ""))
	link, err := b.BeginTwoStep(t.Context(), of, password, here)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	by = authenticator{at.Query().Get("secret")}
	if codes, err = b.TurnTwoStepOn(t.Context(), of, by.code(t, b, 0), here); err != nil {
		t.Fatal(err)
	}
	return of, by, codes
}

// half logs in with the password alone.
func (b bundle) half(t *testing.T, email string, d account.Device) string {
	t.Helper()
	who, err := b.LogIn(t.Context(), account.Credentials{Email: email, Password: password, Address: here})
	if err != nil {
		t.Fatal(err)
	}
	started, err := b.StartSession(t.Context(), who, d, "")
	if err != nil || !started.CodeNeeded {
		t.Fatalf("%+v, %v", started, err)
	}
	b.over(t, "half a log-in", started.Token)
	return started.Token
}

// enter shows a code for half a log-in, from an address of its own.
func (b bundle) enter(t *testing.T, half, code string) (account.Entered, error) {
	t.Helper()
	ip := netip.AddrFrom4([4]byte{198, 51, 100, byte(entered.Add(1))})
	return b.EnterWithCode(t.Context(), half, code, account.Device{Address: ip.String()})
}

var entered atomic.Int64

func TestTwoStepLogIn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com").UserID
	of, elsewhere := b.session(t, b.start(t, ada, account.Device{}, "")), b.start(t, ada, account.Device{}, "")
	if _, err := b.BeginTwoStep(t.Context(), of, "wrong password", here); !errors.Is(err, account.ErrWrongCredentials) {
		t.Errorf("with a wrong password: %v", err)
	}
	if _, err := b.TurnTwoStepOn(t.Context(), of, "123456", here); !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("without a key: %v", err)
	}
	link, err := b.BeginTwoStep(t.Context(), of, password, here)
	if err != nil || !strings.HasPrefix(link, "otpauth://totp/Rowlock%20%28hooks.example.com%29:ada@example.com?") && !strings.HasPrefix(link, "otpauth://totp/Rowlock%20(hooks.example.com):ada@example.com?") {
		t.Fatalf("%q, %v", link, err)
	}
	at, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	by := authenticator{at.Query().Get("secret")}
	if n := b.text(t, `SELECT count(*)::text FROM users WHERE position($1::bytea IN step_key) > 0`, []byte(by.key)); n != "0" || len(by.key) != 32 {
		t.Errorf("a key of %d characters lies open in the database", len(by.key))
	}
	// It does not count before a code has confirmed it.
	if err := b.logIn(t, "ada@example.com", password, here); err != nil {
		t.Fatal(err)
	}
	elsewhereToo := b.start(t, ada, account.Device{}, "")
	for _, wrong := range []string{"", "123", "abcdef", by.code(t, b, 10), by.code(t, b, -10)} {
		if _, err := b.TurnTwoStepOn(t.Context(), of, wrong, here); !errors.Is(err, account.ErrWrongCode) {
			t.Errorf("with %q: %v", wrong, err)
		}
	}
	code := by.code(t, b, 0)
	codes, err := b.TurnTwoStepOn(t.Context(), of, " "+code[:3]+" "+code[3:], here)
	if err != nil || len(codes) != account.RecoveryCodes {
		t.Fatalf("%d codes, %v", len(codes), err)
	}
	b.over(t, "a session from before", elsewhere)
	b.over(t, "another one", elsewhereToo)
	if got, err := b.TwoStep(t.Context(), ada); err != nil || got.OnAt == nil || got.Codes != account.RecoveryCodes {
		t.Errorf("%+v, %v", got, err)
	}
	if _, body := b.mailTo(t, "ada@example.com"); !strings.Contains(body, "a code is asked for") || strings.Contains(body, by.key) || strings.Contains(body, codes[0]) {
		t.Errorf("the mail says %q", body)
	}
	if got := b.text(t, `SELECT action || ' ' || detail FROM audit_log WHERE action ~ '^login[.](two_step|recovery)' AND account_id IS NOT NULL`); got != "login.two_step_on ada@example.com" {
		t.Errorf("audited is %q", got)
	}
	half := b.half(t, "ada@example.com", account.Device{Keep: true, Address: here})
	if _, err := b.enter(t, half, code); !errors.Is(err, account.ErrUsedCode) {
		t.Errorf("with the code that has turned it on: %v", err)
	}
	if n := b.text(t, `SELECT count(*)::text FROM audit_log WHERE action = 'login.half' AND account_id IS NOT NULL`); n != "1" {
		t.Errorf("a right password without a code is in the audit log %s times", n)
	}
	in, err := b.enter(t, half, by.code(t, b, 1))
	if err != nil || !in.Keep || in.CodesLeft != nil {
		t.Fatalf("%+v, %v", in, err)
	}
	if s := b.session(t, in.Token); s.Person.ID != ada || !s.Keep || !s.TwoStep {
		t.Errorf("the session is %+v", s)
	}
}

// A code that let somebody in is refused to everybody who comes with it, later or
// at once, and half a log-in becomes one session.
func TestACodeLetsInOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	_, by, codes := b.secured(t, "Acme", "ada@example.com")
	code := by.code(t, b, 1)
	var halves []string
	for range 4 {
		halves = append(halves, b.half(t, "ada@example.com", account.Device{}))
	}
	got := tally(atOnce(4, func(i int) error { _, err := b.enter(t, halves[i], code); return err }), account.ErrUsedCode)
	if got[nil] != 1 || got[account.ErrUsedCode] != 3 {
		t.Errorf("at once: %v", got)
	}
	half := b.half(t, "ada@example.com", account.Device{})
	if _, err := b.enter(t, half, code); !errors.Is(err, account.ErrUsedCode) {
		t.Errorf("again: %v", err)
	}
	// A recovery code, as it is typed, is no better.
	halves = []string{half, b.half(t, "ada@example.com", account.Device{}), b.half(t, "ada@example.com", account.Device{})}
	got = tally(atOnce(3, func(i int) error {
		_, err := b.enter(t, halves[i], " "+strings.ToUpper(strings.ReplaceAll(codes[3], "-", " ")))
		return err
	}), account.ErrWrongCode)
	if got[nil] != 1 || got[account.ErrWrongCode] != 2 {
		t.Errorf("a recovery code at once: %v", got)
	}
	in, err := b.enter(t, b.half(t, "ada@example.com", account.Device{}), codes[4])
	if err != nil || *in.CodesLeft != account.RecoveryCodes-2 {
		t.Errorf("%+v, %v", in, err)
	}
	if n := b.text(t, `SELECT count(*)::text FROM audit_log WHERE action = 'login.start' AND detail = 'with a recovery code' AND account_id IS NOT NULL`); n != "2" {
		t.Errorf("%s log-ins with a recovery code are in the audit log, want 2", n)
	}
	if _, body := b.mailTo(t, "ada@example.com"); !strings.Contains(body, "You have 8 left") {
		t.Errorf("the mail says %q", body)
	}
	// Half a log-in is used up, whoever has the next code.
	half = b.half(t, "ada@example.com", account.Device{})
	got = tally(atOnce(3, func(i int) error { _, err := b.enter(t, half, codes[5+i]); return err }), gateway.ErrNotFound)
	if got[nil] != 1 || got[gateway.ErrNotFound] != 2 {
		t.Errorf("half a log-in at once: %v", got)
	}
	if state, err := b.TwoStep(t.Context(), b.session(t, in.Token).Person.ID); err != nil || state.Codes != 7 {
		t.Errorf("codes of log-ins that were over are used up: %+v, %v", state, err)
	}
}

// Half a log-in is bound to a token, lasts some minutes, and ends with the
// password that it was begun with.
func TestHalfALogInEnds(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	of, _, codes := b.secured(t, "Acme", "ada@example.com")
	for _, wrong := range []string{"", "made up"} {
		if _, err := b.enter(t, wrong, codes[0]); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("the token %q: %v", wrong, err)
		}
	}
	late := b.half(t, "ada@example.com", account.Device{})
	if left := b.text(t, `SELECT (ends_at - now() BETWEEN interval '9 minutes' AND interval '10 minutes')::text FROM half_logins`); left != "true" {
		t.Error("it does not last for ten minutes")
	}
	b.exec(t, `UPDATE half_logins SET ends_at = now()`)
	if _, err := b.enter(t, late, codes[0]); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("late: %v", err)
	}
	if err := b.Prune(t.Context()); err != nil || b.text(t, `SELECT count(*)::text FROM half_logins`) != "0" {
		t.Errorf("it is kept: %v", err)
	}
	before := b.half(t, "ada@example.com", account.Device{})
	if _, err := b.ChangePassword(t.Context(), of, password, newPassword, account.Device{Address: here}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.enter(t, before, codes[0]); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("after a new password: %v", err)
	}
}

// A new password by a link in a mail does not do without the code.
func TestAResetAsksForTheCode(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	of, _, codes := b.secured(t, "Acme", "ada@example.com")
	if err := b.RequestReset(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	link, _ := b.mailed(t, "ada@example.com")
	if err := b.Reset(t.Context(), link, newPassword); err != nil {
		t.Fatal(err)
	}
	who, err := b.LogIn(t.Context(), account.Credentials{Email: "ada@example.com", Password: newPassword, Address: here})
	if err != nil {
		t.Fatal(err)
	}
	started, err := b.StartSession(t.Context(), who, account.Device{}, "")
	if err != nil || !started.CodeNeeded {
		t.Fatalf("%+v, %v", started, err)
	}
	if in, err := b.enter(t, started.Token, codes[0]); err != nil || b.session(t, in.Token).Person.ID != of.Person.ID {
		t.Errorf("with a code: %v", err)
	}
}

// Codes are guessed as rarely as passwords, and the right one is refused then.
func TestCodesAreBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	_, by, codes := b.secured(t, "Acme", "ada@example.com")
	half := b.half(t, "ada@example.com", account.Device{})
	enter := func(code, from string) error {
		_, err := b.EnterWithCode(t.Context(), half, code, account.Device{Address: from})
		return err
	}
	locked := func(err error) bool { _, ok := errors.AsType[*account.LockedError](err); return ok }
	for range account.PairTries {
		if err := enter(by.code(t, b, 10), here); !errors.Is(err, account.ErrWrongCode) {
			t.Fatal(err)
		}
	}
	if err := enter(by.code(t, b, 1), here); !locked(err) {
		t.Errorf("the right one after that: %v", err)
	}
	for i := range account.CodeTries - account.PairTries {
		if err := enter("wrong", "198.51.100."+string(rune('1'+i))); !errors.Is(err, account.ErrWrongCode) {
			t.Fatal(err)
		}
	}
	if err := enter(codes[0], "198.51.100.99"); !locked(err) {
		t.Errorf("from elsewhere: %v", err)
	}
	b.exec(t, `UPDATE tries SET ends_at = now()`)
	if err := enter(codes[0], here); err != nil {
		t.Errorf("once the time is over: %v", err)
	}
	if n := b.text(t, `SELECT count(*)::text FROM tries WHERE address = $1`, here); n != "0" {
		t.Error("the client's wrong ones count after a right one")
	}
}

// Turning it off, and making new codes, takes the password, and is done once.
func TestTurningTwoStepOff(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	of, by, codes := b.secured(t, "Acme", "ada@example.com")
	if _, err := b.NewRecoveryCodes(t.Context(), of, "wrong password", here); !errors.Is(err, account.ErrWrongCredentials) {
		t.Errorf("codes with a wrong password: %v", err)
	}
	fresh, err := b.NewRecoveryCodes(t.Context(), of, password, here)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.enter(t, b.half(t, "ada@example.com", account.Device{}), codes[0]); !errors.Is(err, account.ErrWrongCode) {
		t.Errorf("a code from before: %v", err)
	}
	half := b.half(t, "ada@example.com", account.Device{})
	if err := b.TurnTwoStepOff(t.Context(), of, "wrong password", here); !errors.Is(err, account.ErrWrongCredentials) {
		t.Errorf("off with a wrong password: %v", err)
	}
	got := tally(atOnce(3, func(int) error { return b.TurnTwoStepOff(t.Context(), of, password, here) }), gateway.ErrStateChanged)
	if got[nil] != 1 || got[gateway.ErrStateChanged] != 2 {
		t.Errorf("off at once: %v", got)
	}
	for _, code := range []string{fresh[0], by.code(t, b, 1)} {
		if _, err := b.enter(t, half, code); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("with a code of then: %v", err)
		}
	}
	b.start(t, of.Person.ID, account.Device{}, "")
	if _, err := b.NewRecoveryCodes(t.Context(), of, password, here); !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("codes while it is off: %v", err)
	}
	if _, body := b.mailTo(t, "ada@example.com"); !strings.Contains(body, "password alone lets you in") {
		t.Errorf("the mail says %q", body)
	}
	if got := b.text(t, `SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log WHERE action ~ '^login[.](two_step|recovery)' AND account_id IS NOT NULL`); got != "login.two_step_on login.recovery_codes login.two_step_off" {
		t.Errorf("audited is %s", got)
	}
}

// Who holds the database turns it off for who has lost everything.
func TestEndTwoStep(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	of, _, _ := b.secured(t, "Acme", "ada@example.com")
	for email, want := range map[string]error{"eve@example.com": gateway.ErrNotFound, "ADA@example.com": nil} {
		if err := b.EndTwoStep(t.Context(), email); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", email, err, want)
		}
	}
	if err := b.EndTwoStep(t.Context(), "ada@example.com"); !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("again: %v", err)
	}
	if err := b.EndTwoStep(t.Context(), "nobody"); err == nil || errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("no address: %v", err)
	}
	b.start(t, of.Person.ID, account.Device{}, "")
	if got := b.text(t, `SELECT actor FROM audit_log WHERE action = 'login.two_step_off'`); got != string(gateway.ActorRowlock) {
		t.Errorf("it was done by %s", got)
	}
}

// An owner who requires two-step log-in has those told by mail who are shut out by
// it, once, and nobody else.
func TestRequireTwoStep(t *testing.T) {
	t.Parallel()
	n := newTeam(t, newBundle(t))
	n.joined(t, "bob", gateway.RoleViewer)
	of, _, _ := n.turnedOn(t, n.owner)
	before, _ := n.mailTo(t, "owner@example.com")
	got := tally(atOnce(3, func(int) error { return n.RequireTwoStep(t.Context(), n.Account, of, true) }), gateway.ErrStateChanged)
	if got[nil] != 1 || got[gateway.ErrStateChanged] != 2 {
		t.Errorf("at once: %v", got)
	}
	if mails, body := n.mailTo(t, "bob@example.com"); mails != 1 || !strings.Contains(body, "two-step log-in required in “Acme”") || !strings.Contains(body, baseURL+"/me/two-step\n") {
		t.Errorf("%d mails to who is shut out: %s", mails, body)
	}
	if err := n.RequireTwoStep(t.Context(), n.Account, of, false); err != nil {
		t.Error(err)
	}
	if mails, _ := n.mailTo(t, "bob@example.com"); mails != 1 {
		t.Errorf("%d mails after it was made optional, want 1", mails)
	}
	if after, _ := n.mailTo(t, "owner@example.com"); after != before {
		t.Error("who has it on is written to")
	}
	if got := n.text(t, `SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log WHERE action LIKE 'account.two%'`); got != "account.two_step_required account.two_step_optional" {
		t.Errorf("audited is %s", got)
	}
	people, err := n.Members(t.Context(), n.ID, store.Page[gateway.UserID]{Limit: 9})
	if err != nil || len(people) != 2 || people[0].TwoStep || !people[1].TwoStep {
		t.Errorf("members are %+v, %v", people, err)
	}
}

// Who has taken over a session cannot guess the code that a key waits for, and
// have it counted.
func TestTheFirstCodeIsNotGuessed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	of := b.session(t, b.start(t, b.create(t, "Acme", "ada@example.com").UserID, account.Device{}, ""))
	link, err := b.BeginTwoStep(t.Context(), of, password, here)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	by := authenticator{at.Query().Get("secret")}
	for i := range account.PairTries {
		if _, err := b.TurnTwoStepOn(t.Context(), of, by.code(t, b, 10+i), here); !errors.Is(err, account.ErrWrongCode) {
			t.Fatalf("wrong code %d: %v", i+1, err)
		}
	}
	if _, err := b.TurnTwoStepOn(t.Context(), of, by.code(t, b, 0), here); !isLocked(err) {
		t.Errorf("after too many: %v, want LockedError", err)
	}
	b.exec(t, `UPDATE tries SET ends_at = now()`)
	if _, err := b.TurnTwoStepOn(t.Context(), of, by.code(t, b, 0), here); err != nil {
		t.Errorf("after the window: %v", err)
	}
}

// A code is read before the transaction that uses it, so that people who log in at
// once do not wait for each other's connections.
func TestACodeNeedsOneConnection(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	_, by, _ := b.secured(t, "Acme", "ada@example.com")
	half := b.half(t, "ada@example.com", account.Device{})
	pool, err := store.Connect(t.Context(), b.pool.Config().ConnString(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if b.store, err = store.New(pool, b.sealer, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	narrow := b.as(config.SignupOpen)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := narrow.EnterWithCode(ctx, half, by.code(t, b, 1), account.Device{Address: here}); err != nil {
		t.Error(err)
	}
}
