package account

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// asked is a database that answers when it is told to.
type asked struct {
	began  chan [][32]byte
	answer chan error
}

func (a asked) ask(_ context.Context, hashes [][32]byte) (found []store.FoundKey, err error) {
	a.began <- hashes
	if err := <-a.answer; err != nil {
		return nil, err
	}
	for _, hash := range hashes {
		if hash[0] != 0 {
			found = append(found, store.FoundKey{Hash: hash})
		}
	}
	return found, nil
}

func newAsked() (asked, *keyLookup) {
	a := asked{make(chan [][32]byte), make(chan error)}
	return a, &keyLookup{ask: a.ask}
}

// waitingFor is how many wait for the lookup that has not begun.
func (l *keyLookup) waitingFor() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		return 0
	}
	return l.next.waiting
}

// finders ask for keys at once, and tell what came of it.
func finders(ctx context.Context, l *keyLookup, hashes ...[32]byte) (results chan error, wait func()) {
	results = make(chan error, len(hashes))
	var all sync.WaitGroup
	for _, hash := range hashes {
		all.Go(func() {
			key, err := l.find(ctx, hash)
			if err == nil && key.Hash != hash {
				err = errors.New("another key")
			}
			results <- err
		})
	}
	return results, all.Wait
}

// Who comes while others are looked up is looked up after that, all in one
// statement, and not with what began before.
func TestKeysAreLookedUpTogether(t *testing.T) {
	t.Parallel()
	a, l := newAsked()
	first, firstDone := finders(t.Context(), l, [32]byte{1}, [32]byte{2})
	for range lookupsAtOnce {
		if got := <-a.began; len(got) != 1 {
			t.Errorf("%d keys in a statement of one request", len(got))
		}
	}
	then, thenDone := finders(t.Context(), l, [32]byte{1}, [32]byte{3}, [32]byte{0}, [32]byte{3})
	pgtest.Until(t, "four wait", func() bool { return l.waitingFor() == 4 })
	a.answer <- nil
	if got := <-a.began; len(got) != 3 {
		t.Errorf("%d keys in the next statement, want 3", len(got))
	}
	a.answer <- nil
	a.answer <- nil
	firstDone()
	thenDone()
	for range 2 {
		if err := <-first; err != nil {
			t.Error(err)
		}
	}
	unknown := 0
	for range 4 {
		if err := <-then; errors.Is(err, gateway.ErrNotFound) {
			unknown++
		} else if err != nil {
			t.Error(err)
		}
	}
	if unknown != 1 || l.busy != 0 {
		t.Errorf("%d unknown keys, %d lookups under way; want 1 and 0", unknown, l.busy)
	}
}

// Who leaves costs the others nothing, and takes no turn along.
func TestALookupOutlivesItsClients(t *testing.T) {
	t.Parallel()
	a, l := newAsked()
	_, firstDone := finders(t.Context(), l, [32]byte{1}, [32]byte{2})
	<-a.began
	<-a.began
	ctx, cancel := context.WithCancel(t.Context())
	gone, goneDone := finders(ctx, l, [32]byte{3}, [32]byte{4})
	pgtest.Until(t, "two wait", func() bool { return l.waitingFor() == 2 })
	cancel()
	goneDone()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	a.answer <- nil
	a.answer <- nil
	firstDone()
	if l.busy != 0 || l.next != nil {
		t.Fatalf("%d lookups under way, the next one is %v", l.busy, l.next)
	}
	after, afterDone := finders(t.Context(), l, [32]byte{5})
	<-a.began
	a.answer <- gateway.ErrUnavailable
	afterDone()
	if err := <-after; !errors.Is(err, gateway.ErrUnavailable) {
		t.Errorf("got %v, want the database's error", err)
	}
}

// A fault while keys are looked up does not make a key of those who wait unknown,
// and takes no turn along.
func TestAFaultMakesNoKeyUnknown(t *testing.T) {
	t.Parallel()
	began, fail := make(chan struct{}, lookupsAtOnce+1), make(chan struct{})
	l := &keyLookup{ask: func(context.Context, [][32]byte) ([]store.FoundKey, error) {
		began <- struct{}{}
		<-fail
		panic("a fault")
	}}
	results := make(chan error, 1)
	faults := make(chan any, lookupsAtOnce+2)
	find := func() {
		defer func() { faults <- recover() }() // as requests do
		_, err := l.find(t.Context(), [32]byte{1})
		results <- err
	}
	for range lookupsAtOnce {
		go find()
		<-began
	}
	go find()
	go find()
	pgtest.Until(t, "two wait", func() bool { return l.waitingFor() == 2 })
	close(fail)
	for range lookupsAtOnce + 2 {
		<-faults
	}
	if err := <-results; !errors.Is(err, gateway.ErrUnavailable) {
		t.Errorf("got %v, want that it is tried again", err)
	}
	if l.busy != 0 || l.next != nil {
		t.Errorf("%d lookups under way, the next one is %v", l.busy, l.next)
	}
}
