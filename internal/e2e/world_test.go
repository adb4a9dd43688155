package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"
)

const (
	// busy is how many sends must be under way for a blow to be worth it.
	busy = 3
	// laneWidth is how many sends an endpoint allows at once: more than the
	// publishers keep under way, few enough to be reached when answers stop.
	laneWidth = 16
)

// world is a scenario's: nodes on a database, publishers before them and a
// receiver behind.
type world struct {
	t        *testing.T
	rng      *rand.Rand
	database database
	nodes    []*node
	names    map[*node]string
	account  *account
	// endpoints are their ids.
	endpoints []string
	receiver  *receiver
	ways      []route
	load      *load
	// flights are the sends that were under way at some blow.
	flights map[string]flight
	// complaints counts the faults that were found, by kind.
	complaints map[string]int
}

// newWorld makes a world of so many nodes. Answers take 20 to 80 ms, so that
// something is always under way.
func newWorld(t *testing.T, rng *rand.Rand, c *cluster, nodes int) *world {
	t.Helper()
	d := newDatabase(t, c)
	return newWorldOn(t, rng, d, onDatabase(t, d), nodes)
}

// newWorldOn makes a world on a database, with settings of its nodes.
func newWorldOn(t *testing.T, rng *rand.Rand, d database, environ []string, nodes int) *world {
	t.Helper()
	w := &world{
		t: t, rng: rng, database: d,
		names: map[*node]string{}, flights: map[string]flight{}, complaints: map[string]int{},
	}
	for range nodes {
		n := startNode(t, environ)
		w.nodes = append(w.nodes, n)
		w.names[n] = newestNode(t, w.database)
	}
	w.account = newAccount(t, w.nodes[0])
	w.receiver = newReceiver(t, drawn(rng.Uint64(), 20*time.Millisecond, 80*time.Millisecond))
	w.furnish()
	return w
}

// furnish makes the endpoints and the sources.
func (w *world) furnish() {
	w.t.Helper()
	for path, types := range map[string]string{everything: `["*"]`, orders: `["order.*"]`} {
		made := want[endpointObject](w.t, w.account, http.StatusCreated, http.MethodPost, "/endpoints",
			fmt.Sprintf(`{"url":%q,"event_types":%s,"secret":%q,"max_in_flight":%d}`, w.receiver.url+path, types, w.receiver.secret, laneWidth))
		w.endpoints = append(w.endpoints, made.ID)
	}
	w.ways = routes(w.account, w.source("none", ""), w.source("github", "a secret shared with GitHub"))
}

func (w *world) source(kind, secret string) source {
	w.t.Helper()
	body := fmt.Sprintf(`{"name":%q,"kind":%q}`, kind, kind)
	if secret != "" {
		body = fmt.Sprintf(`{"name":%q,"kind":%q,"secret":%q}`, kind, kind, secret)
	}
	made := want[sourceObject](w.t, w.account, http.StatusCreated, http.MethodPost, "/sources", body)
	address, err := url.Parse(made.IngestURL)
	if err != nil {
		w.t.Fatalf("the source's address: %v", err)
	}
	return source{path: address.Path, secret: secret}
}

// publish starts the publishers, and returns when they are well under way.
func (w *world) publish() {
	w.t.Helper()
	w.load = startLoad(w.t, w.rng, w.ways, w.nodes)
	w.load.flow(w.t, between(w.rng, 150, 300))
}

// inTheMiddle returns when sends are under way.
func (w *world) inTheMiddle() {
	w.t.Helper()
	waitFor(w.t, patience, "sends are under way", func() bool { return w.receiver.waiting() >= busy })
}

// drawn draws durations between two.
func drawn(seed uint64, low, high time.Duration) func() time.Duration {
	rng := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return low + time.Duration(rng.Int64N(int64(high-low)))
	}
}
