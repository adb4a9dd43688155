package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// listenUID is what the endpoint is called that is listened for.
	listenUID = "laptop"
	// handful is how many deliveries are with the local program at each blow.
	handful = 8
)

// listening is a server, a program that listens over a cable, and the local
// program that it forwards to.
type listening struct {
	t        *testing.T
	node     *node
	account  *account
	cable    *cable
	local    *receiver
	listener *program
	endpoint string
	events   int
}

func newListening(t *testing.T) *listening {
	t.Helper()
	l := &listening{t: t, node: startNode(t, onDatabase(t, newDatabase(t, shared)))}
	l.account = newAccount(t, l.node)
	l.cable = newCable(t, l.node)
	l.local = newReceiver(t, func() time.Duration { return time.Millisecond })
	l.endpoint = want[endpointObject](t, l.account, http.StatusCreated, http.MethodPost, "/endpoints",
		fmt.Sprintf(`{"kind":"listen","uid":%q,"secret":%q,"max_in_flight":%d}`, listenUID, l.local.secret, 2*handful)).ID
	l.listen()
	return l
}

// environ are a listener's settings.
func (l *listening) environ() []string {
	return settings(l.t, "ROWLOCK_SERVER="+l.cable.url, "ROWLOCK_API_KEY="+l.account.Key)
}

// listen starts the listener, and returns when the server knows of it.
func (l *listening) listen() {
	l.t.Helper()
	l.listener = start(l.t, l.environ(), "listen", "--endpoint", listenUID, "--forward-to", l.local.url+everything)
	l.untilConnected(true)
}

// untilConnected waits until the server says that somebody listens, or nobody.
func (l *listening) untilConnected(connected bool) {
	l.t.Helper()
	type shown struct {
		Listener *struct{ Connected bool }
	}
	waitFor(l.t, patience, fmt.Sprintf("somebody listens: %t", connected), func() bool {
		e := want[shown](l.t, l.account, http.StatusOK, http.MethodGet, "/endpoints/"+listenUID, "")
		return e.Listener != nil && e.Listener.Connected == connected
	})
}

// publish publishes so many events.
func (l *listening) publish(n int) {
	l.t.Helper()
	for range n {
		l.events++
		want[eventObject](l.t, l.account, http.StatusAccepted, http.MethodPost, "/events", fmt.Sprintf(`{"type":"order.created","data":{"n":%d}}`, l.events))
	}
}

// inTheMiddle publishes, returns when the local program has a handful that it has
// not answered yet, and lets it answer when it is told to.
func (l *listening) inTheMiddle() (answer func()) {
	l.t.Helper()
	release := l.local.hold()
	l.publish(handful)
	waitFor(l.t, patience, "the local program has a handful", func() bool { return l.local.waiting() >= handful/2 })
	return func() {
		l.t.Helper()
		release()
		waitFor(l.t, patience, "the local program has answered", func() bool { return l.local.waiting() == 0 })
	}
}

// settled checks that the local program has confirmed each delivery, and had none
// of them twice.
func (l *listening) settled() {
	l.t.Helper()
	query := "endpoint=" + l.endpoint
	waitFor(l.t, patience, "every delivery is confirmed", func() bool {
		return none(l.t, l.account, "/deliveries", query+"&status=pending") && none(l.t, l.account, "/deliveries", query+"&status=sending")
	})
	deliveries := list[deliveryObject](l.t, l.account, "/deliveries", query)
	if len(deliveries) != l.events {
		l.t.Errorf("%d deliveries of %d events", len(deliveries), l.events)
	}
	for _, d := range deliveries {
		hits := l.local.of(d.ID)
		if d.Status != "delivered" || len(hits) != 1 || !hits[0].answered || !hits[0].verified {
			l.t.Errorf("delivery %s is %s after %d attempts, and came %d times: %+v", d.ID, d.Status, d.Count, len(hits), hits)
		}
	}
}

// unknown is how many attempts nobody knows the end of.
func (l *listening) unknown() int {
	l.t.Helper()
	return len(list[attemptObject](l.t, l.account, "/attempts", "endpoint="+l.endpoint+"&outcome=unknown"))
}

// The connection is cut in the middle of sends, and between the local program's
// answers and their reports: nothing is lost, and nothing confirmed comes again.
func TestListenOverACutConnection(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	l.publish(handful)
	for range 3 {
		answer := l.inTheMiddle()
		l.cable.cut()
		answer()
		l.publish(handful)
		l.cable.mend()
		l.settled()
	}
	if n := l.unknown(); n != 0 {
		t.Errorf("%d attempts are unknown although the listener was away for a moment only", n)
	}
}

