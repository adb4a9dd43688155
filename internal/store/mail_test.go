package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

func (b bundle) newMail(t *testing.T, due bool) gateway.MailID {
	t.Helper()
	id := gateway.MailID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		return tx.AddMail(t.Context(), store.Mail{ID: id, To: "ada@example.com", Subject: "s", Body: "body of " + id.String()}, due)
	})
	return id
}

func TestAMailIsTakenByOne(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.newMail(t, true)
	waits := []time.Duration{time.Hour}
	take := func(store.Tx, int) error { _, err := b.TakeMail(t.Context(), id, waits); return err }
	wantErrors(t, b.atOnce(t.Context(), poolSize/2, take), 1, gateway.ErrNotFound)
	b.exec(t, 1, `UPDATE mails SET due_at = now() WHERE tries = 1 AND due_at > now() + interval '50 minutes'`)
	last, err := b.TakeMail(t.Context(), id, waits)
	if err != nil || last.DueAt != nil || last.Tries != 2 || last.Body != "body of "+id.String() {
		t.Errorf("the last try: %+v, %v", last, err)
	}
	wantErrors(t, b.atOnce(t.Context(), 1, take), 0, gateway.ErrNotFound)
}

// A mail that waits to be read is not sent, and one that was sent says no more.
func TestMailsThatAreNotDue(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	waiting, sent := b.newMail(t, false), b.newMail(t, true)
	if err := b.MailSent(t.Context(), sent); err != nil {
		t.Fatal(err)
	}
	if err := b.MailFailed(t.Context(), sent, "late", false); err != nil {
		t.Fatal(err)
	}
	for _, id := range []gateway.MailID{waiting, sent} {
		if _, err := b.TakeMail(t.Context(), id, nil); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%v, want ErrNotFound", err)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM mails WHERE id = $1 AND body IS NULL AND failure = ''`, sent); n != 1 {
		t.Error("what was sent has failed")
	}
}

func TestABodyOpensInItsMailAlone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	one, other := b.newMail(t, true), b.newMail(t, true)
	b.exec(t, 1, `UPDATE mails SET body = (SELECT body FROM mails WHERE id = $1) WHERE id = $2`, one, other)
	if _, err := b.TakeMail(t.Context(), other, nil); !errors.Is(err, secret.ErrUnsealable) {
		t.Errorf("%v, want ErrUnsealable", err)
	}
}
