package notify_test

import (
	"bytes"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }

// bundle is a service on a database of its own.
type bundle struct {
	*notify.Service
	store *store.Store
	pool  *pgxpool.Pool
	clock *clock.Clock
	log   *safeBuffer
}

func newBundle(t *testing.T, url string) bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := bundle{pool: pool, clock: clock.New(), log: &safeBuffer{}}
	if b.store, err = store.New(pool, pgtest.Sealer(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	b.Service, err = notify.New(notify.Options{
		Store: b.store, Clock: b.clock, Log: slog.New(slog.NewTextHandler(b.log, nil)), URL: url, BaseURL: "https://hooks.example.com:8443",
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// write adds a mail that carries a token.
func (b bundle) write(t *testing.T, due bool) gateway.MailID {
	t.Helper()
	m := store.Mail{
		ID: gateway.MailID(b.clock.NewID()), To: "ada@example.com",
		Subject: "Grüße\nBcc: eve@example.com", Body: "Hello, Ädä.\n\n.\nhttps://hooks.example.com/reset/token\n",
	}
	if err := b.store.InTx(t.Context(), func(tx store.Tx) error { return tx.AddMail(t.Context(), m, due) }); err != nil {
		t.Fatal(err)
	}
	return m.ID
}

// kept is the mail as the instance's owner sees it.
func (b bundle) kept(t *testing.T, id gateway.MailID) notify.Mail {
	t.Helper()
	all, err := b.Mails(t.Context(), store.Page[gateway.MailID]{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.ID == id {
			return m
		}
	}
	t.Fatal(errors.New("the mail is not there"))
	return notify.Mail{}
}

// later makes what happened some time ago.
func (b bundle) later(t *testing.T, by time.Duration) {
	t.Helper()
	_, err := b.pool.Exec(t.Context(), `UPDATE mails SET created_at = created_at - $1::interval, due_at = due_at - $1::interval`, by)
	if err != nil {
		t.Fatal(err)
	}
}

// safeBuffer is a log that several write.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
