package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// mailDomain is behind each customer's name in their address.
const mailDomain = "@example.com"

// losingFirst stands before a server, and loses the first answer to a claim.
func losingFirst(t *testing.T, server string) string {
	t.Helper()
	var lost atomic.Bool
	return standingBefore(t, server, func(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/claims" && lost.CompareAndSwap(false, true) {
			w = httptest.NewRecorder()
			defer panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		proxy.ServeHTTP(w, r)
	})
}

// losingAll stands before a server, and lets nothing through to paths that end so.
func losingAll(t *testing.T, server, ending string) string {
	t.Helper()
	return standingBefore(t, server, func(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ending) {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	})
}

// standingBefore is a server before another, which does what do says.
func standingBefore(t *testing.T, server string, do func(proxy http.Handler, w http.ResponseWriter, r *http.Request)) string {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { do(proxy, w, r) }))
	t.Cleanup(front.Close)
	return front.URL
}

// exampleFarSide are the services that the programs call: mails, orders and
// charges. It counts what it did, and heeds no idempotency key.
type exampleFarSide struct {
	url string

	mu sync.Mutex
	// effects and keys are by what they were for.
	effects map[string]int
	keys    map[string][]string
	next    map[string]int
	words   map[string]string
	gates   map[string]exampleGate
}

// exampleGate holds the first request that comes to it.
type exampleGate struct{ reached, goOn chan struct{} }

func newExampleFarSide(t *testing.T) *exampleFarSide {
	t.Helper()
	f := &exampleFarSide{effects: map[string]int{}, keys: map[string][]string{}, next: map[string]int{}, words: map[string]string{}, gates: map[string]exampleGate{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// ServeHTTP answers one call.
func (f *exampleFarSide) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if order, ok := strings.CutPrefix(r.URL.Path, "/orders/"); ok {
		f.pass("/orders/" + order)
		fmt.Fprintf(w, `{"amount":4200,"currency":"eur","card":%q}`, order)
		return
	}
	body, err := io.ReadAll(r.Body)
	var sent struct{ To, Card string }
	if err != nil || json.Unmarshal(body, &sent) != nil || r.Header.Get("Authorization") == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	about := cmp.Or(sent.Card, strings.TrimSuffix(sent.To, mailDomain))
	f.pass(about)
	status, says := f.happen(about, r.Header.Get("Idempotency-Key"))
	w.WriteHeader(status)
	fmt.Fprint(w, says)
}

// happen does what was asked for, unless another answer was ordered.
func (f *exampleFarSide) happen(about, key string) (status int, says string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys[about] = append(f.keys[about], key)
	if status := f.next[about]; status != 0 {
		delete(f.next, about)
		return status, `{}`
	}
	f.effects[about]++
	if words, ordered := f.words[about]; ordered {
		return http.StatusOK, words
	}
	return http.StatusOK, fmt.Sprintf(`{"id":"eff_%d"}`, f.effects[about])
}

// answerInWords has what was asked for done, and answered so.
func (f *exampleFarSide) answerInWords(about, words string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.words[about] = words
}

// answerNext has the next call about something answered so, and not done.
func (f *exampleFarSide) answerNext(about string, status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next[about] = status
}

// done is how often something was done.
func (f *exampleFarSide) done(about string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.effects[about]
}

// keysOf are the idempotency keys that came with calls about something.
func (f *exampleFarSide) keysOf(about string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.keys[about])
}

// hold has the first call to a place wait: reached is closed when it is there,
// and it goes on when goOn is closed.
func (f *exampleFarSide) hold(place string) (reached <-chan struct{}, goOn chan<- struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	gate := exampleGate{make(chan struct{}), make(chan struct{})}
	f.gates[place] = gate
	return gate.reached, gate.goOn
}

// pass waits where a call is held.
func (f *exampleFarSide) pass(place string) {
	f.mu.Lock()
	gate, held := f.gates[place]
	delete(f.gates, place)
	f.mu.Unlock()
	if held {
		close(gate.reached)
		<-gate.goOn
	}
}
