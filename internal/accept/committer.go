package accept

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// committers is how many transactions accept at once. One would wait for
	// each commit; more than two only wait for each other.
	committers = 2
	// maxBatch is how many events share a transaction, but for those of one
	// request, which are never parted.
	maxBatch = 128
	// maxBatchBytes bounds what the requests of one transaction bring.
	maxBatchBytes = 8 << 20
	// queueLength is how many requests wait before callers are told to come
	// back: some seconds of work.
	queueLength = 4096
	// queueBytes bounds what waits: without it, a queue of large requests would
	// take gigabytes while the database stalls.
	queueBytes = 256 << 20
	// commitTimeout bounds one transaction. The callers' contexts do not: one
	// client that hangs up cancels nobody.
	commitTimeout = 10 * time.Second
)

// committer groups what comes in at the same time into few transactions. It
// takes what is queued and never waits for more; everybody waits for the
// commit that holds their own row.
type committer struct {
	store   *store.Store
	clock   *clock.Clock
	log     *slog.Logger
	reserve func() func([]gateway.EventID)
	timed   func(rows int, took time.Duration)
	queue   chan *waiting
	// queued is how many bytes wait.
	queued atomic.Int64

	mu     sync.RWMutex // guards closed against sends on queue
	closed bool
}

func newCommitter(o Options) *committer {
	reserve := o.Reserve
	if reserve == nil {
		reserve = func() func([]gateway.EventID) { return nil }
	}
	return &committer{
		store: o.Store, clock: o.Clock, log: o.Log, reserve: reserve, timed: o.Timed,
		queue: make(chan *waiting, queueLength),
	}
}

// submit queues a request and waits until it is committed or refused. When
// ctx ends first, the request is dropped if it still waits; one whose
// transaction has begun may still be committed: its sender will ask again and
// be told of the first one.
func (c *committer) submit(ctx context.Context, w *waiting) error {
	w.gone = ctx.Done()
	if err := c.enqueue(w); err != nil {
		return err
	}
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		return errors.Join(gateway.ErrUnavailable, ctx.Err())
	}
}

func (c *committer) enqueue(w *waiting) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	size := int64(w.size())
	if c.closed || c.queued.Add(size) > queueBytes {
		c.queued.Add(-size)
		return gateway.ErrOverloaded
	}
	select {
	case c.queue <- w:
		return nil
	default:
		c.queued.Add(-size)
		return gateway.ErrOverloaded
	}
}

// run commits until ctx ends and the queue is empty.
func (c *committer) run(ctx context.Context) {
	var all sync.WaitGroup
	for range committers {
		all.Go(c.work)
	}
	<-ctx.Done()
	c.mu.Lock()
	c.closed = true
	close(c.queue)
	c.mu.Unlock()
	all.Wait()
}

func (c *committer) work() {
	for first := range c.queue {
		if batch := c.gather(first); len(batch) > 0 {
			c.commit(batch)
		}
	}
}

// gather takes what is queued behind the first, up to the limits, and leaves
// out whom nobody waits for any more: they were told that nothing was stored.
func (c *committer) gather(first *waiting) []*waiting {
	var batch []*waiting
	size := 0
	weight := 0
	for next := first; next != nil; next = c.next() {
		c.queued.Add(-int64(next.size()))
		if !next.abandoned() {
			batch, size, weight = append(batch, next), size+next.size(), weight+next.weight()
		}
		if weight >= maxBatch || size >= maxBatchBytes {
			break
		}
	}
	return batch
}

// next takes what is queued; nil when nothing is.
func (c *committer) next() *waiting {
	select {
	case w := <-c.queue:
		return w
	default:
		return nil
	}
}

// commit stores a batch in one transaction. When that fails, each is tried
// alone, so that a row that the database refuses fails by itself; but not when
// the database is gone, which it would be for each of them. Those that are in
// each other's way are done alone after all others, who do not wait for them.
func (c *committer) commit(batch []*waiting) {
	err := c.tryCommit(batch)
	if redo, ok := errors.AsType[*redoError](err); ok {
		alone, rest := redo.part(batch)
		if len(rest) > 0 {
			c.commit(rest)
		}
		c.commitEach(alone)
		return
	}
	if err == nil || len(batch) == 1 || isGone(err) {
		c.settle(batch, err)
		return
	}
	c.log.Warn("accepting one by one", "requests", len(batch), "error", err)
	c.commitEach(batch)
}

// commitEach stores each in a transaction of its own.
func (c *committer) commitEach(batch []*waiting) {
	for i := range batch {
		one := batch[i : i+1]
		err := c.tryCommit(one)
		if isGone(err) {
			c.settle(batch[i:], err)
			return
		}
		c.settle(one, err)
	}
}

// isGone tells whether a transaction failed for a reason that the next one
// will have too.
func isGone(err error) bool {
	return errors.Is(err, gateway.ErrUnavailable) || store.IsUnknownFate(err)
}

// settle tells those who wait what became of them.
func (c *committer) settle(batch []*waiting, err error) {
	if err != nil {
		c.log.Warn("accepting refused", "requests", len(batch), "error", err)
	}
	finish(batch, refusal(err))
}

// refusal makes sure that a caller is told to come back, whatever it was.
func refusal(err error) error {
	if store.IsUnknownFate(err) {
		return errors.Join(gateway.ErrUnavailable, err)
	}
	return err
}

