package worker_test

import (
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// A mail that cannot be handed in is tried again once it is due again.
func TestMailIsTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	m := store.Mail{ID: gateway.MailID(b.clock.NewID()), To: "ada@example.com", Subject: "s", Body: "b"}
	b.in(t, func(tx store.Tx) error {
		if err := tx.AddMail(t.Context(), m, true); err != nil {
			return err
		}
		return tx.Enqueue(t.Context(), job.Mail{MailID: m.ID})
	})
	b.start(t)
	b.untilCount(t, 1, `
		SELECT count(*)
		FROM river_job j
		JOIN mails m ON j.scheduled_at >= m.due_at AND j.scheduled_at < m.due_at + interval '20 seconds'
		WHERE j.kind = 'mail'
		  AND j.state = 'retryable'
		  AND m.tries = 1
		  AND m.due_at > now() + interval '30 seconds'
		  AND m.failure <> ''`)
}
