package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/retain"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// beatEvery is how often a node says that it is alive, and looks at the
	// database's clock.
	beatEvery = time.Second
	// shortestLimit and longestLimit bound how long one round may take: without
	// an end, a database host that is gone would stop the task for minutes.
	shortestLimit, longestLimit = 10 * time.Second, 10 * time.Minute
	// forgetNodesAfter is how long a dead node can be seen.
	forgetNodesAfter = time.Hour
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
		{"make days", retain.Every, v.retain.MakeDays},
		{"follow the keyset", store.FollowKeysetEvery, v.store.FollowKeyset},
		{"tell of refusals", account.RefusalsEvery, v.accounts.TellRefusals},
	}
	if !roles.Worker {
		return all
	}
	return append(all,
		task{"ring alarms", deliver.AlarmEvery, func(ctx context.Context) error {
			_, err := v.deliver.RingAlarms(ctx)
			return err
		}},
		task{"sweep operations", operate.SweepEvery, func(ctx context.Context) error {
			_, err := v.operate.Sweep(ctx)
			return err
		}},
		task{"sweep reconciliations", reconcile.SweepEvery, func(ctx context.Context) error {
			_, err := v.reconcile.Sweep(ctx)
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
		task{"tell of claims in doubt", deliver.DoubtEvery, func(ctx context.Context) error {
			_, err := v.deliver.TellInDoubt(ctx)
			return err
		}},
		task{"repair turns", deliver.RepairEvery, v.deliver.RepairTurns},
		task{"hand on what stalled", deliver.RepairEvery, v.deliver.HandOnStalled},
		task{"release held events", deliver.RepairEvery, v.sources.ReleaseHeld},
		task{"empty deleted endpoints", endpoint.EmptyEvery, v.endpoints.EmptyDeleted},
		task{"trim requests", retain.TrimEvery, v.retain.TrimRequests},
		task{"warn of retention", retain.Every, v.retain.Warn},
		task{"drop days", retain.Every, v.retain.DropDays},
		task{"prune keys", retain.PruneEvery, v.retain.PruneKeys},
		task{"prune rollups", retain.Every, v.retain.PruneRollups},
		task{"prune claims", retain.Every, v.retain.PruneClaims},
		task{"prune reconciliations", retain.PruneEvery, v.retain.PruneReconciliations},
		task{"empty deleted accounts", retain.EmptyEvery, v.retain.EmptyAccounts},
		task{"prune counts of types", retain.Every, v.retain.PruneTypeCounts},
		task{"prune dismissals", retain.Every, v.retain.PruneDismissals},
		task{"prune sessions", account.PruneEvery, v.accounts.Prune},
		task{"write alerts", notify.AlertEvery, v.notify.Alert},
		task{"wake late mails", notify.LateEvery, v.notify.WakeLate},
		task{"prune mails", notify.PruneEvery, v.notify.Prune},
		task{"forget nodes", retain.Every, func(ctx context.Context) error {
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

// runTasks runs each task at once and then at its interval, until ctx ends.
func runTasks(ctx context.Context, log *slog.Logger, tasks []task) {
	var all sync.WaitGroup
	for _, t := range tasks {
		all.Go(func() { t.run(ctx, log) })
	}
	all.Wait()
}

// round does the task once, within a time that suits how often it is done.
func (t task) round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, min(max(2*t.every, shortestLimit), longestLimit))
	defer cancel()
	return t.do(ctx)
}

func (t task) run(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(t.every)
	defer ticker.Stop()
	failing := false
	for {
		err := t.round(ctx)
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