func finish(batch []*waiting, err error) {
	for _, w := range batch {
		w.err = err
		close(w.done)
	}
}

// tryCommit is one transaction for all of them.
func (c *committer) tryCommit(batch []*waiting) error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	began := c.clock.Now()
	err := c.inTx(ctx, func(tx store.Tx) ([]gateway.EventID, error) { return c.take(ctx, tx, batch) })
	if err == nil {
		c.time(batch, began)
	}
	return err
}

// inTx is a transaction that stores events, and has those that it returns decided: by
// this node at once where there is a place, else by a job.
func (c *committer) inTx(ctx context.Context, do func(store.Tx) ([]gateway.EventID, error)) error {
	offer := c.reserve()
	if offer == nil {
		return c.store.InTx(ctx, func(tx store.Tx) error {
			won, err := do(tx)
			if err != nil {
				return err
			}
			return tx.Enqueue(ctx, deciding(won)...)
		})
	}
	var committed []gateway.EventID
	// A panic gives the place back, too: a node's stop waits for each that is kept.
	defer func() { offer(committed) }()
	var won []gateway.EventID
	err := c.store.InTx(ctx, func(tx store.Tx) (err error) {
		won, err = do(tx)
		return err
	})
	if err != nil {
		return err // nothing was committed, or so it seems: the sweep finds what was
	}
	committed = won
	return nil
}

// time tells how long a transaction took.
func (c *committer) time(batch []*waiting, began time.Time) {
	if c.timed == nil {
		return
	}
	rows := 0
	for _, w := range batch {
		rows += w.weight()
	}
	c.timed(rows, c.clock.Now().Sub(began))
}

// take is what the transaction does: keys, then what may come once, then
// events and bodies of those that won, and the traces of those that did not become
// events.
func (c *committer) take(ctx context.Context, tx store.Tx, batch []*waiting) ([]gateway.EventID, error) {
	if err := claim(ctx, tx, batch); err != nil {
		return nil, err
	}
	if err := claimReplays(ctx, tx, batch); err != nil {
		return nil, err
	}
	return c.insert(ctx, tx, batch)
}

// insert stores what the claims have left, and returns the events.
func (c *committer) insert(ctx context.Context, tx store.Tx, batch []*waiting) ([]gateway.EventID, error) {
	events, traces := c.divide(batch)
	if err := tx.InsertEvents(ctx, events); err != nil {
		return nil, err
	}
	if err := insertRaw(ctx, tx, batch); err != nil {
		return nil, err
	}
	if err := tx.InsertRequests(ctx, traces); err != nil {
		return nil, err
	}
	return ids(events), nil
}

// deciding are the jobs of what was stored: one, but for a request that brought
// more than a transaction has otherwise.
func deciding(won []gateway.EventID) []job.Args {
	var jobs []job.Args
	for part := range slices.Chunk(won, maxBatch) {
		jobs = append(jobs, job.Process{EventIDs: part})
	}
	return jobs
}

// insertRaw keeps the requests of which more than one event came.
func insertRaw(ctx context.Context, tx store.Tx, batch []*waiting) error {
	for _, w := range batch {
		if w.raw == nil || w.replayed || !w.won() {
			continue
		}
		if err := tx.InsertRaw(ctx, w.parts[0].event.AccountID, w.rawID, *w.raw); err != nil {
			return err
		}
	}
	return nil
}

// claim finds out which of the keyed events are the first of their key.
func claim(ctx context.Context, tx store.Tx, batch []*waiting) error {
	var keyed []*part
	for _, w := range batch {
		for i := range w.parts {
			p := &w.parts[i]
			p.first = nil
			if p.key != nil {
				keyed = append(keyed, p)
			}
		}
	}
	slices.SortFunc(keyed, func(a, b *part) int { return store.CompareKeys(*a.key, *b.key) })
	keys := make([]store.EventKey, len(keyed))
	for i, p := range keyed {
		keys[i] = *p.key
	}
	firsts, err := tx.ClaimKeys(ctx, keys)
	for i := range firsts {
		keyed[i].first = firsts[i]
	}
	return err
}

// divide separates what becomes an event from what leaves a trace only.
func (c *committer) divide(batch []*waiting) (events []store.NewEvent, traces []gateway.Request) {
	for _, w := range batch {
		switch {
		case len(w.parts) == 0:
			traces = append(traces, w.trace)
			continue
		case w.replayed:
			traces = append(traces, w.replayTrace(gateway.RequestID(c.clock.NewID())))
			continue
		}
		repeats := 0
		for i := range w.parts {
			if p := &w.parts[i]; p.first == nil {
				events = append(events, store.NewEvent{Event: p.event, Body: p.body})
			} else {
				repeats++
			}
		}
		if repeats > 0 && !w.traced {
			traces = append(traces, w.duplicateTrace(gateway.RequestID(c.clock.NewID()), repeats))
		}
	}
	slices.SortFunc(events, func(a, b store.NewEvent) int { return a.Event.ID.Compare(b.Event.ID) })
	return events, traces
}

func ids(events []store.NewEvent) []gateway.EventID {
	all := make([]gateway.EventID, len(events))
	for i := range events {
		all[i] = events[i].Event.ID
	}
	return all
}
