package decide

import (
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Round is what one transaction decided, for whoever counts.
type Round struct {
	// Began and Ended are when the transaction did.
	Began, Ended time.Time
	// Events are those that were decided: one that was put off is not.
	Events []Decided
}

// Decided is an event and what it was decided to be.
type Decided struct {
	ID        gateway.EventID
	AccountID gateway.AccountID
	Status    gateway.EventStatus
	// DueAt is since when it was due to be decided. It is zero where that tells
	// nothing of how long deciding takes: of what was put off, is decided again, or
	// was found by the sweep.
	DueAt time.Time
	// Span is that of the trace which accepted it.
	Span gateway.Span
}

// tellOf tells of what was decided.
func (s *Service) tellOf(p planned, began time.Time) {
	if len(p.decided) > 0 {
		s.meter(Round{Began: began, Ended: s.clock.Now(), Events: p.decided})
	}
}

// note remembers how an event was decided.
func (p *planned) note(e store.Undecided, status gateway.EventStatus) {
	d := Decided{ID: e.ID, AccountID: e.AccountID, Status: status, Span: e.Span}
	if !e.Again && e.Waits == 0 {
		d.DueAt = e.DueAt
	}
	p.decided = append(p.decided, d)
}
