package store

import (
	"bytes"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Page asks for the next part of a list that is ordered by id, newest first.
type Page[I gateway.AnyID] struct {
	// Before is the last id of the part before; nil asks for the first part.
	Before *I
	// Since and Until bound the time that the ids carry: from Since, before
	// Until. Zero is unbounded.
	Since, Until time.Time
	// Limit is how many to return at the most.
	Limit int
}

// maxID is above every id that can be made.
var maxID = [16]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// bounds turns a page into a half-open range of ids, so that the planner can
// leave out the partitions outside it.
func (p Page[I]) bounds() (low, high I) {
	top := maxID
	if !p.Until.IsZero() {
		top = gateway.FirstIDAt[[16]byte](p.Until)
	}
	if p.Before != nil {
		before := [16]byte(*p.Before)
		if bytes.Compare(before[:], top[:]) < 0 {
			top = before
		}
	}
	if !p.Since.IsZero() {
		low = gateway.FirstIDAt[I](p.Since)
	}
	return low, I(top)
}
