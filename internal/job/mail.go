package job

import (
	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/gateway"
)

// MailTries is how often a mail is tried.
const MailTries = 8

// Mail has a mail sent.
type Mail struct {
	MailID gateway.MailID `json:"mail_id"`
}

// Kind is the job's name in the queue's table.
func (Mail) Kind() string { return "mail" }

// InsertOpts puts the job in its queue. The queue tries it again until the
// mail is sent or given up.
func (Mail) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: QueueMail, MaxAttempts: MailTries}
}
