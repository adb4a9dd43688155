package endpoint_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

const (
	// most is how many endpoints an account of these tests may have.
	most = 3
	// badURL is the one URL that these tests' check refuses.
	badURL = "http://169.254.169.254/"
	actor  = gateway.Actor("key_test")
)

// bundle is a service on a database of its own, with one account.
type bundle struct {
	*endpoint.Service
	store   *store.Store
	pool    *pgxpool.Pool
	clock   *clock.Clock
	account gateway.AccountID
}

func newBundle(t *testing.T) bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := bundle{pool: pool, clock: clock.New()}
	if b.store, err = store.New(pool, pgtest.Sealer(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	b.Service = endpoint.New(endpoint.Options{
		Store: b.store, Clock: b.clock, CheckURL: checkURL, MaxEndpoints: most,
	})
	b.account = b.newAccount(t, "acme")
	return b
}

func checkURL(raw string, _ netip.AddrPort) error {
	if raw == badURL {
		return &egress.URLError{Code: egress.CodeURLAddress, Detail: "This address must not be reached."}
	}
	return nil
}

func (b bundle) newAccount(t *testing.T, slug string) gateway.AccountID {
	t.Helper()
	id := gateway.AccountID(b.clock.NewID())
	err := b.store.InTx(t.Context(), func(tx store.Tx) error {
		return tx.CreateAccount(t.Context(), gateway.Account{ID: id, Name: slug, Slug: slug})
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// create makes an endpoint with a URL alone.
func (b bundle) create(t *testing.T) (gateway.Endpoint, gateway.Secret) {
	t.Helper()
	e, s, err := b.Create(t.Context(), b.account, actor, endpoint.Input{URL: new("https://example.com/hook")})
	if err != nil {
		t.Fatal(err)
	}
	return e, s
}

func (b bundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// wantAudit fails unless the audit log holds these entries, oldest first, each
// as "action" or "action: detail".
func (b bundle) wantAudit(t *testing.T, want ...string) {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `
		SELECT concat_ws(': ', action, nullif(detail, ''))
		FROM audit_log
		WHERE actor = $1
		ORDER BY id`, string(actor))
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit log: %s", diff)
	}
}

// values are the live secrets' texts, newest first.
func (b bundle) values(t *testing.T, id gateway.EndpointID) []string {
	t.Helper()
	live, err := b.store.EndpointSecrets(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, s := range live {
		texts = append(texts, s.Value)
	}
	return texts
}

// atOnce runs do n times side by side and returns how many succeeded; the
// others must fail with want.
func atOnce(t *testing.T, n int, want error, do func(ctx context.Context) error) int {
	t.Helper()
	errs := make([]error, n)
	pgtest.AtOnce(n, func(i int) { errs[i] = do(t.Context()) })
	good := 0
	for _, err := range errs {
		switch {
		case err == nil:
			good++
		case want == nil || !errors.Is(err, want):
			t.Errorf("error %v, want %v", err, want)
		}
	}
	return good
}
