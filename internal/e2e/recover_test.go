package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// operationObject is a bulk operation, as far as tests read it.
type operationObject struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Total  int    `json:"total"`
	Done   int    `json:"done"`
	Failed int    `json:"failed"`
}

// outage is an endpoint that refused everything for a while: nothing of what
// was published then is open any more.
type outage struct {
	t        *testing.T
	database database
	node     *node
	account  *account
	receiver *receiver
	endpoint string
	began    time.Time
	// before is how often each event had come when the outage was over.
	before map[string]int
}

// newOutage publishes so many events to an endpoint that refuses them, and
// returns when all have failed and the receiver takes deliveries again.
func newOutage(t *testing.T, events int, delay func() time.Duration) *outage {
	t.Helper()
	o := &outage{t: t, database: newDatabase(t, shared), began: time.Now().Add(-time.Minute)}
	o.node = startNode(t, onDatabase(t, o.database))
	o.account = newPerson(t, o.node)
	o.receiver = newReceiver(t, func() time.Duration { return 0 })
	o.receiver.answer(http.StatusBadRequest) // it is there: a lane is not narrowed
	o.endpoint = want[endpointObject](t, o.account, http.StatusCreated, http.MethodPost, "/endpoints",
		fmt.Sprintf(`{"url":%q,"secret":%q,"retry_schedule":[],"description":"ERP sync"}`, o.receiver.url+everything, o.receiver.secret)).ID
	o.publish(events)
	waitFor(t, patience, "all have failed", func() bool { return o.count("failed") == events })
	o.receiver.answer(http.StatusOK)
	o.receiver.setDelay(delay)
	o.before = o.counts()
	return o
}

// publish sends events, a thousand a call.
func (o *outage) publish(n int) {
	o.t.Helper()
	for ; n > 0; n -= 1000 {
		events := strings.TrimSuffix(strings.Repeat(`{"type":"order.created","data":{}},`, min(n, 1000)), ",")
		want[struct{}](o.t, o.account, http.StatusAccepted, http.MethodPost, "/events/batch", `{"events":[`+events+`]}`)
	}
}

// count is how many deliveries have a status.
func (o *outage) count(status string) int {
	o.t.Helper()
	type row struct{ N int }
	return query[row](o.t, o.database.url(), `SELECT count(*)::int FROM deliveries WHERE status = $1`, status)[0].N
}

// counts is how often each event came.
func (o *outage) counts() map[string]int {
	counts := map[string]int{}
	for _, h := range o.receiver.all() {
		counts[h.event]++
	}
	return counts
}

// came is how many deliveries came since the outage was over.
func (o *outage) came() int {
	o.t.Helper()
	return len(o.receiver.all()) - len(o.before)
}

// recover asks for everything that failed; more are further fields.
func (o *outage) recover(more string) operationObject {
	o.t.Helper()
	return want[operationObject](o.t, o.account, http.StatusAccepted, http.MethodPost, "/endpoints/"+o.endpoint+"/recover",
		fmt.Sprintf(`{"since":%q%s}`, o.began.UTC().Format(time.RFC3339), more))
}

func (o *outage) operation(id string) operationObject {
	o.t.Helper()
	return want[operationObject](o.t, o.account, http.StatusOK, http.MethodGet, "/operations/"+id, "")
}

// wantOnceMore checks that each event came once more than before; those that
// were under way at a kill may have come twice.
func (o *outage) wantOnceMore(underWay map[string]bool) {
	o.t.Helper()
	repeated, faults := 0, 0
	for event, n := range o.counts() {
		switch more := n - o.before[event]; {
		case more == 1:
		case more == 2 && underWay[event]:
			repeated++
		default:
			if faults++; faults <= maxTold {
				o.t.Errorf("event %s came %d times more, under way at the kill: %t", event, more, underWay[event])
			}
		}
	}
	o.t.Logf("%d events came once more, %d of %d under way at the kill came twice", len(o.before)-repeated-faults, repeated, len(underWay))
}

// One recovery restores five thousand deliveries, and a process that is killed
// in the middle of it goes on where it was.
func TestRecoverSurvivesAKill(t *testing.T) {
	t.Parallel()
	const events = 5000
	o := newOutage(t, events, func() time.Duration { return 5 * time.Millisecond })
	started := o.recover("")
	waitFor(t, patience, "a part of it has come", func() bool { return o.came() > events/5 })
	o.node.kill()
	var underWay map[string]bool
	same := 0
	waitFor(t, leaseTime/2, "the ledger stands still", func() bool {
		now := map[string]bool{}
		for _, f := range sendingEvents(t, o.database.url()) {
			now[f] = true
		}
		if len(now) != len(underWay) {
			underWay, same = now, 0
		}
		same++
		return same >= stillFor
	})
	at := o.came()
	o.node.boot()
	if o.operation(started.ID).State == "done" {
		t.Error("the operation was done before the kill: it proves nothing")
	}
	waitFor(t, patience, "everything is delivered", func() bool { return o.count("delivered") == events })
	waitFor(t, patience, "the operation is done", func() bool { return o.operation(started.ID).State == "done" })
	if done := o.operation(started.ID); done.Total != events || done.Done != events || done.Failed != 0 {
		t.Errorf("the operation ended as %+v", done)
	}
	t.Logf("killed after %d", at)
	o.wantOnceMore(underWay)
}

// sendingEvents are the events of what is being sent.
func sendingEvents(t testing.TB, url string) (ids []string) {
	t.Helper()
	type row struct{ ID [16]byte }
	for _, r := range query[row](t, url, `SELECT event_id FROM deliveries WHERE status = 'sending'`) {
		ids = append(ids, gateway.EventID(r.ID).String())
	}
	return ids
}

// Stop stops: what was not sent yet is what it was before.
func TestRecoverIsStopped(t *testing.T) {
	t.Parallel()
	const events = 1500
	o := newOutage(t, events, func() time.Duration { return 20 * time.Millisecond })
	started := o.recover(`,"per_second":200`)
	waitFor(t, patience, "a part of it has come", func() bool { return o.came() > events/10 })
	stopped := want[operationObject](t, o.account, http.StatusOK, http.MethodPost, "/operations/"+started.ID+"/cancel", "")
	if stopped.State != "cancelled" {
		t.Errorf("the stopped operation is %+v", stopped)
	}
	waitFor(t, patience, "nothing is open", func() bool { return o.count("pending")+o.count("sending") == 0 })
	delivered, failed := o.count("delivered"), o.count("failed")
	if delivered+failed != events || failed == 0 || delivered != o.came() {
		t.Errorf("%d delivered, %d came, %d failed of %d", delivered, o.came(), failed, events)
	}
	// What is left is recovered by the next one.
	next := o.recover("")
	waitFor(t, patience, "the rest is delivered", func() bool { return o.count("delivered") == events })
	waitFor(t, patience, "the operation is done", func() bool { return o.operation(next.ID).State == "done" })
	if done := o.operation(next.ID); done.Done != failed {
		t.Errorf("the second operation reopened %d, want %d", done.Done, failed)
	}
	o.wantOnceMore(nil)
}
