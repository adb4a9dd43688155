package deliver_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/claim"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// fact is the type of what is to reach an endpoint once, subject what it is
// about.
const (
	fact    = "credit.checked"
	subject = "customer-1"
)

// singleFire declares fact.
func (b *bundle) singleFire(t *testing.T, doubt gateway.OnDoubt) {
	t.Helper()
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateEventType(t.Context(), b.account, gateway.EventType{Name: fact, SingleFire: true, OnDoubt: doubt}, gateway.MaxEventTypes)
		return err
	})
}

// report makes n events that all tell the fact, each with a delivery to the
// endpoint, and wakes nobody.
func (b *bundle) report(t *testing.T, e gateway.Endpoint, n int) []gateway.DeliveryID {
	t.Helper()
	ids := make([]gateway.DeliveryID, n)
	deliveries := make([]store.NewDelivery, n)
	for i := range ids {
		event := b.newEvent(t, b.account, fact)
		b.exec(t, `UPDATE events SET subject = $2 WHERE id = $1`, event, subject)
		deliveries[i] = store.NewDelivery{AccountID: b.account, EventID: event, EndpointID: e.ID}
		ids[i] = gateway.DeriveDeliveryID(event, e.ID)
	}
	b.in(t, func(tx store.Tx) error {
		_, err := tx.InsertDeliveries(t.Context(), deliveries)
		return err
	})
	return ids
}

// theClaim is the one claim there is.
func (b *bundle) theClaim(t *testing.T) gateway.Claim {
	t.Helper()
	claims, err := b.store.Claims(t.Context(), b.account, store.ClaimFilter{Subject: subject}, store.Page[gateway.ClaimID]{Limit: 9})
	if err != nil || len(claims) != 1 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	return claims[0]
}

// ledger is what people step in with.
func (b *bundle) ledger() *claim.Service {
	return claim.New(claim.Options{Store: b.store, Clock: b.clock})
}

// wantKeys fails unless the requests went out under one claim, and these fences.
func wantKeys(t *testing.T, r *receiver, c gateway.Claim, fences ...string) {
	t.Helper()
	var got []string
	for _, req := range r.requests() {
		got = append(got, req.header.Get("Rowlock-Fence"))
		if key := req.header.Get("Idempotency-Key"); key != c.ID.String() {
			t.Errorf("Idempotency-Key %s, want the claim's %s", key, c.ID)
		}
	}
	if !slices.Equal(got, fences) {
		t.Errorf("fences %v, want %v", got, fences)
	}
}

