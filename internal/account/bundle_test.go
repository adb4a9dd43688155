package account_test

import (
	"errors"
	"log/slog"
	"os"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

const (
	baseURL  = "https://hooks.example.com"
	password = "correct horse battery"
	// here is a client's address.
	here = "203.0.113.7"
)

// bundle is a service on a database of its own, without any account, where
// anybody may sign up.
type bundle struct {
	*account.Service
	store  *store.Store
	pool   *pgxpool.Pool
	sealer *secret.Sealer
	clock  *clock.Clock
}

func newBundle(t *testing.T) bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := bundle{pool: pool, sealer: pgtest.Sealer(t), clock: clock.New()}
	if b.store, err = store.New(pool, b.sealer, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return b.as(config.SignupOpen)
}

// as is a service on the same database with another rule of who may sign up.
func (b bundle) as(mode config.Signup) bundle {
	b.Service = account.NewService(account.Options{Store: b.store, Clock: b.clock, Signup: mode, BaseURL: baseURL, SMTP: true})
	b.HashCheaply()
	return b
}

func (b bundle) create(t *testing.T, name, email string) account.Created {
	t.Helper()
	made, err := b.Create(t.Context(), account.New{Name: name, Email: email, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// logIn logs in with an address and a password, and returns what came of it.
func (b bundle) logIn(t *testing.T, email, password, from string) error {
	t.Helper()
	_, err := b.LogIn(t.Context(), account.Credentials{Email: email, Password: password, Address: from})
	return err
}

// start begins a session, after the one of a token.
func (b bundle) start(t *testing.T, user gateway.UserID, d account.Device, old string) string {
	t.Helper()
	who := account.ProvenBy(user, b.text(t, `SELECT password_hash FROM users WHERE id = $1`, user))
	token, err := b.StartSession(t.Context(), who, d, old)
	if err != nil {
		t.Fatal(err)
	}
	if token.CodeNeeded {
		t.Fatal("a code is needed")
	}
	return token.Token
}

// session is the live one of a token.
func (b bundle) session(t *testing.T, token string) account.Session {
	t.Helper()
	s, err := b.Session(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// over fails unless a token opens no session.
func (b bundle) over(t *testing.T, what, token string) {
	t.Helper()
	if _, err := b.Session(t.Context(), token); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("%s: %v, want ErrNotFound", what, err)
	}
}

var linkPattern = regexp.MustCompile(regexp.QuoteMeta(baseURL) + `/(?:reset|invite|me/email)/([0-9a-z]{52})\n`)

// mailed returns the token in the newest mail to an address, and how many
// mails there are to it.
func (b bundle) mailed(t *testing.T, to string) (token string, n int) {
	t.Helper()
	mails, err := b.store.Mails(t.Context(), store.Page[gateway.MailID]{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mails {
		if m.To != to {
			continue
		}
		n++
		if match := linkPattern.FindStringSubmatch(m.Body); match != nil && token == "" {
			token = match[1]
		}
	}
	return token, n
}

// mailTo returns how many mails there are to an address, and what the newest says.
func (b bundle) mailTo(t *testing.T, to string) (n int, body string) {
	t.Helper()
	mails, err := b.store.Mails(t.Context(), store.Page[gateway.MailID]{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mails {
		if m.To != to {
			continue
		}
		if n++; n == 1 {
			body = m.Body
		}
	}
	return n, body
}

// text runs a query that returns one text.
func (b bundle) text(t *testing.T, sql string, args ...any) string {
	t.Helper()
	var got string
	if err := b.pool.QueryRow(t.Context(), sql, args...).Scan(&got); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return got
}

// exec runs a statement that must change rows.
func (b bundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	tag, err := b.pool.Exec(t.Context(), sql, args...)
	if err != nil || tag.RowsAffected() == 0 {
		t.Fatalf("%s: %d rows, %v", sql, tag.RowsAffected(), err)
	}
}

// tally counts errors by what they are: nil, or the first of the known ones.
func tally(errs []error, known ...error) map[error]int {
	counts := map[error]int{}
	for _, err := range errs {
		kind := err
		for _, k := range known {
			if errors.Is(err, k) {
				kind = k
			}
		}
		counts[kind]++
	}
	return counts
}

// atOnce runs do n times side by side and returns the errors.
func atOnce(n int, do func(i int) error) []error {
	errs := make([]error, n)
	pgtest.AtOnce(n, func(i int) { errs[i] = do(i) })
	return errs
}
