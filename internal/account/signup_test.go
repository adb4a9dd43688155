package account_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// modes are all who may sign up, with what a stranger is told when the
// instance has an owner.
var modes = map[config.Signup]error{
	config.SignupOpen: nil, config.SignupInvite: account.ErrInviteNeeded, config.SignupClosed: account.ErrSignupClosed,
}

func person(name string) account.SignUp {
	return account.SignUp{Name: name, Email: name + "@example.com", Password: password, Account: name + "'s"}
}

// signUp is one who must be let in.
func (b bundle) signUp(t *testing.T, in account.SignUp) gateway.UserID {
	t.Helper()
	who, err := b.SignUp(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return who.User
}

// setup makes the token of a set-up link.
func (b bundle) setup(t *testing.T) string {
	t.Helper()
	token, err := b.SetupToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// rows counts what a sign-up makes: people, accounts, members, sources, keys
// and owners of the instance.
func (b bundle) rows(t *testing.T) string {
	t.Helper()
	return b.text(t, `
		SELECT concat_ws(' ', (SELECT count(*) FROM users), (SELECT count(*) FROM accounts), (SELECT count(*) FROM members),
		       (SELECT count(*) FROM sources), (SELECT count(*) FROM api_keys), (SELECT count(*) FROM instance_owner))`)
}

func TestSignUp(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	in := account.SignUp{Name: " Ada ", Email: "Ada@Example.com", Password: password, Account: " Acme, Inc. ", Local: true}
	id := b.signUp(t, in)
	if got := b.rows(t); got != "1 1 1 1 0 1" {
		t.Errorf("rows: %s; want a person with an account, the built-in source, and no key", got)
	}
	accounts, err := b.Accounts(t.Context(), id)
	if err != nil || len(accounts) != 1 {
		t.Fatalf("accounts %v, %v", accounts, err)
	}
	if a := accounts[0]; a.Account.Name != "Acme, Inc." || a.Account.Slug != "acme-inc" || a.Role != gateway.RoleOwner {
		t.Errorf("account %+v", a)
	}
	if entry := b.text(t, `SELECT concat_ws(' ', actor, action, object) FROM audit_log`); entry != fmt.Sprint(id, " account.create ", accounts[0].Account.ID) {
		t.Errorf("audit log: %s", entry)
	}
	if who, err := b.LogIn(t.Context(), account.Credentials{Email: "ADA@example.com", Password: password, Address: here}); who.User != id || err != nil {
		t.Errorf("log-in: %s, %v; want %s", who.User, err, id)
	}
}

func TestSignUpRefusesFields(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	_, err := b.SignUp(t.Context(), account.SignUp{Name: "a\nb", Email: "nobody", Password: "elevenchars", Account: " ", Local: true})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("%v, want four errors", err)
	}
	var fields []string
	for _, one := range joined.Unwrap() {
		if invalid, ok := errors.AsType[*gateway.InvalidError](one); ok {
			fields = append(fields, invalid.Field)
		}
	}
	if diff := cmp.Diff([]string{"name", "email", "password", "account"}, fields); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(err.Error(), "elevenchars") {
		t.Error("the error repeats the password")
	}
	for _, given := range []string{"", strings.Repeat("x", 1025)} {
		in := person("ada")
		in.Password, in.Local = given, true
		if _, err := b.SignUp(t.Context(), in); err == nil || !strings.HasPrefix(err.Error(), "password: ") {
			t.Errorf("a password of %d bytes: %v", len(given), err)
		}
	}
	if got := b.rows(t); got != "0 0 0 0 0 0" {
		t.Errorf("rows left: %s", got)
	}
}

// The first person needs the set-up link unless they sit at the server, in
// every mode; it works once, and all others end with it.
func TestFirstSignUp(t *testing.T) {
	t.Parallel()
	for mode, later := range modes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			b := newBundle(t).as(mode)
			token, other := b.setup(t), b.setup(t)
			for _, wrong := range []string{"", "wrong", strings.ToUpper(token)} {
				in := person("eve")
				in.Setup = wrong
				if _, err := b.SignUp(t.Context(), in); !errors.Is(err, account.ErrSetupNeeded) {
					t.Errorf("set-up token %q: %v, want ErrSetupNeeded", wrong, err)
				}
			}
			in := person("ada")
			in.Setup = token
			id := b.signUp(t, in)
			if got := b.text(t, `SELECT user_id::text FROM instance_owner`); got != b.text(t, `SELECT $1::uuid::text`, id) {
				t.Errorf("the owner is %s", got)
			}
			if n := b.text(t, `SELECT count(*)::text FROM setup_tokens`); n != "0" {
				t.Errorf("%s set-up tokens are left", n)
			}
			for _, used := range []string{token, other} {
				in := person("eve" + used[:4])
				in.Setup = used
				if _, err := b.SignUp(t.Context(), in); !errors.Is(err, later) {
					t.Errorf("a set-up token after the first: %v, want %v", err, later)
				}
			}
			if state, err := b.SignupState(t.Context()); err != nil || state != (account.SignupState{HasOwner: true, Mode: mode}) {
				t.Errorf("state %+v, %v", state, err)
			}
			if token := b.setup(t); token != "" {
				t.Error("a set-up link for an instance with an owner")
			}
		})
	}
}

