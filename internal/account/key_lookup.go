package account

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// lookupsAtOnce is how many statements look keys up at once: while they do,
	// whoever comes waits for the next one, which then has all of them.
	lookupsAtOnce = 2
	// lookupTime bounds one statement. The callers' contexts do not: one client
	// that hangs up cancels nobody.
	lookupTime = 5 * time.Second
)

// keyLookup asks the database for each request's key, and for those of requests
// that come at the same time in one statement. Each statement begins after the
// requests that it answers have come: what it finds is as new as if each had asked
// by itself.
type keyLookup struct {
	ask func(context.Context, [][32]byte) ([]store.FoundKey, error)

	mu   sync.Mutex // guards what follows
	busy int
	next *lookup
}

// lookup is one statement, or one to be.
type lookup struct {
	hashes map[[32]byte]bool
	// waiting is how many wait for it.
	waiting int
	// lead lets one of those who wait for it run it.
	lead chan struct{}
	// done is closed when found and err are there.
	done  chan struct{}
	found map[[32]byte]store.FoundKey
	err   error
}

func newLookup() *lookup {
	return &lookup{hashes: map[[32]byte]bool{}, lead: make(chan struct{}, 1), done: make(chan struct{})}
}

// find finds a key by the hash of its text. One that never was is
// gateway.ErrNotFound.
func (l *keyLookup) find(ctx context.Context, hash [32]byte) (store.FoundKey, error) {
	mine := l.join(hash)
	select {
	case <-mine.done:
	case <-mine.lead:
		l.run(ctx, mine)
	case <-ctx.Done():
		l.leave(mine)
		return store.FoundKey{}, errors.Join(gateway.ErrUnavailable, context.Cause(ctx))
	}
	key, known := mine.found[hash]
	switch {
	case mine.err != nil:
		return store.FoundKey{}, mine.err
	case !known:
		return store.FoundKey{}, gateway.ErrNotFound
	}
	return key, nil
}

// join is the next lookup, which has the hash then. Where few enough run, somebody
// may lead it now.
func (l *keyLookup) join(hash [32]byte) *lookup {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		l.next = newLookup()
	}
	mine := l.next
	mine.hashes[hash] = true
	mine.waiting++
	if l.busy < lookupsAtOnce {
		l.busy++
		mine.lead <- struct{}{}
		l.next = nil
	}
	return mine
}

// leave is for who waits no longer. The last one takes the lookup along: nobody is
// there to run it.
func (l *keyLookup) leave(mine *lookup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if mine.waiting--; mine.waiting > 0 {
		return
	}
	if mine == l.next {
		l.next = nil
	}
	select {
	case <-mine.lead:
		l.pass()
	default:
	}
}

// pass lets the next lookup go, if there is one. It is called with the lock.
func (l *keyLookup) pass() {
	if l.next == nil {
		l.busy--
		return
	}
	l.next.lead <- struct{}{}
	l.next = nil
}

// run looks up what is to be looked up, and lets the next one go.
func (l *keyLookup) run(ctx context.Context, mine *lookup) {
	defer func() {
		close(mine.done)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pass()
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTime)
	defer cancel()
	hashes := make([][32]byte, 0, len(mine.hashes)) // nobody joins any more
	for hash := range mine.hashes {
		hashes = append(hashes, hash)
	}
	mine.err = gateway.ErrUnavailable // for those who wait, if ask does not return
	found, err := l.ask(ctx, hashes)
	mine.found, mine.err = make(map[[32]byte]store.FoundKey, len(found)), err
	for _, key := range found {
		mine.found[key.Hash] = key
	}
}
