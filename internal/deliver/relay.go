package deliver

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// lookForRelays is how often it is looked how relays went, and which will never
// be reported, without being told.
const lookForRelays = time.Second

// relay gives what was taken to a listener, in the transaction that took it: what
// is sent then is sent by the listener, and this node, or another, waits for its
// report. What cannot be sent at all is left to send, which says why.
func (h *hold) relay(ctx context.Context, tx store.Tx, target store.Target, taken []store.Taken) error {
	if target.Kind != gateway.EndpointListen {
		return nil
	}
	if _, err := usable(target); err != nil {
		return nil //nolint:nilerr // it is told by the attempt
	}
	var made []store.NewRelay
	for i := range taken {
		t := &taken[i]
		if t.Body == nil || h.service.sendTime(target, t.Claim) <= 0 {
			continue
		}
		t.Relayed, t.Headers, t.Body = true, nil, nil
		made = append(made, h.service.newRelay(target, t))
	}
	if len(made) == 0 {
		return nil
	}
	return tx.MakeRelays(ctx, h.lane, made)
}

func (s *Service) newRelay(target store.Target, t *store.Taken) store.NewRelay {
	timeout := s.timeout(target)
	r := store.NewRelay{Delivery: t.ID, N: t.N, Event: t.EventID, Claim: t.Claim, Timeout: timeout}
	if t.Claim != nil && !t.Claim.Overridden {
		r.BeginsUntil = t.Claim.LeaseExpiresAt.Add(-timeout - recordGrace)
	}
	return r
}

// endRelays forgets the relays whose ends are recorded in this transaction.
func (h *hold) endRelays(ctx context.Context, tx store.Tx) error {
	var ended []gateway.AttemptID
	for _, r := range h.unrecorded {
		if r.relayed {
			ended = append(ended, r.Attempt.ID())
		}
	}
	if len(ended) == 0 {
		return nil
	}
	return tx.EndRelays(ctx, h.lane.AccountID, ended)
}

// adopt waits for the ends of what an earlier holder gave to a listener.
func (h *hold) adopt(target store.Target, adopted []store.Taken) {
	h.inFlight += len(adopted)
	for _, t := range adopted {
		h.relays.await(target, t)
	}
}

// relays waits for how the attempts of a lane went that listeners make.
type relays struct {
	service *Service
	lane    store.Lane
	results chan<- *sent
	// ctx ends the waiting, and so does leave: whoever holds the lane next goes on.
	ctx   context.Context
	leave <-chan struct{}

	mu       sync.Mutex
	open     map[gateway.AttemptID]relayed
	followed bool
	// more is signalled when there is more to wait for.
	more chan struct{}
}

// relayed is a delivery that is with a listener.
type relayed struct {
	taken  store.Taken
	target store.Target
}

func (s *Service) newRelays(ctx context.Context, leave <-chan struct{}, lane store.Lane, results chan<- *sent) *relays {
	return &relays{
		service: s, lane: lane, results: results, ctx: ctx, leave: leave,
		open: map[gateway.AttemptID]relayed{}, more: make(chan struct{}, 1),
	}
}

// await has the end of a relay sent to results. It does not block.
func (r *relays) await(target store.Target, t store.Taken) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[gateway.DeriveAttemptID(t.ID, t.N)] = relayed{taken: t, target: target}
	select {
	case r.more <- struct{}{}:
	default:
	}
	if !r.followed {
		r.followed = true
		r.service.all.Go(r.follow)
	}
}

// follow waits for relays until there are none and the waiting is over.
func (r *relays) follow() {
	told, closing := r.service.ears.open(r.lane.EndpointID)
	defer closing()
	ticker := time.NewTicker(lookForRelays)
	defer ticker.Stop()
	leave, leaving := r.leave, false
	for {
		select {
		case <-r.more:
		case <-told:
		case <-ticker.C:
			r.giveUp()
		case <-leave:
			leave, leaving = nil, true
		case <-r.ctx.Done():
			leaving = true
		}
		if leaving {
			r.cancelAll()
		} else {
			r.look()
		}
		if r.ctx.Err() != nil && r.over() {
			return
		}
	}
}

// over ends the following if there is nothing to wait for. What comes after it
// begins another.
func (r *relays) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followed = len(r.open) > 0
	return !r.followed
}

// giveUp ends the relays that nobody will report. A failure is left to the next
// look: nothing depends on one.
func (r *relays) giveUp() {
	if len(r.ids()) == 0 {
		return
	}
	if err := r.service.Store.GiveUpRelays(r.ctx, r.lane); err != nil && r.ctx.Err() == nil {
		r.service.Log.Warn("giving relays up", "endpoint", r.lane.EndpointID, "error", err)
	}
}

// look tells of the relays that have ended.
func (r *relays) look() {
	ids := r.ids()
	if len(ids) == 0 {
		return
	}
	ended, err := r.service.Store.EndedRelays(r.ctx, r.lane, ids)
	if err != nil {
		if r.ctx.Err() == nil {
			r.service.Log.Warn("looking for ended relays", "endpoint", r.lane.EndpointID, "error", err)
		}
		return
	}
	for i := range ended {
		if open, ok := r.close(ended[i].Attempt.ID()); ok {
			r.results <- r.service.relayEnded(r.ctx, open, ended[i])
		}
	}
}

// cancelAll leaves what is not ended to whoever holds the lane next.
func (r *relays) cancelAll() {
	for _, id := range r.ids() {
		if open, ok := r.close(id); ok {
			r.results <- &sent{Result: store.Result{Attempt: gateway.Attempt{DeliveryID: open.taken.ID, N: open.taken.N}}, cancelled: true, relayed: true}
		}
	}
}

func (r *relays) ids() []gateway.AttemptID {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make([]gateway.AttemptID, 0, len(r.open))
	for id := range r.open {
		ids = append(ids, id)
	}
	return ids
}

// close ends the waiting for a relay, once.
func (r *relays) close(id gateway.AttemptID) (relayed, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	open, ok := r.open[id]
	delete(r.open, id)
	return open, ok
}

// relayEnded tells what follows from how a relay ended. One that nobody took was
// no attempt. One whose listener has gone may have arrived: the delivery goes to
// the next listener, and a claim that it holds stays in doubt.
func (s *Service) relayEnded(ctx context.Context, open relayed, end store.RelayEnd) *sent {
	t := open.taken
	r := &sent{eventType: t.EventType, ownEvent: strings.HasPrefix(t.EventType, gateway.OwnTypePrefix), claim: t.Claim, relayed: true}
	if !end.Taken && !end.Reported {
		r.Result = notSent(t, gateway.DeliveryPending, s.Clock.Now())
		return r
	}
	a := end.Attempt
	a.Trigger = t.Trigger
	r.span, r.endSpan = s.beginSpan(t.Span, a.StartedAt)
	if !end.Reported {
		a.Outcome, a.Detail = gateway.OutcomeUnknown, "the listener went away before it said how it went"
		r.Result = store.Result{Attempt: a, Status: gateway.DeliveryPending, NextAttemptAt: s.Clock.Now()}
		s.attempted(ctx, r)
		return r
	}
	r.answer = gateway.Answer{
		Outcome: a.Outcome, StatusCode: a.StatusCode, RetryAfter: gateway.DecodeHeaders(a.ResponseHeaders).Get("Retry-After"),
	}
	r.Result = s.conclude(open.target, t, a, r.answer)
	s.attempted(ctx, r)
	return r
}
