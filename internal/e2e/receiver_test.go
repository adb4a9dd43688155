package e2e

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// hit is one request that the receiver got whole.
type hit struct {
	at                    time.Time
	path, event, delivery string
	kind                  string // rowlock-event-type
	attempt, fence        int    // fence is zero where there is none
	body                  []byte
	verified              bool
	// signatures is how many came with it: one for each live secret.
	signatures int
	// answered tells that the sender was there for the answer.
	answered bool
}

// receiver is the far side. It keeps every request, and answers 200 after a
// while.
type receiver struct {
	url    string
	secret string

	mu    sync.Mutex
	delay func() time.Duration
	// status is the answer.
	status int
	hits   []hit
	// perDelivery indexes hits by delivery, perPlace counts them by path and
	// event.
	perDelivery map[string][]int
	perPlace    map[place]int
	// open are the hits that wait for their answer.
	open map[int]bool
	// gate is closed when answers may go out.
	gate chan struct{}
}

// place is an event at one path.
type place struct{ path, event string }

// newReceiver starts a receiver that answers after what delay draws.
func newReceiver(t testing.TB, delay func() time.Duration) *receiver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	r := &receiver{
		url: "http://" + listener.Addr().String(), secret: newSecret(), delay: delay, status: http.StatusOK,
		perDelivery: map[string][]int{}, perPlace: map[place]int{}, open: map[int]bool{}, gate: make(chan struct{}),
	}
	close(r.gate)
	server := &http.Server{Handler: r, ReadHeaderTimeout: patience}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // ends with Close
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return r
}

// newSecret makes an endpoint's secret.
func newSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

// ServeHTTP takes a delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // it broke off: nothing was received
	}
	n, wait, gate := r.keep(request, body)
	answered := r.stays(request, wait, gate)
	status := r.finish(n, answered)
	if answered {
		w.WriteHeader(status)
	}
}

// answer sets the status of the answers from now on.
func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// setDelay sets how long answers take from now on.
func (r *receiver) setDelay(delay func() time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delay = delay
}

// stays waits until the answer may go out, and tells whether the sender is
// still there.
func (r *receiver) stays(request *http.Request, wait time.Duration, gate <-chan struct{}) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-request.Context().Done():
		return false
	}
	select {
	case <-gate:
		return true
	case <-request.Context().Done():
		return false
	}
}

// keep stores a request, and tells what its answer waits for.
func (r *receiver) keep(request *http.Request, body []byte) (n int, wait time.Duration, gate <-chan struct{}) {
	h := hit{
		at: time.Now(), path: request.URL.Path, body: body,
		event: request.Header.Get("webhook-id"), delivery: request.Header.Get("idempotency-key"),
		kind: request.Header.Get("rowlock-event-type"), verified: verifies(request.Header, body, r.secret),
		signatures: len(strings.Fields(request.Header.Get("webhook-signature"))),
	}
	h.attempt, _ = strconv.Atoi(request.Header.Get("rowlock-attempt")) // 0 is no attempt's number
	h.fence, _ = strconv.Atoi(request.Header.Get("rowlock-fence"))
	r.mu.Lock()
	defer r.mu.Unlock()
	n = len(r.hits)
	r.hits = append(r.hits, h)
	r.perDelivery[h.delivery] = append(r.perDelivery[h.delivery], n)
	r.perPlace[place{h.path, h.event}]++
	r.open[n] = true
	return n, r.delay(), r.gate
}

// finish notes whether a request was answered, and tells with what.
func (r *receiver) finish(n int, answered bool) (status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hits[n].answered = answered
	delete(r.open, n)
	return r.status
}

// hold keeps all answers back until the returned function is called.
func (r *receiver) hold() (release func()) {
	gate := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gate = gate
	return func() { close(gate) }
}

// waiting is how many requests wait for their answer.
func (r *receiver) waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}

// waitingAt are the requests to a path that wait for their answer.
func (r *receiver) waitingAt(path string) (waiting []hit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := range r.open {
		if r.hits[n].path == path {
			waiting = append(waiting, r.hits[n])
		}
	}
	return waiting
}

// got tells whether an event has come to a path.
func (r *receiver) got(p place) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.perPlace[p] > 0
}

// all returns what came so far.
func (r *receiver) all() []hit {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.hits)
}

// of returns what came of one delivery.
func (r *receiver) of(delivery string) []hit {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := make([]hit, 0, len(r.perDelivery[delivery]))
	for _, n := range r.perDelivery[delivery] {
		found = append(found, r.hits[n])
	}
	return found
}

// verifies checks a signature as Standard Webhooks has it.
func verifies(header http.Header, body []byte, secret string) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, header.Get("webhook-id")+"."+header.Get("webhook-timestamp")+".") // a hash takes everything
	_, _ = mac.Write(body)
	right := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return slices.Contains(strings.Fields(header.Get("webhook-signature")), right)
}
