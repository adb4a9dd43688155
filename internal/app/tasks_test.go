package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A task that fails goes on, tells its fault once, and its end once.
func TestTaskGoesOnAndTellsAFaultOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	rounds := 0
	runTasks(ctx, slog.New(slog.NewTextHandler(&log, nil)), []task{{name: "try", every: time.Millisecond, do: func(context.Context) error {
		rounds++
		switch rounds {
		case 2, 3, 4:
			return errors.New("no luck")
		case 6:
			cancel()
		}
		return nil
	}}})
	if rounds != 6 {
		t.Errorf("%d rounds, want 6", rounds)
	}
	if n := strings.Count(log.String(), "task failed"); n != 1 {
		t.Errorf("the fault is told %d times:\n%s", n, log.String())
	}
	if n := strings.Count(log.String(), "task works again"); n != 1 {
		t.Errorf("its end is told %d times:\n%s", n, log.String())
	}
}

// What a worker must do for others' sake is not done by a process without the
// role, and what every process must do is done by all.
func TestTasksByRole(t *testing.T) {
	t.Parallel()
	names := func(r Roles) string {
		var all []string
		for _, task := range (&services{}).tasks(r) {
			all = append(all, task.name)
		}
		return strings.Join(all, ", ")
	}
	if got := names(Roles{API: true}); got != "beat, make days, follow the keyset, tell of refusals" {
		t.Errorf("without the worker role: %s", got)
	}
	want := "beat, make days, follow the keyset, tell of refusals, ring alarms, sweep operations, sweep reconciliations, sweep events, repair lanes, tell of claims in doubt, repair turns, hand on what stalled, release held events, empty deleted endpoints, " +
		"trim requests, warn of retention, drop days, prune keys, prune rollups, prune claims, prune reconciliations, empty deleted accounts, prune counts of types, prune dismissals, prune sessions, write alerts, wake late mails, prune mails, forget nodes"
	if got := names(Roles{Worker: true}); got != want {
		t.Errorf("with the worker role: %s", got)
	}
}
