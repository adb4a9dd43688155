package worker

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/notify"
)

// sendMail has a mail sent. When that fails the queue tries again once the
// mail is due again.
type sendMail struct {
	river.WorkerDefaults[job.Mail]

	notify *notify.Service
}

// Work makes one try to send the job's mail.
func (w *sendMail) Work(ctx context.Context, j *river.Job[job.Mail]) error {
	return w.notify.Send(ctx, j.Args.MailID)
}

// NextRetry is when the mail is due again.
func (w *sendMail) NextRetry(j *river.Job[job.Mail]) time.Time {
	return w.notify.NextTry(j.Attempt)
}
