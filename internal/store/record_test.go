package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// sending is an endpoint with one delivery in the air.
func (b bundle) sending(t *testing.T) (store.Lane, store.Taken) {
	t.Helper()
	e := b.newEndpoint(t)
	b.queued(t, e.ID, 1)
	lane := b.acquire(t, e.ID, "n")
	return lane, b.takeDue(t, lane, 1)[0]
}

func TestRecord(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, c := range []struct {
		outcome gateway.Outcome
		status  gateway.DeliveryStatus
	}{
		{gateway.OutcomeSucceeded, gateway.DeliveryDelivered},
		{gateway.OutcomeRejected, gateway.DeliveryPending},
		{gateway.OutcomeUnreachable, gateway.DeliveryPending},
		{gateway.OutcomeRejected, gateway.DeliveryFailed},
	} {
		lane, d := b.sending(t)
		r := b.answered(d, c.outcome, c.status)
		changed := b.record(t, lane, r)
		if diff := cmp.Diff(map[gateway.AttemptID]bool{r.Attempt.ID(): true}, changed); diff != "" {
			t.Errorf("%s: changed %s", c.status, diff)
		}
		pending := c.status == gateway.DeliveryPending
		want := deliveryRow{
			Status: string(c.status), Attempts: 1, Step: 1, Fence: lane.Fence, Priority: gateway.PriorityRetry,
			Outcome: string(c.outcome), Trigger: "auto", Waits: pending, Closed: !pending,
		}
		if got := b.row(t, d.ID); got != want {
			t.Errorf("%s: %s", c.status, cmp.Diff(want, got))
		}
	}
}

func TestRecordKeepsTheAttempt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane, d := b.sending(t)
	r := b.answered(d, gateway.OutcomeRejected, gateway.DeliveryFailed)
	a := &r.Attempt
	a.StartedAt = a.StartedAt.Truncate(time.Microsecond)
	a.Duration = 1234 * time.Microsecond
	a.Timing = gateway.Timing{DNS: time.Millisecond, Connect: 2 * time.Millisecond, TLS: 3 * time.Millisecond, FirstByte: 4 * time.Millisecond}
	a.ErrorKind, a.Detail, a.StatusCode = gateway.ErrorTimeout, "it took too long", 503
	a.RequestHeaders, a.ResponseHeaders, a.ResponseBody = []byte("A: b\r\n"), []byte("C: d\r\n"), []byte("\x00\xff")
	b.record(t, lane, r)
	got, err := b.Attempt(t.Context(), b.account, a.ID())
	if err != nil {
		t.Fatal(err)
	}
	a.AccountID, a.EndpointID = b.account, lane.EndpointID
	if diff := cmp.Diff(*a, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// The second transaction is what a drain does that does not know whether the
// first one was committed.
func TestRecordTwice(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane, d := b.sending(t)
	first := b.record(t, lane, b.answered(d, gateway.OutcomeRejected, gateway.DeliveryPending))
	second := b.record(t, lane, b.answered(d, gateway.OutcomeSucceeded, gateway.DeliveryDelivered))
	if len(first) != 1 || len(second) != 0 {
		t.Errorf("changed %v and %v", first, second)
	}
	if got := b.row(t, d.ID); got.Status != "pending" || got.Outcome != "rejected" {
		t.Errorf("delivery: %+v", got)
	}
	attempts, err := b.DeliveryAttempts(t.Context(), b.account, d.ID)
	if err != nil || len(attempts) != 1 || attempts[0].Outcome != gateway.OutcomeRejected {
		t.Errorf("attempts %+v, %v", attempts, err)
	}
}

func TestRecordAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane, d := b.sending(t)
	changed := make([]int, 8)
	errs := b.atOnce(t.Context(), len(changed), func(tx store.Tx, i int) error {
		done, err := tx.Record(t.Context(), lane, []store.Result{b.answered(d, gateway.OutcomeSucceeded, gateway.DeliveryDelivered)})
		changed[i] = len(done)
		return err
	})
	wantErrors(t, errs, len(changed), nil)
	total := 0
	for _, n := range changed {
		total += n
	}
	if n := b.count(t, `SELECT count(*) FROM attempts`); total != 1 || n != 1 {
		t.Errorf("%d changes, %d attempts, want one of each", total, n)
	}
}

func TestRecordOfACancelledDelivery(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane, d := b.sending(t)
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CancelDelivery(t.Context(), b.account, d.ID)
		return err
	})
	if changed := b.record(t, lane, b.answered(d, gateway.OutcomeSucceeded, gateway.DeliveryDelivered)); len(changed) != 0 {
		t.Errorf("changed %v", changed)
	}
	if got := b.row(t, d.ID); got.Status != "cancelled" || !got.Closed {
		t.Errorf("delivery: %+v", got)
	}
	attempts, err := b.DeliveryAttempts(t.Context(), b.account, d.ID)
	if err != nil || len(attempts) != 1 || attempts[0].Outcome != gateway.OutcomeSucceeded {
		t.Errorf("attempts %+v, %v", attempts, err)
	}
}

