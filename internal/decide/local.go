package decide

import (
	"context"
	"slices"
	"sync"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// localDeciders is how many transactions decide what this node has just
	// accepted.
	localDeciders = 2
	// localQueue is how many group commits wait for them. What finds no place
	// gets a job, which any node takes.
	localQueue = 16
	// localTogether is how many events one of them takes at once, or a few more:
	// what waits is decided in one transaction.
	localTogether = 256
)

// offers are the events that this node has accepted and is about to decide. Who
// accepts keeps a place first, and then needs no job for them: if this process dies
// before it has decided them, the sweep finds them.
type offers struct {
	mu sync.Mutex // guards places and queue against the end of Run
	// places are as many as there are places in the queue; nil while nobody runs.
	places chan struct{}
	queue  chan []gateway.EventID
	// kept are the places whose events are still to come.
	kept sync.WaitGroup
}

// Reserve keeps a place for events that are about to be committed on this node, to
// be decided here at once: they need no job. What it returns is to be called once,
// with the events or, if nothing was committed, with none. It is nil where there is
// no place: on a node that is busy, or does not Run.
func (s *Service) Reserve() (offer func([]gateway.EventID)) {
	o := &s.local
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.places <- struct{}{}: // never, while it is nil
	default:
		return nil
	}
	o.kept.Add(1)
	places, queue := o.places, o.queue
	return func(ids []gateway.EventID) {
		defer o.kept.Done()
		if len(ids) == 0 {
			<-places
			return
		}
		queue <- ids // it has as many places as were kept
	}
}

// Run decides what is offered until ctx ends, and then what is still to come for the
// places that are kept.
func (s *Service) Run(ctx context.Context) {
	places, queue := s.local.open()
	var all sync.WaitGroup
	for range localDeciders {
		all.Go(func() { s.decideOffers(context.WithoutCancel(ctx), places, queue) })
	}
	<-ctx.Done()
	s.local.close()
	all.Wait()
}

func (o *offers) open() (places chan struct{}, queue chan []gateway.EventID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.places, o.queue = make(chan struct{}, localQueue), make(chan []gateway.EventID, localQueue)
	return o.places, o.queue
}

// close keeps no more places, and ends the queue behind what is still to come.
func (o *offers) close() {
	o.mu.Lock()
	queue := o.queue
	o.places, o.queue = nil, nil
	o.mu.Unlock()
	o.kept.Wait()
	close(queue)
}

func (s *Service) decideOffers(ctx context.Context, places <-chan struct{}, queue <-chan []gateway.EventID) {
	for ids := range queue {
		<-places
		ids = more(ids, places, queue)
		if err := s.processOffer(ctx, ids); err != nil {
			s.log.Warn("deciding is left to the sweep", "events", len(ids), "error", err)
		}
	}
}

// more adds what waits, up to what is decided together.
func more(ids []gateway.EventID, places <-chan struct{}, queue <-chan []gateway.EventID) []gateway.EventID {
	for len(ids) < localTogether {
		select {
		case others, open := <-queue:
			if !open {
				return ids
			}
			<-places
			ids = append(slices.Clip(ids), others...)
		default:
			return ids
		}
	}
	return ids
}

// processOffer is Process for what was offered. What would have to wait, for much
// that came before it or for somebody else, gets a job, and so does what cannot be
// decided now: the jobs come to that in their order.
func (s *Service) processOffer(ctx context.Context, ids []gateway.EventID) error {
	more, err := s.inOrder(ctx, ids, false)
	if err == nil && !more {
		return nil
	}
	if err != nil {
		s.log.Warn("deciding is left to a job", "events", len(ids), "error", err)
	}
	return s.store.InTx(ctx, func(tx store.Tx) error { return tx.Enqueue(ctx, jobsFor(ids)...) })
}