// A fact that is reported twenty times at once while the receiver fails twice
// goes out three times in all, one after the other, and is confirmed once.
func TestSingleFire(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtResend)
	r := newReceiver(t, status(500, 503, 200))
	e := b.endpoint(t, r.URL)
	ids := b.report(t, e, 20)
	b.wake(e)
	b.untilCount(t, 19, `SELECT count(*) FROM deliveries WHERE status = 'suppressed'`)
	b.untilCount(t, 1, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`)
	if n, most := len(r.requests()), r.overlap(); n != 3 || most != 1 {
		t.Errorf("%d requests, %d at once", n, most)
	}
	if n := b.count(t, `SELECT count(*) FROM attempts`); n != 3 {
		t.Errorf("%d attempts", n)
	}
	if n := b.count(t, `SELECT sum(attempts)::int FROM deliveries`); n != 3 {
		t.Errorf("%d attempts are counted", n)
	}
	c := b.theClaim(t)
	if c.State != gateway.ClaimDone || c.Scope != e.ID.String() || c.Key != fact+"#"+subject || c.Fence != 3 {
		t.Errorf("claim %+v", c)
	}
	wantKeys(t, r, c, "1", "2", "3")
	again := b.report(t, e, 1)
	b.wake(e)
	d := b.untilStatus(t, again[0], gateway.DeliverySuppressed)
	if d.Attempts != 0 || d.ClaimID == nil || *d.ClaimID != c.ID || d.WaitingOn != nil || d.NextAttemptAt != nil || d.ClosedAt == nil {
		t.Errorf("suppressed %+v", d)
	}
	holds, err := b.store.Holds(t.Context(), b.account, c.ID, 9)
	if err != nil || len(holds) != 3 || holds[0].Ended != gateway.HoldCompleted || holds[1].Ended != gateway.HoldReleased || holds[2].Ended != gateway.HoldReleased {
		t.Errorf("held by %+v, %v", holds, err)
	}
	for _, id := range ids {
		if d := b.delivery(t, id); d.ClaimID == nil || *d.ClaimID != c.ID {
			t.Errorf("%s does not tell its claim", id)
		}
	}
}

// Facts about other subjects, other endpoints and types that repeat do not wait
// for each other.
func TestSingleFireIsPerEndpointAndSubject(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtResend)
	r := newReceiver(t, status(200))
	one, other := b.endpoint(t, r.URL), b.endpoint(t, r.URL)
	ids := slices.Concat(b.report(t, one, 1), b.report(t, other, 1), b.report(t, one, 1), b.queue(t, one, 2))
	b.exec(t, `UPDATE events SET subject = 'customer-2' WHERE id = $1`, b.delivery(t, ids[2]).EventID)
	b.exec(t, `UPDATE events SET subject = 'customer-1' WHERE type = $1`, eventType)
	b.wake(one)
	b.wake(other)
	for _, id := range ids {
		b.untilStatus(t, id, gateway.DeliveryDelivered)
	}
	if n := b.count(t, `SELECT count(*) FROM claims WHERE state = 'done'`); n != 3 {
		t.Errorf("%d claims", n)
	}
	if n := b.count(t, `SELECT count(*) FROM deliveries WHERE claim_id IS NULL`); n != 2 {
		t.Errorf("%d deliveries without a claim", n)
	}
}

// park leaves one delivery of the fact in the air and n behind it, and returns
// all of them, those that wait in the order in which they have the turn: by their
// ids, which of events within one millisecond is any.
func (b *bundle) park(t *testing.T, e gateway.Endpoint, n int) (holder gateway.DeliveryID, parked []gateway.DeliveryID) {
	t.Helper()
	holder = b.report(t, e, 1)[0]
	b.wake(e)
	b.untilStatus(t, holder, gateway.DeliverySending)
	parked = b.report(t, e, n)
	b.wake(e)
	b.untilCount(t, n, `SELECT count(*) FROM deliveries WHERE waiting_on IS NOT NULL`)
	slices.SortFunc(parked, gateway.DeliveryID.Compare)
	return holder, parked
}

// What waits has the turn when the holder is closed, whatever closes it: the
// oldest first.
func TestTurnPasses(t *testing.T) {
	t.Parallel()
	for name, closes := range map[string]func(t *testing.T, b *bundle, e gateway.Endpoint, holder gateway.DeliveryID) error{
		"cancelled": func(t *testing.T, b *bundle, _ gateway.Endpoint, holder gateway.DeliveryID) error {
			_, err := b.Cancel(t.Context(), b.account, actor, holder)
			return err
		},
		"payload deleted": func(t *testing.T, b *bundle, _ gateway.Endpoint, holder gateway.DeliveryID) error {
			return b.store.InTx(t.Context(), func(tx store.Tx) error {
				_, err := tx.DeletePayload(t.Context(), b.account, b.delivery(t, holder).EventID)
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, func(o *deliver.Options) { o.Schedule = []time.Duration{time.Hour} })
			b.singleFire(t, gateway.OnDoubtHold)
			gate := make(chan struct{})
			r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				if n == 1 {
					<-gate
					w.WriteHeader(http.StatusInternalServerError)
				}
			})
			e := b.endpoint(t, r.URL)
			holder, parked := b.park(t, e, 3)
			close(gate)
			b.untilStatus(t, holder, gateway.DeliveryPending)
			if n := b.count(t, `SELECT count(*) FROM deliveries WHERE waiting_on IS NOT NULL AND next_attempt_at IS NULL`); n != 3 {
				t.Errorf("%d wait for the holder's next attempt", n)
			}
			if err := closes(t, b, e, holder); err != nil {
				t.Fatal(err)
			}
			b.wake(e) // as the lane's alarm and the job do
			b.untilStatus(t, parked[0], gateway.DeliveryDelivered)
			for _, id := range parked[1:] {
				b.untilStatus(t, id, gateway.DeliverySuppressed)
			}
			wantKeys(t, r, b.theClaim(t), "1", "2")
		})
	}
}

// A holder that is given up gives the turn on in the transaction that records
// it, down to the last.
func TestTurnPassesWhenGivenUp(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(o *deliver.Options) { o.Schedule = []time.Duration{} })
	b.singleFire(t, gateway.OnDoubtHold)
	r := newReceiver(t, status(500))
	e := b.endpoint(t, r.URL)
	ids := b.report(t, e, 5)
	b.wake(e)
	for _, id := range ids {
		b.untilStatus(t, id, gateway.DeliveryFailed)
	}
	c := b.theClaim(t)
	if c.State != gateway.ClaimReleased {
		t.Errorf("claim %+v", c)
	}
	wantKeys(t, r, c, "1", "2", "3", "4", "5")
}

// What the receiver confirms is confirmed, though its delivery was cancelled
// while it was in the air.
func TestConfirmedThoughCancelled(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtResend)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL)
	holder, parked := b.park(t, e, 2)
	if _, err := b.Cancel(t.Context(), b.account, actor, holder); err != nil {
		t.Fatal(err)
	}
	close(gate)
	for _, id := range parked {
		b.untilStatus(t, id, gateway.DeliverySuppressed)
	}
	if c := b.theClaim(t); c.State != gateway.ClaimDone || len(r.requests()) != 1 {
		t.Errorf("%d requests, claim %+v", len(r.requests()), c)
	}
	if d := b.delivery(t, holder); d.Status != gateway.DeliveryCancelled {
		t.Errorf("the holder is %s", d.Status)
	}
}

// A person frees a claim while it is in the air. As long as nobody else has
// claimed it, the receiver's word counts all the same.
func TestConfirmedThoughReclaimed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtHold)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL)
	holder := b.report(t, e, 1)[0]
	b.wake(e)
	b.untilStatus(t, holder, gateway.DeliverySending)
	if _, err := b.ledger().Reclaim(t.Context(), b.account, actor, b.theClaim(t).ID, 0, "stuck"); err != nil {
		t.Fatal(err)
	}
	close(gate)
	b.untilStatus(t, holder, gateway.DeliveryDelivered)
	if c := b.theClaim(t); c.State != gateway.ClaimDone {
		t.Errorf("claim %+v", c)
	}
}

// crash has a node take the fact and die before it says what came of it. Its
// lane is over; its claim goes on for a while.
func (b *bundle) crash(t *testing.T, e gateway.Endpoint, doubt gateway.OnDoubt, id gateway.DeliveryID) {
	t.Helper()
	lane, ok, err := b.store.AcquireLane(t.Context(), b.account, e.ID, "dead")
	if err != nil || !ok {
		t.Fatalf("the lane is had: %v, %v", ok, err)
	}
	b.in(t, func(tx store.Tx) error {
		if _, err := tx.TakeDue(t.Context(), lane, 1); err != nil {
			return err
		}
		won, err := tx.ClaimTaken(t.Context(), lane, []store.WantedClaim{{
			Delivery: id, ID: gateway.ClaimID(b.clock.NewID()), Scope: e.ID, EventType: fact, Subject: subject, OnDoubt: doubt,
		}}, time.Hour)
		if err == nil && len(won) != 1 {
			err = errors.New("the claim was not won")
		}
		return err
	})
	b.exec(t, `UPDATE lanes SET leased_until = clock_timestamp() - interval '1 second'`)
	b.exec(t, `INSERT INTO nodes VALUES ('n1', clock_timestamp() + interval '1 hour', clock_timestamp() - interval '1 hour', now(), '', '')`)
}

// endLease has the claim's lease be over, and who waits for it be due.
func (b *bundle) endLease(t *testing.T) {
	t.Helper()
	b.exec(t, `UPDATE claims SET lease_expires_at = clock_timestamp() - interval '1 second'`)
	b.exec(t, `UPDATE deliveries SET next_attempt_at = now() WHERE waiting_on IS NOT NULL AND next_attempt_at IS NOT NULL`)
}

// The process died between claim and record: when the lease has ended, the fact
// goes out again under the same key and a higher fence.
func TestInDoubtResend(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtResend)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL)
	id := b.report(t, e, 1)[0]
	b.crash(t, e, gateway.OnDoubtResend, id)
	b.wake(e)
	b.untilCount(t, 1, `SELECT count(*) FROM deliveries WHERE waiting_on IS NOT NULL AND next_attempt_at > now() + interval '30 minutes'`)
	b.endLease(t)
	b.wake(e)
	b.untilStatus(t, id, gateway.DeliveryDelivered)
	wantKeys(t, r, b.theClaim(t), "2")
	attempts := b.attempts(t, id)
	if len(attempts) != 2 || attempts[0].Outcome != gateway.OutcomeUnknown || attempts[1].Outcome != gateway.OutcomeSucceeded {
		t.Errorf("attempts %+v", attempts)
	}
	if n := b.count(t, `SELECT count(*) FROM events WHERE type = $1`, gateway.TypeClaimDoubtful); n != 1 {
		t.Errorf("told %d times", n)
	}
	if _, err := b.TellInDoubt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.count(t, `SELECT count(*) FROM events WHERE type = $1`, gateway.TypeClaimDoubtful); n != 1 {
		t.Errorf("told %d times after a second look", n)
	}
}

// The same where the receiver cannot tell repeats: it waits for a person, who
// frees it, or says that it is done.
func TestInDoubtHold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(t *testing.T, b *bundle, c gateway.Claim) error
		want gateway.DeliveryStatus
	}{
		"reclaimed": {func(t *testing.T, b *bundle, c gateway.Claim) error {
			_, err := b.ledger().Reclaim(t.Context(), b.account, actor, c.ID, c.Fence, "the node died")
			return err
		}, gateway.DeliveryDelivered},
		"reclaimed with all that has ended": {func(t *testing.T, b *bundle, _ gateway.Claim) error {
			done, err := b.ledger().ReclaimEnded(t.Context(), b.account, actor, store.EndedClaims{Until: b.clock.Now()}, "the node died")
			if done.N != 1 {
				t.Errorf("reclaimed %+v", done)
			}
			return err
		}, gateway.DeliveryDelivered},
		"resolved": {func(t *testing.T, b *bundle, c gateway.Claim) error {
			_, err := b.ledger().Resolve(t.Context(), b.account, actor, c.ID, c.Fence, "they have it")
			return err
		}, gateway.DeliverySuppressed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			b.singleFire(t, gateway.OnDoubtHold)
			r := newReceiver(t, status(200))
			e := b.endpoint(t, r.URL)
			id := b.report(t, e, 1)[0]
			b.crash(t, e, gateway.OnDoubtHold, id)
			b.wake(e)
			b.untilCount(t, 1, `SELECT count(*) FROM deliveries WHERE waiting_on IS NOT NULL AND next_attempt_at IS NULL`)
			b.endLease(t)
			if told, err := b.TellInDoubt(t.Context()); err != nil || told != 1 {
				t.Errorf("told of %d, %v", told, err)
			}
			if told, err := b.TellInDoubt(t.Context()); err != nil || told != 0 {
				t.Errorf("told of %d again, %v", told, err)
			}
			stuck := b.theClaim(t)
			if !stuck.IsStuck(b.clock.Now()) {
				t.Errorf("claim %+v", stuck)
			}
			if err := c.act(t, b, stuck); err != nil {
				t.Fatal(err)
			}
			b.wake(e)
			b.untilStatus(t, id, c.want)
			pgtest.Until(t, "the claim is done", func() bool { return b.theClaim(t).State == gateway.ClaimDone })
		})
	}
}

// A fact in doubt whose delivery a person has cancelled is not lost to those
// that wait for it.
func TestInDoubtAndCancelled(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtResend)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL)
	ids := b.report(t, e, 2)
	b.crash(t, e, gateway.OnDoubtResend, ids[0])
	b.wake(e)
	b.untilCount(t, 2, `SELECT count(*) FROM deliveries WHERE waiting_on IS NOT NULL`)
	b.exec(t, `UPDATE deliveries SET next_attempt_at = NULL WHERE id = $1`, ids[1])
	if _, err := b.Cancel(t.Context(), b.account, actor, ids[0]); err != nil {
		t.Fatal(err)
	}
	b.endLease(t)
	for range 2 {
		if err := b.RepairTurns(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.wake(e)
	b.untilStatus(t, ids[1], gateway.DeliveryDelivered)
}

// A failover's delivery goes out under the claim of the endpoint that the event
// was for: the two count as one.
func TestSingleFireAlongAChain(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(o *deliver.Options) { o.Schedule = []time.Duration{} })
	b.singleFire(t, gateway.OnDoubtResend)
	broken, works := newReceiver(t, status(500)), newReceiver(t, status(200))
	next := b.endpoint(t, works.URL)
	head := b.endpoint(t, broken.URL, func(e *gateway.Endpoint) { e.Failover = &next.ID })
	id := b.report(t, head, 1)[0]
	b.wake(head)
	b.untilStatus(t, id, gateway.DeliveryFailed)
	b.untilStatus(t, gateway.DeriveDeliveryID(b.delivery(t, id).EventID, next.ID), gateway.DeliveryDelivered)
	c := b.theClaim(t)
	if c.State != gateway.ClaimDone || c.Scope != head.ID.String() {
		t.Errorf("claim %+v", c)
	}
	wantKeys(t, broken, c, "1")
	wantKeys(t, works, c, "2")
	again := b.report(t, head, 1)[0]
	b.wake(head)
	b.untilStatus(t, again, gateway.DeliverySuppressed)
}

// Sending a confirmed fact again needs a reason, and goes out under the same
// key.
func TestRedeliverWhatIsDone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtResend)
	r := newReceiver(t, status(200, 500, 200))
	e := b.endpoint(t, r.URL)
	ids := b.report(t, e, 2)
	b.wake(e)
	b.untilCount(t, 2, `SELECT count(*) FROM deliveries WHERE status IN ('delivered', 'suppressed')`)
	for _, id := range ids {
		if _, err := b.Redeliver(t.Context(), b.account, actor, id, nil, ""); !errors.Is(err, gateway.ErrClaimDone) {
			t.Errorf("without a reason: %v", err)
		}
	}
	if _, err := b.Redeliver(t.Context(), b.account, actor, ids[0], nil, "they lost it"); err != nil {
		t.Fatal(err)
	}
	pgtest.Until(t, "it is confirmed again", func() bool {
		return len(r.requests()) == 3 && b.delivery(t, ids[0]).Status == gateway.DeliveryDelivered
	})
	wantKeys(t, r, b.theClaim(t), "1", "1", "1")
	if n := b.count(t, `SELECT count(*) FROM audit_log WHERE action = 'delivery.redeliver' AND detail = 'they lost it'`); n != 1 {
		t.Errorf("%d reasons are written down", n)
	}
	if c := b.theClaim(t); c.State != gateway.ClaimDone || c.Fence != 1 {
		t.Errorf("claim %+v", c)
	}
}

func TestRedeliverWhileTheFactIsInTheAir(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtResend)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL)
	holder, parked := b.park(t, e, 1)
	if _, err := b.Redeliver(t.Context(), b.account, actor, parked[0], nil, ""); !errors.Is(err, gateway.ErrClaimInProgress) {
		t.Errorf("of what waits: %v", err)
	}
	if _, err := b.Redeliver(t.Context(), b.account, actor, holder, nil, ""); !errors.Is(err, gateway.ErrDeliveryInFlight) {
		t.Errorf("of the holder: %v", err)
	}
	close(gate)
	b.untilStatus(t, parked[0], gateway.DeliverySuppressed)
}

// A reason lets a confirmed fact be sent again; one that is not confirmed is
// claimed all the same, and confirmed once.
func TestOverrideOfWhatIsNotDone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtResend)
	r := newReceiver(t, status(500, 200))
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) { e.RetrySchedule = []time.Duration{time.Hour} })
	first := b.report(t, e, 1)[0]
	b.wake(e)
	b.untilAttempts(t, first, 1)
	b.untilStatus(t, first, gateway.DeliveryPending)
	b.report(t, e, 1)
	if _, err := b.Redeliver(t.Context(), b.account, actor, first, nil, "once more"); err != nil {
		t.Fatal(err)
	}
	b.wake(e)
	b.untilCount(t, 0, `SELECT count(*) FROM deliveries WHERE status IN ('pending', 'sending')`)
	if n := b.count(t, `SELECT count(*) FROM attempts WHERE outcome = 'succeeded'`); n != 1 {
		t.Errorf("%d confirmations", n)
	}
	wantKeys(t, r, b.theClaim(t), "1", "2")
}

// Whoever waits, and is locked by somebody who gives up while the fact is
// confirmed, is not forgotten.
func TestConfirmedWhileAWaitingOneIsLocked(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtHold)
	gate := make(chan struct{})
	r := newReceiver(t, held(t, gate))
	e := b.endpoint(t, r.URL)
	holder, parked := b.park(t, e, 2)
	errGivenUp := errors.New("given up")
	err := b.store.InTx(t.Context(), func(tx store.Tx) error {
		if _, err := tx.CancelDelivery(t.Context(), b.account, parked[0]); err != nil {
			return err
		}
		close(gate)
		b.untilStatus(t, holder, gateway.DeliveryDelivered)
		return errGivenUp
	})
	if !errors.Is(err, errGivenUp) {
		t.Fatal(err)
	}
	b.untilStatus(t, parked[1], gateway.DeliverySuppressed)
	if n := b.count(t, `SELECT count(*) FROM claims WHERE waited`); n != 1 {
		t.Error("nobody knows that one still waits")
	}
	b.endLease(t)
	for range 2 {
		if err := b.RepairTurns(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.untilStatus(t, parked[0], gateway.DeliverySuppressed)
	b.untilCount(t, 0, `SELECT count(*) FROM claims WHERE waited`)
}

// A person is asked about a fact in doubt, and sending it anew is no answer.
func TestRedeliverInDoubt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.singleFire(t, gateway.OnDoubtHold)
	e := b.endpoint(t, newReceiver(t, status(200)).URL)
	id := b.report(t, e, 1)[0]
	b.crash(t, e, gateway.OnDoubtHold, id)
	b.wake(e)
	b.untilCount(t, 1, `SELECT count(*) FROM deliveries WHERE waiting_on IS NOT NULL`)
	b.endLease(t)
	if _, err := b.Redeliver(t.Context(), b.account, actor, id, nil, ""); !errors.Is(err, gateway.ErrClaimInProgress) {
		t.Errorf("redelivered: %v", err)
	}
}
