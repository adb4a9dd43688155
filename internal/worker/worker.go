// Package worker is the thin layer between the queue and the use cases: one
// adapter a job. A job only wakes a use case, which decides by its own guards
// what there is to do.
package worker

import (
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/reconcile"
)

const (
	// fetchCooldown is how often jobs are fetched at the most: it adds to the
	// latency of each event.
	fetchCooldown = 5 * time.Millisecond
	// fetchPoll is how often they are fetched when no notification comes.
	fetchPoll = 500 * time.Millisecond
	// processWorkers is how many batches are decided at once: each is one
	// transaction of many events.
	processWorkers = 4
	// deliverWorkers is how many wake-ups are handled at once; each takes no
	// time.
	deliverWorkers = 32
	// mailWorkers is how many mails are handed in at once: few, as mail servers
	// like it.
	mailWorkers = 2
	// maintenanceWorkers is how many bulk operations are worked on at once, each
	// for a while: few, as each has the database at work all the time.
	maintenanceWorkers = 4
	// jobTimeout bounds one job. Draining a lane is not part of its job.
	jobTimeout = 30 * time.Second
	// keepCompleted is how long a done job can be seen.
	keepCompleted = 5 * time.Minute
)

// Options are what the workers work for.
type Options struct {
	Log     *slog.Logger
	Node    string
	Decide  *decide.Service
	Deliver *deliver.Service
	Notify  *notify.Service
	Operate *operate.Service

	Reconcile *reconcile.Service
	// PollOnly has the queues look for jobs at intervals alone: nobody can listen
	// through a pooler.
	PollOnly bool
}

// Config is the queue's client's: the queues, and the worker of every job.
func Config(o Options) *river.Config {
	return &river.Config{
		ID:     o.Node,
		Logger: quietly(o.Log),
		Queues: map[string]river.QueueConfig{
			job.QueueProcess: {MaxWorkers: processWorkers},
			job.QueueDeliver: {MaxWorkers: deliverWorkers},
			job.QueueMail:    {MaxWorkers: mailWorkers},

			job.QueueMaintenance: {MaxWorkers: maintenanceWorkers},
		},
		Workers:                     registry(o),
		FetchCooldown:               fetchCooldown,
		FetchPollInterval:           fetchPoll,
		PollOnly:                    o.PollOnly,
		JobTimeout:                  jobTimeout,
		CompletedJobRetentionPeriod: keepCompleted,
	}
}

// registry lists the worker of every job.
func registry(o Options) *river.Workers {
	workers := river.NewWorkers()
	river.AddWorker(workers, &process{decide: o.Decide})
	river.AddWorker(workers, &deliverLane{deliver: o.Deliver})
	river.AddWorker(workers, &sendMail{notify: o.Notify})
	river.AddWorker(workers, &runOperation{operate: o.Operate})
	river.AddWorker(workers, &freeWaiting{deliver: o.Deliver})
	river.AddWorker(workers, &runReconciliation{reconcile: o.Reconcile})
	return workers
}
