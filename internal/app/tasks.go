package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// beatEvery is how often a node says that it is alive, and looks at the
	// database's clock.
	beatEvery = time.Second
	// partitionsEvery is how often the days ahead are made.
	partitionsEvery = time.Hour
	// partitionsAhead is how many days are made ahead, so that weeks without
	// the hourly task do no harm.
	partitionsAhead = 30
	// partitionsNeeded is how many days ahead a process must have to be ready.
	partitionsNeeded = 2
	// trimEvery is how often surplus requests of sources are deleted.
	trimEvery = time.Minute
	// trimLimit bounds one deletion.
	trimLimit = 5000
	// forgetNodesAfter is how long a dead node can be seen.
	forgetNodesAfter = time.Hour
	day              = 24 * time.Hour
)

// task is something that is done again and again while the process lives. An
// error is told and the next round tries again: nothing depends on one round.
type task struct {
	name  string
	every time.Duration
	do    func(context.Context) error
}

// tasks lists what this process does by itself.
func (v *services) tasks(roles Roles) []task {
	all := []task{
		{"beat", beatEvery, v.beat},
		{"make partitions", partitionsEvery, v.makePartitions},
	}
	if !roles.Worker {
		return all
	}
	return append(all,
		task{"ring alarms", deliver.AlarmEvery, func(ctx context.Context) error {
			_, err := v.deliver.RingAlarms(ctx)
			return err
		}},
		task{"sweep events", decide.SweepEvery, func(ctx context.Context) error {
			_, err := v.decide.Sweep(ctx)
			return err
		}},
		task{"repair lanes", deliver.RepairEvery, func(ctx context.Context) error {
			_, err := v.deliver.RepairLanes(ctx)
			return err
		}},
		task{"trim requests", trimEvery, func(ctx context.Context) error {
			_, err := v.store.TrimRequests(ctx, gateway.MaxRequestsKept, trimLimit)
			return err
		}},
		task{"forget nodes", partitionsEvery, func(ctx context.Context) error {
			return v.store.ForgetNodes(ctx, forgetNodesAfter)
		}},
	)
}

// beat says that the node is alive and corrects its clock by the answer.
func (v *services) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*beatEvery)
	defer cancel()
	sent := time.Now()
	now, err := v.store.Beat(ctx, v.node)
	if err == nil {
		v.clock.Observe(sent, time.Now(), now)
	}
	return err
}

func (v *services) makePartitions(ctx context.Context) error {
	now := v.clock.Now()
	_, err := v.store.MakePartitions(ctx, now.Add(-day), now.Add(partitionsAhead*day))
	return err
}

// runTasks runs each task at once and then at its interval, until ctx ends.
func runTasks(ctx context.Context, log *slog.Logger, tasks []task) {
	var all sync.WaitGroup
	for _, t := range tasks {
		all.Go(func() { t.run(ctx, log) })
	}
	all.Wait()
}

func (t task) run(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(t.every)
	defer ticker.Stop()
	failing := false
	for {
		err := t.do(ctx)
		if ctx.Err() != nil {
			return
		}
		// A fault that lasts is told once, and so is its end.
		switch {
		case err != nil && !failing:
			log.Warn("task failed", "task", t.name, "error", err)
		case err == nil && failing:
			log.Info("task works again", "task", t.name)
		}
		failing = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
