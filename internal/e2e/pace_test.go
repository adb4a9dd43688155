package e2e

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// paceEvery is how often the machine's speed is measured. With spinRounds
	// it costs about 4 % of one core.
	paceEvery = 250 * time.Millisecond
	// spinRounds take about 10 ms: longer than the scheduler lets a process
	// run while others wait, so that waiting for a core shows.
	spinRounds = 6_000_000
	// calibration is how many measurements tell what the machine can do at its
	// best.
	calibration = 20
)

// pace measures how much slower than at its best the machine is. Promises with
// a time in them are about a machine that has time; tests share theirs with
// compilers and other tests.
type pace struct {
	mu      sync.Mutex
	best    time.Duration
	samples []sample
	done    chan struct{}
	ended   chan struct{}
}

type sample struct {
	at   time.Time
	took time.Duration
}

func startPace() *pace {
	p := &pace{done: make(chan struct{}), ended: make(chan struct{})}
	for range calibration {
		p.measure()
	}
	go p.run()
	return p
}

func (p *pace) run() {
	defer close(p.ended)
	tick := time.NewTicker(paceEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.measure()
		case <-p.done:
			return
		}
	}
}

func (p *pace) stop() {
	close(p.done)
	<-p.ended
}

func (p *pace) measure() {
	took := spin()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.samples = append(p.samples, sample{time.Now(), took})
	if p.best == 0 || took < p.best {
		p.best = took
	}
}

// slowness is how many times longer work took since a moment than it takes at
// best; at least 1.
func (p *pace) slowness(since time.Time) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var total time.Duration
	n := 0
	for _, s := range slices.Backward(p.samples) {
		if s.at.Before(since) {
			break
		}
		total += s.took
		n++
	}
	if n == 0 {
		return 1
	}
	return max(1, float64(total)/float64(n)/float64(p.best))
}

var spun atomic.Uint64 // so that the compiler keeps the work

// spin does a fixed amount of work and tells how long it took.
func spin() time.Duration {
	started := time.Now()
	x := uint64(1)
	for range spinRounds {
		x = x*6364136223846793005 + 1442695040888963407
	}
	spun.Store(x)
	return time.Since(started)
}
