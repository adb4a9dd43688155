package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
)

// Mail is what is written to a person, in plain text.
type Mail struct {
	ID gateway.MailID
	// To is one address.
	To      string
	Subject string
	// Body may carry a token. It is empty once the mail was sent or its time is
	// over.
	Body      string
	CreatedAt time.Time
	Tries     int
	// DueAt is when the next try is due; nil when there is none to come.
	DueAt  *time.Time
	SentAt *time.Time
	// Failure is what the last try said.
	Failure string
	// Channel is the account to whose channel it goes, whose host To is then; nil
	// for a mail.
	Channel *gateway.AccountID
}

// mailBodies is the account under which bodies are sealed: mails belong to the
// instance, and to no tenant.
var mailBodies gateway.AccountID

func mailContext(id gateway.MailID) []byte { return secret.Context("mails.body", mailBodies, id) }

// AddMail seals a mail's body and stores the mail: it exists if and only if the
// transaction commits. One that is due is tried by whoever takes it; the
// others wait to be read.
func (t Tx) AddMail(ctx context.Context, m Mail, due bool) error {
	if t.store.sealer == nil {
		return errNoSealer
	}
	sealed, err := t.store.sealer.Seal([]byte(m.Body), mailContext(m.ID))
	if err != nil {
		return err
	}
	_, err = t.tx.Exec(ctx, `
		INSERT INTO mails (id, recipient, subject, body, due_at, channel_of)
		VALUES (@id, @to, @subject, @body, CASE WHEN @due::boolean THEN now() END, @channel)`,
		pgx.NamedArgs{"id": m.ID, "to": m.To, "subject": m.Subject, "body": sealed, "due": due, "channel": m.Channel})
	return wrap("add mail", err)
}

const mailFields = `id, recipient, subject, body, created_at, tries, due_at, sent_at, failure, channel_of`

// mailRow reads rows with collectMail.
func (s *Store) mailRow(ctx context.Context) pgx.RowToFunc[Mail] {
	return func(row pgx.CollectableRow) (Mail, error) { return s.collectMail(ctx, row) }
}

// collectMail reads a row of mailFields and opens the body.
func (s *Store) collectMail(ctx context.Context, row pgx.CollectableRow) (m Mail, err error) {
	var sealed []byte
	if err := row.Scan(&m.ID, &m.To, &m.Subject, &sealed, &m.CreatedAt, &m.Tries, &m.DueAt, &m.SentAt, &m.Failure, &m.Channel); err != nil {
		return m, err
	}
	if sealed == nil {
		return m, nil
	}
	body, err := s.open(ctx, sealed, mailContext(m.ID))
	if err != nil {
		return m, fmt.Errorf("unseal %s: %w", m.ID, err)
	}
	m.Body = string(body)
	return m, nil
}

// TakeMail takes a mail that is due for one try, and returns it as it is then.
// The next try is due after the wait that waits has for this one; after the
// last there is none. What is not due, or not there, is gateway.ErrNotFound.
//
// The promise: a try is made by one. Who comes second waits for the row, and
// finds that it is due later.
func (s *Store) TakeMail(ctx context.Context, id gateway.MailID, waits []time.Duration) (Mail, error) {
	rows, err := s.pool.Query(ctx, `
		UPDATE mails
		SET tries = tries + 1,
		    due_at = clock_timestamp() + ($2::interval[])[tries + 1]
		WHERE id = $1
		  AND body IS NOT NULL
		  AND due_at <= clock_timestamp()
		RETURNING `+mailFields, id, waits)
	if err != nil {
		return Mail{}, wrap("take mail", err)
	}
	mail, err := pgx.CollectExactlyOneRow(rows, s.mailRow(ctx))
	return mail, wrap("take mail", err)
}

// MailSent notes that a mail is on its way, and forgets its body.
func (s *Store) MailSent(ctx context.Context, id gateway.MailID) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE mails
		SET sent_at = now(), due_at = NULL, body = NULL, failure = ''
		WHERE id = $1
		  AND sent_at IS NULL`, id)
	return wrap("note that a mail was sent", err)
}

// MailFailed notes why a try failed. final tells that another would, too.
func (s *Store) MailFailed(ctx context.Context, id gateway.MailID, failure string, final bool) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE mails
		SET failure = $2,
		    due_at = CASE WHEN $3 THEN NULL ELSE due_at END
		WHERE id = $1
		  AND sent_at IS NULL`, id, failure, final)
	return wrap("note that a mail failed", err)
}

// LateMails are mails that were due longer ago than an age and that nobody
// took: their jobs were lost. They are due now, and at most limit a call.
func (t Tx) LateMails(ctx context.Context, age time.Duration, limit int) ([]gateway.MailID, error) {
	rows, err := t.tx.Query(ctx, `
		UPDATE mails
		SET due_at = now()
		WHERE id IN (
			SELECT id
			FROM mails
			WHERE due_at < now() - $1::interval
			ORDER BY due_at
			LIMIT $2
			FOR UPDATE SKIP LOCKED
		)
		  AND due_at < now() - $1::interval
		RETURNING id`, age, limit)
	if err != nil {
		return nil, wrap("find late mails", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[gateway.MailID])
	return ids, wrap("find late mails", err)
}

// MailDue makes a mail due now that was not sent, and whose body is kept; where
// mails are not sent, only a message for a channel. Any other is
// gateway.ErrNotFound.
func (t Tx) MailDue(ctx context.Context, id gateway.MailID, mailOut bool) error {
	tag, err := t.tx.Exec(ctx, `
		UPDATE mails
		SET due_at = now()
		WHERE id = $1
		  AND ($2 OR channel_of IS NOT NULL)
		  AND sent_at IS NULL
		  AND body IS NOT NULL`, id, mailOut)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return wrap("make mail due", err)
}

// MailByID reads one mail, with its body if that is still kept.
func (s *Store) MailByID(ctx context.Context, id gateway.MailID) (Mail, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+mailFields+`
		FROM mails
		WHERE id = $1`, id)
	if err != nil {
		return Mail{}, wrap("read mail", err)
	}
	mail, err := pgx.CollectExactlyOneRow(rows, s.mailRow(ctx))
	return mail, wrap("read mail", err)
}

// Mails lists all mails, newest first, with those bodies that are still kept.
func (s *Store) Mails(ctx context.Context, page Page[gateway.MailID]) ([]Mail, error) {
	low, high := page.bounds()
	rows, err := s.pool.Query(ctx, `
		SELECT `+mailFields+`
		FROM mails
		WHERE id >= $1
		  AND id < $2
		ORDER BY id DESC
		LIMIT $3`, low, high, page.Limit)
	if err != nil {
		return nil, wrap("list mails", err)
	}
	mails, err := pgx.CollectRows(rows, s.mailRow(ctx))
	return mails, wrap("list mails", err)
}

// PruneMails forgets the bodies of mails that are older than one age, which are
// not tried again, and deletes the mails that are older than another.
func (s *Store) PruneMails(ctx context.Context, bodies, mails time.Duration) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE mails
		SET body = NULL, due_at = NULL
		WHERE body IS NOT NULL
		  AND created_at < now() - $1::interval`, bodies)
	if err != nil {
		return wrap("forget the bodies of old mails", err)
	}
	_, err = s.pool.Exec(ctx, `DELETE FROM mails WHERE created_at < now() - $1::interval`, mails)
	return wrap("prune mails", err)
}
