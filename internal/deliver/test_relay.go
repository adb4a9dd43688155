package deliver

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// relayTest has a listener send a test event, outside of the endpoint's lane, and
// waits for how it went.
func (s *Service) relayTest(ctx context.Context, lane store.Lane, target store.Target, in attemptInput) (gateway.Attempt, error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan *sent, 1)
	relays := s.newRelays(waiting, nil, lane, ended)
	made := store.NewRelay{Delivery: in.delivery, N: in.n, Event: in.event, Timeout: s.timeout(target)}
	if err := s.Store.InTx(ctx, func(tx store.Tx) error { return tx.MakeRelays(ctx, lane, []store.NewRelay{made}) }); err != nil {
		return gateway.Attempt{}, err
	}
	relays.await(target, store.Taken{
		ID: in.delivery, EventID: in.event, Trigger: gateway.TriggerTest, N: in.n, Step: 1, EventType: in.eventType, Relayed: true,
	})
	r := <-ended
	switch {
	case r.cancelled:
		return gateway.Attempt{}, context.Cause(ctx)
	case r.NoAttempt:
		return gateway.Attempt{}, s.endTest(ctx, lane, r, gateway.ErrNobodyListens)
	}
	return r.Attempt, s.endTest(ctx, lane, r, nil)
}

// endTest stores how a test went, and forgets its relay.
func (s *Service) endTest(ctx context.Context, lane store.Lane, r *sent, cause error) error {
	ctx = context.WithoutCancel(ctx)
	a := r.Attempt
	err := s.Store.InTx(ctx, func(tx store.Tx) error {
		if !r.NoAttempt {
			status, _ := gateway.RetryPolicy{}.Next(r.answer, 1, s.Clock.Now(), 0)
			if err := tx.InsertTested(ctx, a, status); err != nil {
				return err
			}
		}
		return tx.EndRelays(ctx, lane.AccountID, []gateway.AttemptID{a.ID()})
	})
	if err != nil {
		return err
	}
	return cause
}