// Of several who sign up first at once, one becomes the owner, and the others
// are judged as anybody who comes later. Who is refused leaves nothing.
func TestFirstSignUpsAtOnce(t *testing.T) {
	t.Parallel()
	const people = 5
	for mode, later := range modes {
		for _, how := range []string{"at the server", "by one link", "by links of their own"} {
			t.Run(string(mode)+" "+how, func(t *testing.T) {
				t.Parallel()
				b := newBundle(t).as(mode)
				shared := b.setup(t)
				inputs := make([]account.SignUp, people)
				for i := range inputs {
					inputs[i] = person(fmt.Sprintf("ada%d", i))
					switch how {
					case "at the server":
						inputs[i].Local = true
					case "by one link":
						inputs[i].Setup = shared
					default:
						inputs[i].Setup = b.setup(t)
					}
				}
				errs := atOnce(people, func(i int) error {
					_, err := b.SignUp(t.Context(), inputs[i])
					return err
				})
				want := map[error]int{nil: 1, later: people - 1}
				rows := "1 1 1 1 0 1"
				if later == nil {
					want, rows = map[error]int{nil: people}, fmt.Sprintf("%[1]d %[1]d %[1]d %[1]d 0 1", people)
				}
				if diff := cmp.Diff(want, tally(errs, account.ErrInviteNeeded, account.ErrSignupClosed)); diff != "" {
					t.Error(diff)
				}
				if got := b.rows(t); got != rows {
					t.Errorf("rows: %s, want %s", got, rows)
				}
			})
		}
	}
}

func TestCreatingAnAccountEndsSetupLinks(t *testing.T) {
	t.Parallel()
	b := newBundle(t).as(config.SignupClosed)
	in := person("eve")
	in.Setup = b.setup(t)
	b.create(t, "Acme", "ada@example.com")
	if _, err := b.SignUp(t.Context(), in); !errors.Is(err, account.ErrSignupClosed) {
		t.Errorf("%v, want ErrSignupClosed", err)
	}
	if n := b.text(t, `SELECT count(*)::text FROM setup_tokens`); n != "0" {
		t.Errorf("%s set-up tokens are left", n)
	}
}

func TestTakenEmailCannotSignUp(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	in := person("ada")
	in.Email = "ADA@example.com"
	if _, err := b.SignUp(t.Context(), in); !errors.Is(err, gateway.ErrEmailTaken) {
		t.Errorf("%v, want ErrEmailTaken", err)
	}
	if got := b.rows(t); got != "1 1 1 1 1 1" {
		t.Errorf("rows: %s, want those of the first", got)
	}
}

// A set-up link that ends while somebody signs up with it lets nobody in: what
// was looked up before decides nothing.
func TestASetupLinkEndsMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	in := person("ada")
	in.Setup = b.setup(t)
	other := store.User{ID: gateway.UserID(b.clock.NewID()), Email: "bob@example.com", Name: "Bob"}
	signedUp := make(chan error, 1)
	takenBack := errors.New("taken back")
	err := b.store.InTx(t.Context(), func(tx store.Tx) error {
		if err := tx.CreateUser(t.Context(), other, ""); err != nil {
			return err
		}
		if _, err := tx.ClaimInstance(t.Context(), other.ID); err != nil {
			return err
		}
		go func() {
			_, err := b.SignUp(t.Context(), in)
			signedUp <- err
		}()
		pgtest.Until(t, "the sign-up waits for the owner's row", func() bool {
			return pgtest.Count(t, b.pool, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
		})
		b.exec(t, `DELETE FROM setup_tokens`)
		return takenBack
	})
	if !errors.Is(err, takenBack) {
		t.Fatal(err)
	}
	if err := <-signedUp; !errors.Is(err, account.ErrSetupNeeded) {
		t.Errorf("%v, want ErrSetupNeeded", err)
	}
	if got := b.rows(t); got != "0 0 0 0 0 0" {
		t.Errorf("rows left: %s", got)
	}
}
