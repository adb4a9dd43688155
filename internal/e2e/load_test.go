package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	// publishEvery is the pace of each publisher; there is one for each way in.
	// Five of them make some 125 events a second.
	publishEvery = 40 * time.Millisecond
	// answerLimit is how long a publisher waits for an answer: a frozen node
	// gives none.
	answerLimit = 3 * time.Second
	// giveUp bounds how often a keyed message is sent again, at publishEvery.
	giveUp = int(patience / publishEvery)
)

// load is publishers at work. Those with a key send again until they are told
// that the event is kept; those without send once.
type load struct {
	client *http.Client
	// ctx ends with the test, also with one that failed.
	ctx context.Context

	mu       sync.Mutex
	messages map[string]*message // by token
	acked    int
	refused  int
	faults   []string
	nodes    []*node

	stop    chan struct{}
	running sync.WaitGroup
}

// startLoad starts a publisher for each way in. They go from node to node when
// one does not answer.
func startLoad(t testing.TB, rng *rand.Rand, ways []route, nodes []*node) *load {
	t.Helper()
	l := &load{
		client: &http.Client{Timeout: answerLimit, Transport: &http.Transport{MaxIdleConnsPerHost: len(ways)}},
		ctx:    t.Context(), messages: map[string]*message{}, nodes: slices.Clone(nodes), stop: make(chan struct{}),
	}
	for i, way := range ways {
		own := rand.New(rand.NewPCG(rng.Uint64(), uint64(i)))
		l.running.Go(func() { l.publish(own, way, i) })
	}
	t.Cleanup(func() {
		l.end()
		for _, fault := range l.faults {
			t.Error(fault)
		}
	})
	return l
}

// end stops the publishers, after what they are at.
func (l *load) end() {
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	l.running.Wait()
	l.client.CloseIdleConnections()
}

// use makes the publishers send to these nodes from now on.
func (l *load) use(nodes ...*node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nodes = nodes
}

func (l *load) publish(rng *rand.Rand, way route, first int) {
	tick := time.NewTicker(publishEvery)
	defer tick.Stop()
	for n := first; ; n++ {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		m := newMessage(rng, way)
		l.mu.Lock()
		l.messages[m.token] = m
		l.mu.Unlock()
		for tries := 0; !l.send(way, m, n+tries) && m.keyed && l.ctx.Err() == nil; tries++ {
			if tries == giveUp {
				l.fault("%s: never acknowledged: %s", way.name, m.token)
				return
			}
			<-tick.C
		}
	}
}

// send sends a message once and tells whether it needs no more sending.
func (l *load) send(way route, m *message, n int) (done bool) {
	l.mu.Lock()
	base := l.nodes[n%len(l.nodes)].url
	l.mu.Unlock()
	request, err := way.request(m, base)
	if err != nil {
		l.fault("%s: %v", way.name, err)
		return true
	}
	answer, err := l.client.Do(request.WithContext(l.ctx))
	if err != nil {
		return false
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(answer.Body)
	switch {
	case answer.StatusCode == http.StatusServiceUnavailable:
		l.mu.Lock()
		l.refused++
		l.mu.Unlock()
		return false
	case answer.StatusCode/100 != 2:
		l.fault("%s: answered %d %s", way.name, answer.StatusCode, body)
		return true
	case err != nil: // a 2xx is an acknowledgement, but we do not know of what
		return false
	}
	return l.acknowledge(way, m, body)
}

func (l *load) acknowledge(way route, m *message, answer []byte) bool {
	var event eventObject
	if err := json.Unmarshal(answer, &event); err != nil || event.ID == "" {
		l.fault("%s: acknowledged without an id: %s", way.name, answer)
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m.id = event.ID
	l.acked++
	return true
}

func (l *load) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// acknowledged is how many events were acknowledged so far.
func (l *load) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked
}

// refusals is how often 503 was answered so far.
func (l *load) refusals() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// flow waits until more events were acknowledged.
func (l *load) flow(t testing.TB, more int) {
	t.Helper()
	goal := l.acknowledged() + more
	waitFor(t, patience, fmt.Sprintf("%d more events acknowledged", more), func() bool { return l.acknowledged() >= goal })
}

// flowRefused waits until more requests were answered with 503.
func (l *load) flowRefused(t testing.TB, more int) {
	t.Helper()
	goal := l.refusals() + more
	waitFor(t, patience, fmt.Sprintf("%d more requests refused", more), func() bool { return l.refusals() >= goal })
}

// sent returns a copy of what was sent so far, by token.
func (l *load) sent() map[string]message {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[string]message, len(l.messages))
	for token, m := range l.messages {
		all[token] = *m
	}
	return all
}

// places are where an acknowledged message must arrive.
func (m message) places() []place {
	if m.order {
		return []place{{everything, m.id}, {orders, m.id}}
	}
	return []place{{everything, m.id}}
}