// The connection is away for so long that the server gives up what the listener
// has: it is given out again, and answered with what is known.
func TestListenAfterALongSilence(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	answer := l.inTheMiddle()
	l.cable.cut()
	answer()
	l.untilConnected(false)
	waitFor(t, patience, "what the listener has is given up", func() bool { return l.unknown() >= handful/2 })
	l.publish(handful)
	l.cable.mend()
	l.settled()
	if n := l.local.waiting(); n != 0 {
		t.Errorf("%d requests wait", n)
	}
}

// The server dies in the middle of sends, twice, the second time while it has
// reports that it may not have recorded.
func TestListenOverADeadServer(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	for _, answersBefore := range []bool{false, true, false} {
		answer := l.inTheMiddle()
		if answersBefore {
			answer()
		}
		l.node.kill()
		if !answersBefore {
			answer()
		}
		l.node.boot()
		l.publish(handful)
		l.settled()
	}
	if n := l.unknown(); n != 0 {
		t.Errorf("%d attempts are unknown although the listener had them all along", n)
	}
}

// A server that ends in order leaves what the listener has to the next one.
func TestListenOverARestart(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	answer := l.inTheMiddle()
	l.node.signal(syscall.SIGTERM)
	l.node.wantExit(endLimit)
	answer()
	l.node.boot()
	l.settled()
	if n := l.unknown(); n != 0 {
		t.Errorf("%d attempts are unknown", n)
	}
}

// A second listener is refused with a clear word. The first one ends in order when
// it is told to: what it has is finished, and what comes then waits for the next.
func TestListenEnds(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	_, err := command(t, l.environ(), "listen", "--endpoint", listenUID, "--forward-to", l.local.url)
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(err.Error(), "Another listener is connected") || !strings.Contains(err.Error(), "Hint: ") {
		t.Errorf("a second listener: %v", err)
	}
	answer := l.inTheMiddle()
	l.listener.signal(syscall.SIGINT)
	answer()
	waitFor(t, patience, "the listener has ended", func() bool { return !l.listener.running() })
	if code := l.listener.exitCode(); code != 0 {
		t.Errorf("the listener ended with exit code %d", code)
	}
	l.untilConnected(false)
	text, err := os.ReadFile(l.listener.log)
	if err != nil || !bytes.Contains(text, []byte("Stopped. Confirmed ")) || bytes.Count(text, []byte("order.created")) < handful/2 {
		t.Errorf("it printed %s, %v", text, err)
	}
	l.publish(handful)
	l.listen()
	l.settled()
	want[endpointObject](t, l.account, http.StatusOK, http.MethodGet, "/endpoints/"+listenUID, "")
}

// A listener makes the endpoint that it needs, and finds it again.
func TestListenMakesItsEndpoint(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	for i, types := range []string{"order.*", "user.*"} {
		second := start(t, l.environ(), "listen", "--endpoint", "made", "--types", types, "--forward-to", l.local.url)
		type shown struct {
			Types    []string `json:"event_types"`
			Listener *struct{ Connected bool }
		}
		waitFor(t, patience, "the second one listens", func() bool {
			status, _ := l.account.call(t, http.MethodGet, "/endpoints/made", nil)
			if status != http.StatusOK {
				return false
			}
			e := want[shown](t, l.account, http.StatusOK, http.MethodGet, "/endpoints/made", "")
			return e.Listener != nil && e.Listener.Connected && len(e.Types) == 1 && e.Types[0] == types
		})
		second.signal(syscall.SIGINT)
		waitFor(t, patience, "the second one has ended", func() bool { return !second.running() })
		text, err := os.ReadFile(second.log)
		if told := bytes.Contains(text, []byte("whsec_")); err != nil || told != (i == 0) {
			t.Errorf("start %d: it told the secret: %t, %v", i, told, err)
		}
	}
	want[endpointObject](t, l.account, http.StatusCreated, http.MethodPost, "/endpoints", `{"url":"`+l.local.url+`","uid":"addressed"}`)
	_, err := command(t, l.environ(), "listen", "--endpoint", "addressed", "--forward-to", l.local.url)
	if err == nil || !strings.Contains(err.Error(), "endpoint_has_address") {
		t.Errorf("an endpoint with an address: %v", err)
	}
}
