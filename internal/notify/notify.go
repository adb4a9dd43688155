// Package notify sends mails, and messages to channels that take them as Slack
// does, which are mails in all but how they are handed in. A mail is written by the use case that has
// something to tell, in the transaction that earns it; a job wakes this
// package, which hands it in. Alerts are mails that this package writes: the
// transaction that earns one leaves a row, and the one that writes the mails
// takes it away. Without a server to hand it in at, a mail is kept
// for a day, for the instance's owner to read.
package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// PruneEvery is how often old mails are forgotten.
	PruneEvery = 10 * time.Minute
	// LateEvery is how often it is looked for mails whose jobs were lost.
	LateEvery = time.Minute
	// late is how long after its time a mail counts as forgotten by its job.
	late = 5 * time.Minute
	// lateBatch bounds how many of these are woken at once.
	lateBatch = 100
	// keepBodies is how long a body that was not sent is kept. It may carry a
	// token.
	keepBodies = 24 * time.Hour
	// keepMails is how long can be seen what was sent to whom.
	keepMails = 30 * 24 * time.Hour
	// maxFailure bounds what is kept of a server's refusal, in bytes.
	maxFailure = 500
)

// waits are how long after each try the next one is due: job.MailTries tries in
// less than keepBodies.
var waits = [job.MailTries - 1]time.Duration{
	time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
}

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
	Log   *slog.Logger
	// URL is where mails are handed in: smtp://user:password@host:port or
	// smtps://…, with ?from= for the sender's address. Empty: they are kept.
	URL string
	// BaseURL is the public address, which links begin with; its host is the
	// sender's unless URL names one.
	BaseURL string
	// Egress posts messages to channels.
	Egress *egress.Client
	// UserAgent is in what they post.
	UserAgent string
}

// Service sends mails.
type Service struct {
	store  *store.Store
	clock  *clock.Clock
	log    *slog.Logger
	server *server // nil: there is none
	base   string  // the public address, without a slash at the end
	egress *egress.Client
	agent  string
}

// Mail is one that was sent, is to be sent, or waits to be read.
type Mail = store.Mail

// New makes a Service. A URL that is not as Options wants it is an error, which
// does not repeat it.
func New(o Options) (*Service, error) {
	s := &Service{store: o.Store, clock: o.Clock, log: o.Log, base: strings.TrimRight(o.BaseURL, "/"), egress: o.Egress, agent: o.UserAgent}
	if o.URL == "" {
		return s, nil
	}
	var err error
	s.server, err = parseServer(o.URL, o.BaseURL)
	return s, err
}

// Wait is how long after a failed try, counted from 1, the next one is due.
func Wait(try int) time.Duration { return waits[min(max(try, 1), len(waits))-1] }

// NextTry is when the next try is due after one, counted from 1, that fails
// now.
func (s *Service) NextTry(try int) time.Time { return s.clock.Now().Add(Wait(try)) }

// Send makes one try to send a mail, if it is due. Whoever comes second finds
// nothing to do. The error is that of the try, unless another one would not
// help or is not due any more: then it was logged and noted, and that is all.
//
// A process that dies between the server's yes and the note of it sends the
// mail twice.
func (s *Service) Send(ctx context.Context, id gateway.MailID) error {
	m, err := s.store.TakeMail(ctx, id, waits[:])
	if errors.Is(err, gateway.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.handIn(ctx, m); err != nil {
		return s.failed(ctx, m, err)
	}
	s.log.Info("mail sent", "mail", m.ID, "recipient", m.To, "subject", m.Subject)
	ctx, cancel := noteContext(ctx)
	defer cancel()
	return s.store.MailSent(ctx, m.ID)
}

// handIn gives a mail to the server, and a message to its channel. What was due
// and has no server by now stays to be read.
func (s *Service) handIn(ctx context.Context, m Mail) error {
	switch {
	case m.Channel != nil:
		return s.toChannel(ctx, *m.Channel, letter{m.Subject, m.Body})
	case s.server == nil:
		return errNoServer
	}
	return s.server.send(ctx, m, s.clock.Now())
}

// errNoServer: there is nobody to hand a mail in at.
var errNoServer = errors.New("mails are not sent any more: ROWLOCK_SMTP_URL is not set")

// failed notes why a try failed.
func (s *Service) failed(ctx context.Context, m Mail, cause error) error {
	final := m.DueAt == nil || isRefusal(cause) || errors.Is(cause, errNoServer) || errors.Is(cause, gateway.ErrNotFound)
	s.log.Warn("mail not sent", "mail", m.ID, "recipient", m.To, "subject", m.Subject, "try", m.Tries, "last", final, "error", cause)
	ctx, cancel := noteContext(ctx)
	defer cancel()
	if err := s.store.MailFailed(ctx, m.ID, cut(cause.Error()), final); err != nil || final {
		return err
	}
	return fmt.Errorf("send mail: %w", cause)
}

// noteTimeout bounds noting how a try ended after its own time was over.
const noteTimeout = 5 * time.Second

// noteContext is for noting how a try ended, also when whoever asked for it is
// gone: else a mail that was sent would be sent again.
func noteContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
}

// cut bounds what is kept of a text from outside.
func cut(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	return strings.ToValidUTF8(text[:min(len(text), maxFailure)], "")
}

// WakeLate gives mails that are due and whose jobs were lost new ones.
func (s *Service) WakeLate(ctx context.Context) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		ids, err := tx.LateMails(ctx, late, lateBatch)
		if err != nil {
			return err
		}
		jobs := make([]job.Args, len(ids))
		for i, id := range ids {
			jobs[i] = job.Mail{MailID: id}
		}
		return tx.Enqueue(ctx, jobs...)
	})
}

// Mails lists all mails, newest first, with the bodies that are still kept. It
// is for the instance's owner alone, which the caller makes sure of.
func (s *Service) Mails(ctx context.Context, page store.Page[gateway.MailID]) ([]Mail, error) {
	return s.store.Mails(ctx, page)
}

// Mail reads one mail, with its body if that is still kept; one that is not
// there is gateway.ErrNotFound. It is for the instance's owner alone, which the
// caller makes sure of.
func (s *Service) Mail(ctx context.Context, id gateway.MailID) (Mail, error) {
	return s.store.MailByID(ctx, id)
}

// Retry has a mail that was not sent tried once more, now. One that was sent,
// whose body is forgotten, or that nobody could send is gateway.ErrNotFound. A
// mail that is on its way at this very moment is sent twice.
func (s *Service) Retry(ctx context.Context, by gateway.UserID, id gateway.MailID) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.MailDue(ctx, id, s.server != nil); err != nil {
			return err
		}
		line := store.AuditLine{ID: gateway.AuditID(s.clock.NewID()), Object: id.String()}
		if err := tx.AuditInstance(ctx, gateway.Actor(by.String()), "mail.retry", line); err != nil {
			return err
		}
		return tx.Enqueue(ctx, job.Mail{MailID: id})
	})
}

// Prune forgets bodies after a day and mails after a month, and what could not
// be written.
func (s *Service) Prune(ctx context.Context) error {
	return errors.Join(s.store.PruneMails(ctx, keepBodies, keepMails), s.store.PruneAlerts(ctx, keepAlerts))
}
