package rule

import (
	"context"
	"sync"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// turnsAtOnce is how many questions a node answers at once: each holds
	// bodies of up to a MiB, decoded to many times of that, and a processor.
	turnsAtOnce = 2
	// turnsOfOne is how many of one account's questions wait or are answered:
	// whoever is last gets an answer before the request ends.
	turnsOfOne = 5
)

// Turns has those who ask what a filter would say, and wait for it, take turns:
// one of each account at a time, and few of all accounts. What was accepted is
// decided beside them. It is safe for use by several goroutines.
type Turns struct {
	mu sync.Mutex
	of map[gateway.AccountID]*line
	// places are those of all accounts.
	places chan struct{}
}

// line is one account's.
type line struct {
	// in is how many stand in it, who is first included; under Turns.mu.
	in    int
	first chan struct{}
}

// NewTurns makes Turns.
func NewTurns() *Turns { return NewTurnsOf(turnsAtOnce) }

// NewTurnsOf makes Turns with so many places for all accounts together.
func NewTurnsOf(places int) *Turns {
	return &Turns{of: map[gateway.AccountID]*line{}, places: make(chan struct{}, places)}
}

// Take waits for the account's turn, which ends when done is called. Errors:
// gateway.ErrRateLimited when too many of the account wait already; the
// context's.
func (t *Turns) Take(ctx context.Context, account gateway.AccountID) (done func(), err error) {
	l, err := t.join(account)
	if err != nil {
		return nil, err
	}
	if err := enter(ctx, l.first); err != nil {
		t.leave(account)
		return nil, err
	}
	if err := enter(ctx, t.places); err != nil {
		<-l.first
		t.leave(account)
		return nil, err
	}
	return func() {
		<-t.places
		<-l.first
		t.leave(account)
	}, nil
}

func (t *Turns) join(account gateway.AccountID) (*line, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.of[account]
	if l == nil {
		l = &line{first: make(chan struct{}, 1)}
		t.of[account] = l
	}
	if l.in == turnsOfOne {
		return nil, gateway.ErrRateLimited
	}
	l.in++
	return l, nil
}

func (t *Turns) leave(account gateway.AccountID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.of[account]
	if l.in--; l.in == 0 {
		delete(t.of, account)
	}
}

func enter(ctx context.Context, room chan struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
