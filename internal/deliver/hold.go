package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// extendEvery is how often a lane is extended when nothing else happens.
	extendEvery = 3 * time.Second
	// lookEvery is how often a lane with room looks for what became due without
	// a wake-up here: retries, and the work of other nodes. One that times out
	// looks when it is extended.
	lookEvery = time.Second
	// flushDelay is how long results are gathered before they are recorded,
	// while more are on their way.
	flushDelay = 2 * time.Millisecond
	// linger is how long an emptied lane is kept for work that comes right
	// behind.
	linger = 20 * time.Millisecond
	// holdTime is how long a lane stays with one node while others could have
	// it.
	holdTime = 30 * time.Second
)

// errLaneLost tells that the fence moved: somebody else sends now.
var errLaneLost = errors.New("the lane was taken over")

// hold is the time during which this node owns a lane. One goroutine runs it;
// senders report to it through results.
type hold struct {
	service *Service
	drain   *drain
	lane    store.Lane
	since   time.Time

	target   store.Target
	inFlight int
	// spare slots are held and not used: between the start of a turn and its
	// end only. slow is how they are counted.
	spare int
	slow  bool
	// starved: there was room for a send, and no slot.
	starved bool
	results chan *sent
	// relays are the attempts that listeners make.
	relays *relays
	// unrecorded are results that no transaction has stored yet.
	unrecorded []*sent
	// mayHaveMore tells that the last take was not the end of what is due.
	mayHaveMore bool
	// owes tells that the last turn left taking to the next: it ended claims, or it
	// had to give back what it took.
	owes bool
	// nextLook is when to look for due work without being told. nextDue is the
	// earliest retry that this hold has recorded; zero is none.
	nextLook, nextDue time.Time
	// fruitless: nothing was taken so far.
	fruitless bool
	// inactive: the endpoint takes nothing more. handOver: another node shall
	// have the lane. uncertain: the fate of a commit is unknown.
	inactive, handOver, uncertain bool
	// disabled: Rowlock has stopped the endpoint. failover is the next of its
	// chain. handsOn: what waits here goes to that one.
	disabled, handsOn bool
	failover          *gateway.EndpointID
	// failed are the events that the transaction that is under way records as
	// failed for good, heir is who got them.
	failed []gateway.EventID
	heir   *store.LaneRef
	// sendCtx ends when sending must stop at once.
	sendCtx   context.Context
	stopSends context.CancelFunc
}

func newHold(d *drain, lane store.Lane) *hold {
	s := d.service
	ctx, cancel := context.WithCancel(s.abort)
	h := &hold{
		service: s, drain: d, lane: lane, since: s.Clock.Now(), slow: d.slow,
		spare: 1, mayHaveMore: true, fruitless: true,
		results: make(chan *sent, s.Workers),
		sendCtx: ctx, stopSends: cancel,
	}
	h.relays = s.newRelays(ctx, s.stop.Done(), lane, h.results)
	return h
}

// run is the life of a hold. again tells that the lane has more to do.
func (h *hold) run(ctx context.Context) (again bool, err error) {
	defer h.end()
	if h.lane.Inherited {
		if err := h.takeOver(ctx); err != nil {
			return true, errors.Join(err, h.abandon(ctx))
		}
	}
	for {
		switch err := h.turn(ctx); {
		case errors.Is(err, errLaneLost):
			return false, nil
		case err != nil:
			h.service.Log.Warn("recording deliveries", "endpoint", h.lane.EndpointID, "error", err)
			h.recordApart(ctx, err)
			_ = clock.Sleep(h.sendCtx, retryPause) //nolint:contextcheck // what was sent is recorded after a stop, too
			if h.sendCtx.Err() == nil {
				h.takeIn() // their slots are free, whether they can be recorded or not
				continue
			}
		}
		if h.sendCtx.Err() != nil {
			return false, h.abandon(ctx)
		}
		h.considerHandOver(ctx)
		if h.idle() {
			if h.done(ctx) {
				break
			}
			if !h.paced() {
				continue
			}
		}
		if h.owes {
			h.takeIn()
		} else {
			h.wait(ctx)
		}
	}
	if h.uncertain {
		return true, h.abandon(ctx)
	}
	return h.release(ctx)
}

// end stops what is still being sent (after a lost lane) and gives every slot
// back. A send that is cancelled here is no result.
func (h *hold) end() {
	h.stopSends()
	for h.inFlight > 0 {
		h.settle(<-h.results)
	}
	h.giveBack()
}

func (h *hold) idle() bool { return h.inFlight == 0 && len(h.unrecorded) == 0 }

// taking tells whether anything more may be taken now.
func (h *hold) taking(ctx context.Context) bool { return !h.inactive && h.willing(ctx) }

// willing is taking, if the endpoint is active: each turn reads anew whether
// it is.
func (h *hold) willing(ctx context.Context) bool {
	return !h.handOver && !h.uncertain && ctx.Err() == nil && !h.asleep()
}

func (h *hold) asleep() bool {
	until := h.lane.Flow.SleepUntil
	return !until.IsZero() && until.After(h.service.Clock.Now())
}

