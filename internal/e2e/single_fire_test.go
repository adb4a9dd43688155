package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"
)

const (
	fact    = "credit.checked"
	subject = "customer-1"
	// claimLease is how long a claim of this test's endpoint lasts: its timeout
	// and 10 s.
	claimLease = 12 * time.Second
)

// ledgerObject is a claim, as far as it is looked at.
type ledgerObject struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Fence   int    `json:"fence"`
	Holders []struct {
		Fence int    `json:"fence"`
		Ended string `json:"ended"`
	} `json:"holders"`
}

type ledgerList struct {
	Data []ledgerObject `json:"data"`
}

type deliveryList struct {
	Data []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"data"`
}

// once is a world with an endpoint and a type whose facts reach it once.
type once struct {
	t        *testing.T
	database database
	nodes    []*node
	account  *account
	receiver *receiver
}

func newOnce(t *testing.T, onDoubt string, nodes int) *once {
	t.Helper()
	o := &once{t: t, database: newDatabase(t, shared), receiver: newReceiver(t, func() time.Duration { return 0 })}
	environ := onDatabase(t, o.database)
	for range nodes {
		o.nodes = append(o.nodes, startNode(t, environ))
	}
	o.account = newAccount(t, o.nodes[0])
	want[struct{}](t, o.account, http.StatusCreated, http.MethodPost, "/event-types",
		fmt.Sprintf(`{"name":%q,"single_fire":true,"on_doubt":%q}`, fact, onDoubt))
	want[endpointObject](t, o.account, http.StatusCreated, http.MethodPost, "/endpoints",
		fmt.Sprintf(`{"url":%q,"secret":%q,"timeout":"2s"}`, o.receiver.url+everything, o.receiver.secret))
	return o
}

// report publishes the fact, under an event of its own.
func (o *once) report() {
	o.t.Helper()
	want[struct{}](o.t, o.account, http.StatusAccepted, http.MethodPost, "/events",
		fmt.Sprintf(`{"type":%q,"subject":%q,"data":{}}`, fact, subject))
}

// claim is the one claim that there is.
func (o *once) claim() ledgerObject {
	o.t.Helper()
	all := want[ledgerList](o.t, o.account, http.StatusOK, http.MethodGet, "/claims?subject="+subject, "").Data
	if len(all) != 1 {
		o.t.Fatalf("%d claims", len(all))
	}
	return want[ledgerObject](o.t, o.account, http.StatusOK, http.MethodGet, "/claims/"+all[0].ID, "")
}

func (o *once) untilDone() ledgerObject {
	o.t.Helper()
	var c ledgerObject
	waitFor(o.t, patience, "the fact is confirmed", func() bool {
		c = o.claim()
		return c.State == "done"
	})
	return c
}

// untilHit waits until the receiver has got so many requests.
func (o *once) untilHit(n int) []hit {
	o.t.Helper()
	waitFor(o.t, patience, fmt.Sprintf("%d requests", n), func() bool { return len(o.receiver.all()) >= n })
	return o.receiver.all()
}

// statuses counts the deliveries by their status.
func (o *once) statuses() map[string]int {
	o.t.Helper()
	n := map[string]int{}
	for _, d := range want[deliveryList](o.t, o.account, http.StatusOK, http.MethodGet, "/deliveries?limit=250", "").Data {
		n[d.Status]++
	}
	return n
}

// untilStatuses waits until the deliveries have these.
func (o *once) untilStatuses(delivered, suppressed int) {
	o.t.Helper()
	var now map[string]int
	waitFor(o.t, patience, "the deliveries are closed", func() bool {
		now = o.statuses()
		return now["delivered"] == delivered && now["suppressed"] == suppressed && len(now) == min(delivered, 1)+min(suppressed, 1)
	})
}

// wantSent fails unless these fences went out, all under the claim's key.
func (o *once) wantSent(c ledgerObject, fences ...int) {
	o.t.Helper()
	var got []int
	for _, h := range o.receiver.all() {
		got = append(got, h.fence)
		if h.delivery != c.ID {
			o.t.Errorf("sent with the Idempotency-Key %s, want %s", h.delivery, c.ID)
		}
	}
	if !slices.Equal(got, fences) {
		o.t.Errorf("fences %v were sent, want %v", got, fences)
	}
}

// dieSending kills the node while the receiver has the fact and has not
// answered, and starts it again.
func (o *once) dieSending() {
	o.t.Helper()
	release := o.receiver.hold()
	o.report()
	o.untilHit(1)
	o.report() // it waits behind the first
	o.nodes[0].kill()
	release()
	o.nodes[0].boot()
}

// The process dies between claim and record. Where the receiver can tell
// repeats, the fact goes out again when the lease ends: under the same key, with
// a higher fence; the other report of it is suppressed.
func TestKilledBetweenClaimAndRecord(t *testing.T) {
	t.Parallel()
	o := newOnce(t, "resend", 1)
	o.dieSending()
	began := time.Now()
	hits := o.untilHit(2)
	if gap := hits[1].at.Sub(hits[0].at); gap < claimLease-time.Second {
		t.Errorf("sent again after %s, before the lease of %s was over", gap, claimLease)
	}
	c := o.untilDone()
	o.wantSent(c, 1, 2)
	o.untilStatuses(1, 1)
	if last := c.Holders[len(c.Holders)-1]; last.Ended != "" {
		t.Errorf("the first holder ended as %q, want that nobody knows", last.Ended)
	}
	t.Logf("made good after %s", time.Since(began).Round(time.Millisecond))
}

// The same where the receiver cannot: the fact waits for a person.
func TestKilledBetweenClaimAndRecordWaitsForAPerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		action, body string
		sent         []int
		delivered    int
	}{
		"reclaim": {"reclaim", `{"reason":"they have nothing"}`, []int{1, 2}, 1},
		"resolve": {"resolve", `{"fence":1,"reason":"they have it"}`, []int{1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOnce(t, "hold", 1)
			o.dieSending()
			waitFor(t, patience, "somebody is asked", func() bool {
				return len(want[ledgerList](t, o.account, http.StatusOK, http.MethodGet, "/claims?stuck=true", "").Data) == 1
			})
			waitFor(t, patience, "it is told", func() bool {
				return len(want[deliveryList](t, o.account, http.StatusOK, http.MethodGet, "/events?type=rowlock.claim.doubtful", "").Data) == 1
			})
			waitFor(t, patience, "both reports wait", func() bool { return o.statuses()["pending"] == 2 })
			if n := len(o.receiver.all()); n != 1 {
				t.Fatalf("%d requests, before anybody has decided", n)
			}
			want[ledgerObject](t, o.account, http.StatusOK, http.MethodPost, "/claims/"+o.claim().ID+"/"+c.action, c.body)
			o.untilStatuses(c.delivered, 2-c.delivered)
			o.wantSent(o.untilDone(), c.sent...)
		})
	}
}

// A node is frozen inside a send, and goes on when another has taken the fact
// over. What it records is refused; the ledger has one completion.
func TestFrozenInsideASend(t *testing.T) {
	t.Parallel()
	o := newOnce(t, "resend", 2)
	release := o.receiver.hold()
	o.report()
	o.untilHit(1)
	frozen := o.holder()
	frozen.signal(syscall.SIGSTOP)
	other := o.nodes[0]
	if other == frozen {
		other = o.nodes[1]
	}
	o.account.node = other
	release()
	o.untilHit(2)
	c := o.untilDone()
	frozen.signal(syscall.SIGCONT)
	frozen.untilReady()
	o.report()
	o.untilStatuses(1, 1)
	o.wantSent(c, 1, 2)
	completed := 0
	for _, h := range o.claim().Holders {
		if h.Ended == "completed" {
			completed++
		}
	}
	if completed != 1 {
		t.Errorf("%d completions", completed)
	}
}

// holder is the node that has the only lane in use.
func (o *once) holder() *node {
	o.t.Helper()
	names := query[struct{ Node string }](o.t, o.database.url(), `
		SELECT l.node
		FROM lanes l
		JOIN deliveries d ON d.endpoint_id = l.endpoint_id
		WHERE d.status = 'sending'`)
	if len(names) != 1 {
		o.t.Fatalf("%d lanes are in use", len(names))
	}
	started := query[struct{ Node string }](o.t, o.database.url(), `SELECT node FROM nodes ORDER BY started_at`)
	for i, s := range started {
		if s.Node == names[0].Node && i < len(o.nodes) {
			return o.nodes[i]
		}
	}
	o.t.Fatal("nobody has the lane")
	return nil
}
