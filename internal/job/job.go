// Package job names the background jobs. A job is a wake-up: it carries ids
// only, and losing, repeating or deleting one may delay work by seconds, never
// lose it or do it twice.
package job

import "github.com/riverqueue/river"

// Args are a job's arguments, for those who insert jobs.
type Args = river.JobArgs

// Queues, by what their jobs wait for.
const (
	// QueueProcess decides events.
	QueueProcess = "process"
	// QueueDeliver wakes lanes.
	QueueDeliver = "deliver"
	// QueueMail sends mails.
	QueueMail = "mail"
	// QueueMaintenance does what takes long and nobody waits for.
	QueueMaintenance = "maintenance"
)

// AllQueues lists every queue.
var AllQueues = []string{QueueProcess, QueueDeliver, QueueMail, QueueMaintenance}
