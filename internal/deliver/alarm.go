package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// AlarmEvery is how often lanes whose alarm has come are looked for.
	AlarmEvery = time.Second
	// RepairEvery is how often lanes without an alarm are looked for.
	RepairEvery = 30 * time.Second
	// forgetRelays is how old a relay must be to be forgotten that nobody waits for:
	// far older than any gets.
	forgetRelays = time.Hour
	// alarmLimit bounds one look; what is left rings a second later, or at once
	// on another node.
	alarmLimit = 2000
)

// RingAlarms has this node drain the lanes whose alarm has come: retries that
// are due, nodes that died, endpoints that were resumed, jobs that were lost.
// Nodes share the alarms as they come; one that cannot take a lane leaves its
// alarm to ring again a moment later, perhaps elsewhere. It returns how many. A node
// that does not run, or stops, takes none: it would only put them off.
func (s *Service) RingAlarms(ctx context.Context) (int, error) {
	if !s.runs() {
		return 0, nil
	}
	var lanes []store.LaneRef
	err := s.Store.InTx(ctx, func(tx store.Tx) (err error) {
		lanes, err = tx.RingAlarms(ctx, alarmLimit)
		return err
	})
	if err == nil {
		s.Wake(lanes)
	}
	return len(lanes), err
}

// RepairLanes gives an alarm to lanes that have open deliveries and neither
// lease nor alarm, and returns how many there were. It forgets relays that nobody
// waits for.
func (s *Service) RepairLanes(ctx context.Context) (int64, error) {
	repaired, err := s.Store.RepairLanes(ctx)
	if err == nil && repaired > 0 {
		s.Log.Info("lanes without an alarm repaired", "lanes", repaired)
	}
	return repaired, errors.Join(err, s.Store.PruneRelays(ctx, forgetRelays))
}

// wakeAt wakes a lane at a time that is near. It is an accelerator: the alarm
// in the database serves the same, up to a second later.
func (s *Service) wakeAt(ref store.LaneRef, at time.Time) {
	if at.IsZero() {
		return
	}
	wait := at.Sub(s.Clock.Now())
	if wait > nearAlarm {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	set, ok := s.alarms[ref.EndpointID]
	if ok && !set.at.After(at) {
		return
	}
	if ok {
		set.timer.Stop()
	}
	s.alarms[ref.EndpointID] = alarm{at: at, timer: time.AfterFunc(max(wait, time.Millisecond), func() { s.ring(ref, at) })}
}

// alarm is the earliest time for which a lane is to be woken.
type alarm struct {
	at    time.Time
	timer *time.Timer
}

// ring wakes a lane whose alarm has come.
func (s *Service) ring(ref store.LaneRef, at time.Time) {
	s.mu.Lock()
	if s.alarms[ref.EndpointID].at.Equal(at) {
		delete(s.alarms, ref.EndpointID)
	}
	s.mu.Unlock()
	s.Wake([]store.LaneRef{ref})
}

// leaveToOthers sets a lane's alarm to now and tells the other nodes.
func (s *Service) leaveToOthers(ctx context.Context, ref store.LaneRef) error {
	return s.Store.InTx(ctx, func(tx store.Tx) error {
		if err := tx.WakeLane(ctx, ref.AccountID, ref.EndpointID); err != nil {
			return err
		}
		return tx.Enqueue(ctx, job.Delivers([]store.LaneRef{ref})...)
	})
}
