package notify_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// wakeUps is how many jobs were made for mails.
func wakeUps(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	return pgtest.Count(t, pool, `SELECT count(*) FROM river_job WHERE kind = 'mail'`)
}

// A mail that was refused for good is sent once somebody has it tried again,
// and nothing more happens to it then.
func TestRetry(t *testing.T) {
	t.Parallel()
	server := (&smtpServer{}).start(t)
	b := newBundle(t, server.url())
	id := b.write(t, true)
	if err := b.store.MailFailed(t.Context(), id, "550 no such mailbox", true); err != nil {
		t.Fatal(err)
	}
	if m := b.kept(t, id); m.DueAt != nil || m.Failure == "" {
		t.Fatalf("the refused mail is %+v", m)
	}
	if err := b.Send(t.Context(), id); err != nil || len(server.got()) != 0 {
		t.Fatalf("it was sent before it was asked for: %v", err)
	}
	if err := b.Retry(t.Context(), gateway.UserID{1}, id); err != nil {
		t.Fatal(err)
	}
	if n := wakeUps(t, b.pool); n != 1 {
		t.Errorf("%d jobs for it", n)
	}
	if err := b.Send(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if m, err := b.Mail(t.Context(), id); err != nil || m.SentAt == nil || m.Body != "" || m.Tries != 1 || len(server.got()) != 1 {
		t.Errorf("tried again, the mail is %+v, %v", m, err)
	}
	if err := b.Retry(t.Context(), gateway.UserID{1}, id); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("once sent: %v", err)
	}
}

func TestRetryWhatCannotBe(t *testing.T) {
	t.Parallel()
	b := newBundle(t, (&smtpServer{}).start(t).url())
	old := b.write(t, true)
	b.later(t, 25*time.Hour)
	if err := b.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]gateway.MailID{"forgotten": old, "unknown": gateway.MailID(b.clock.NewID())} {
		if err := b.Retry(t.Context(), gateway.UserID{1}, id); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.Mail(t.Context(), gateway.MailID(b.clock.NewID())); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an unknown mail: %v", err)
	}
	if n := wakeUps(t, b.pool); n != 0 {
		t.Errorf("%d jobs for nothing", n)
	}
	without := newBundle(t, "")
	if err := without.Retry(t.Context(), gateway.UserID{1}, without.write(t, false)); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("without a server: %v", err)
	}
}