// done tells whether an idle hold is at its end; it lingers for a moment for
// work that comes right behind.
func (h *hold) done(ctx context.Context) bool {
	if !h.taking(ctx) {
		return true
	}
	if h.mayHaveMore {
		return h.starved
	}
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-h.drain.work:
		h.look()
		return false
	case <-timer.C:
		return true
	case <-ctx.Done():
		return true
	}
}

// wait returns when there is something for a turn to do: results, gathered for
// a moment; new work, if it can be taken; or the lane to be extended.
func (h *hold) wait(ctx context.Context) {
	timer := time.NewTimer(h.untilNextLook())
	defer timer.Stop()
	work, stop := h.drain.work, ctx.Done()
	if h.room() == 0 && !h.handsOn {
		work = nil
	}
	if ctx.Err() != nil {
		stop = nil
	}
	select {
	case r := <-h.results:
		h.gather(r)
	case <-work:
		h.look()
	case <-timer.C:
	case <-stop:
	case <-h.sendCtx.Done():
	}
}

// look has the next turn take what is due.
func (h *hold) look() { h.mayHaveMore = true }

// lookIfTime has the next turn look when a while has passed since the last one
// did: for retries, and for work whose wake-up went elsewhere.
func (h *hold) lookIfTime() {
	now := h.service.Clock.Now()
	if now.Before(h.nextLook) && (h.nextDue.IsZero() || now.Before(h.nextDue)) {
		return
	}
	h.nextDue = time.Time{}
	h.look()
}

// looked notes that a turn has looked.
func (h *hold) looked() {
	every := lookEvery
	if h.lane.Flow.TimingOut {
		every = extendEvery
	}
	h.nextLook = h.service.Clock.Now().Add(every)
}

// untilNextLook is how long a hold can wait when nothing happens: until it is
// time to look, if there is room, and no longer than the lane may go without
// being extended.
func (h *hold) untilNextLook() time.Duration {
	if h.room() == 0 {
		return min(h.untilPaced(), extendEvery)
	}
	next := h.nextLook
	if !h.nextDue.IsZero() && h.nextDue.Before(next) {
		next = h.nextDue
	}
	return min(max(next.Sub(h.service.Clock.Now()), time.Millisecond), extendEvery)
}

// takeIn settles the results that are there, and waits for none.
func (h *hold) takeIn() {
	for {
		select {
		case r := <-h.results:
			h.settle(r)
		default:
			return
		}
	}
}

// gather collects results for a moment, or until nothing is in flight.
func (h *hold) gather(first *sent) {
	h.settle(first)
	timer := time.NewTimer(flushDelay)
	defer timer.Stop()
	for h.inFlight > 0 {
		select {
		case r := <-h.results:
			h.settle(r)
		case <-timer.C:
			return
		}
	}
}

// room is how many more sends the lane is wide enough for, and its limit a
// second allows now. Before the first turn the endpoint's own limits are not
// known: the turn reads and applies them.
func (h *hold) room() int {
	width := h.lane.Flow.Cap
	if limit := h.target.MaxInFlight; limit > 0 {
		width = min(width, limit)
	}
	return max(min(width-h.inFlight, h.allowed(h.target)), 0)
}

// considerHandOver gives the lane away after a while, if somebody is there to
// have it, so that lanes spread over the nodes.
func (h *hold) considerHandOver(ctx context.Context) {
	if h.service.Clock.Now().Sub(h.since) < holdTime {
		return
	}
	h.since = h.service.Clock.Now()
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	others, err := h.service.Store.OtherNodes(ctx, h.service.Node)
	h.handOver = err == nil && others
}

// release gives the lane back. Then it looks once more: work that was
// committed while the lane was held had its wake-up walk away.
func (h *hold) release(ctx context.Context) (again bool, err error) {
	s := h.service
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), turnTimeout)
	defer cancel()
	if h.handsOn {
		h.leaveHandingOn()
	}
	alarm, ok, err := s.Store.ReleaseLane(writing, h.lane)
	if err != nil || !ok {
		return err != nil && ctx.Err() == nil, err
	}
	switch {
	case h.handsOn:
		return h.mayHandOnMore(writing, ctx.Err() != nil)
	case h.inactive:
		return false, nil
	case h.asleep():
		s.wakeAt(h.drain.ref, alarm)
		return false, nil
	}
	due, err := s.Store.HasDue(writing, h.lane.AccountID, h.lane.EndpointID)
	switch {
	case err != nil:
		return ctx.Err() == nil, err
	case due && (h.handOver || ctx.Err() != nil):
		return false, s.leaveToOthers(writing, h.drain.ref)
	case !due:
		s.wakeAt(h.drain.ref, alarm)
	}
	return due, nil
}

// abandon ends the lease for the next holder to take over what may be in the
// air. If the database cannot be told, the lease ends by itself.
func (h *hold) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), extendEvery)
	defer cancel()
	return h.service.Store.AbandonLane(ctx, h.lane)
}