// A delivery that was cancelled in the air and redelivered is being sent a
// second time, under the same fence: the first answer must not close it, nor
// make it due while the second is on its way.
func TestRecordIsOfOneAttempt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane, first := b.sending(t)
	b.in(t, func(tx store.Tx) error {
		if _, err := tx.CancelDelivery(t.Context(), b.account, first.ID); err != nil {
			return err
		}
		_, err := tx.Reopen(t.Context(), b.account, first.ID, 1, gateway.TriggerManual, false)
		return err
	})
	second := b.takeDue(t, lane, 1)[0]
	if changed := b.record(t, lane, b.answered(first, gateway.OutcomeRejected, gateway.DeliveryPending)); len(changed) != 0 {
		t.Errorf("the first answer changed %v", changed)
	}
	if got := b.row(t, first.ID); got.Status != "sending" || got.Attempts != 2 {
		t.Errorf("after the first answer: %+v", got)
	}
	if changed := b.record(t, lane, b.answered(second, gateway.OutcomeSucceeded, gateway.DeliveryDelivered)); len(changed) != 1 {
		t.Errorf("the second answer changed %v", changed)
	}
	if n := b.count(t, `SELECT count(*) FROM attempts`); n != 2 {
		t.Errorf("%d attempts, want both", n)
	}
}

func TestRecordOfNoAttempt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane, d := b.sending(t)
	r := b.answered(d, "", gateway.DeliveryCancelled)
	r.NoAttempt = true
	b.record(t, lane, r)
	if got := b.row(t, d.ID); got.Status != "cancelled" || got.Outcome != "" {
		t.Errorf("delivery: %+v", got)
	}
	if n := b.count(t, `SELECT count(*) FROM attempts`); n != 0 {
		t.Errorf("%d attempts", n)
	}
}

// What was taken and not tried goes back with its number, which the next attempt has;
// whoever says so twice, or late, changes nothing.
func TestRecordOfWhatWasNotTried(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	lane, first := b.sending(t)
	b.record(t, lane, b.answered(first, gateway.OutcomeRejected, gateway.DeliveryPending))
	b.exec(t, 1, `UPDATE deliveries SET next_attempt_at = now() WHERE id = $1`, first.ID)
	d := b.takeDue(t, lane, 1)[0]
	untried := b.answered(d, "", gateway.DeliveryPending)
	untried.NoAttempt, untried.NextAttemptAt = true, b.clock.Now()
	changed := make([]int, 4)
	errs := b.atOnce(t.Context(), len(changed), func(tx store.Tx, i int) error {
		done, err := tx.Record(t.Context(), lane, []store.Result{untried})
		changed[i] = len(done)
		return err
	})
	wantErrors(t, errs, len(changed), nil)
	total := 0
	for _, n := range changed {
		total += n
	}
	want := deliveryRow{
		Status: "pending", Attempts: 1, Step: 1, Fence: lane.Fence, Priority: gateway.PriorityRetry,
		Outcome: "rejected", Trigger: "auto", Waits: true, Due: true,
	}
	if got := b.row(t, d.ID); got != want || total != 1 {
		t.Errorf("%d changes: %s", total, cmp.Diff(want, got))
	}
	again := b.takeDue(t, lane, 1)[0]
	if again.N != d.N || again.Step != d.Step {
		t.Errorf("taken again as number %d, step %d; want %d, %d", again.N, again.Step, d.N, d.Step)
	}
	if late := b.record(t, lane, b.answered(first, gateway.OutcomeSucceeded, gateway.DeliveryDelivered)); len(late) != 0 {
		t.Errorf("the answer of the attempt before changed %v", late)
	}
	if done := b.record(t, lane, b.answered(again, gateway.OutcomeSucceeded, gateway.DeliveryDelivered)); len(done) != 1 {
		t.Errorf("the attempt changed %v", done)
	}
	if late := b.record(t, lane, untried); len(late) != 0 {
		t.Errorf("told again, and late, it changed %v", late)
	}
	attempts, err := b.DeliveryAttempts(t.Context(), b.account, d.ID)
	if got := b.row(t, d.ID); err != nil || len(attempts) != 2 || got.Status != "delivered" || got.Attempts != 2 {
		t.Errorf("%d attempts, %+v, %v", len(attempts), got, err)
	}
}

func TestRecordGroup(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	b.queued(t, e.ID, 6)
	lane := b.acquire(t, e.ID, "n")
	var results []store.Result
	for i, d := range b.takeDue(t, lane, 6) {
		status := []gateway.DeliveryStatus{gateway.DeliveryDelivered, gateway.DeliveryPending, gateway.DeliveryFailed}[i%3]
		results = append(results, b.answered(d, gateway.OutcomeRejected, status))
	}
	if changed := b.record(t, lane, results...); len(changed) != 6 {
		t.Errorf("%d changed", len(changed))
	}
	for _, r := range results {
		if got := b.row(t, r.Attempt.DeliveryID); got.Status != string(r.Status) {
			t.Errorf("status %s, want %s", got.Status, r.Status)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM attempts`); n != 6 {
		t.Errorf("%d attempts", n)
	}
	if changed := b.record(t, lane); len(changed) != 0 {
		t.Errorf("no result changed %v", changed)
	}
}
