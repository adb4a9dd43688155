package fill

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// history makes the nth event, always the same one: a part of them is in memory at
// once, and written to one table after the other.
type history struct {
	Options
	since    time.Time
	accounts []Account
	body     []byte
}

func newHistory(o Options) *history {
	h := &history{Options: o, since: o.Until.Add(-time.Duration(o.Days) * day)}
	r := h.random(ownerStream, 0)
	for range o.Accounts {
		a := Account{ID: newID[gateway.AccountID](h.since, r)}
		for range o.Sources {
			a.Sources = append(a.Sources, newID[gateway.SourceID](h.since, r))
		}
		for range o.Endpoints {
			a.Endpoints = append(a.Endpoints, newID[gateway.EndpointID](h.since, r))
		}
		h.accounts = append(h.accounts, a)
	}
	h.body = make([]byte, o.BodySize)
	for i := range h.body {
		h.body[i] = 'a' + byte(r.IntN(26)) //nolint:gosec // a letter
	}
	return h
}

// The streams of random numbers: no two of them meet.
const (
	ownerStream = iota
	eventStream
	requestStream
)

// random is the nth generator of a stream.
func (h *history) random(stream, n int) *rand.Rand {
	return rand.New(rand.NewPCG(h.Seed<<2|uint64(stream), uint64(n))) //nolint:gosec // it makes no secrets
}

// newID makes a UUIDv7 of a time.
func newID[I ~[16]byte](at time.Time, r *rand.Rand) I {
	raw := [16]byte(gateway.FirstIDAt[I](at))
	binary.BigEndian.PutUint16(raw[6:8], uint16(r.Uint32()&0x0fff|0x7000)) //nolint:gosec // masked
	binary.BigEndian.PutUint64(raw[8:], r.Uint64()&0x3fffffffffffffff|0x8000000000000000)
	return I(raw)
}

// event is one event with all that became of it.
type event struct {
	n          int
	at         time.Time
	id         gateway.EventID
	account    *Account
	source     gateway.SourceID
	kind       string
	status     gateway.EventStatus
	deliveries []delivery
}

// at is when the nth event came in: they come in at an even pace.
func (h *history) at(n int) time.Time {
	span := h.Until.Sub(h.since)
	return h.since.Add(time.Duration(float64(span) * (float64(n) / float64(h.Events)))).Truncate(time.Millisecond)
}

func (h *history) event(n int) event {
	r := h.random(eventStream, n)
	e := event{n: n, at: h.at(n), account: &h.accounts[0]}
	if r.IntN(2) == 0 {
		e.account = &h.accounts[r.IntN(len(h.accounts))]
	}
	e.id = newID[gateway.EventID](e.at, r)
	e.source = e.account.Sources[r.IntN(len(e.account.Sources))]
	e.kind = pick(r, eventTypes)
	e.status = pick(r, eventStatuses)
	if n >= h.Events-h.undecided() {
		e.status = gateway.EventAccepted
	}
	if e.status == gateway.EventProcessed {
		e.deliveries = h.deliveries(&e, r)
	}
	return e
}

// undecided is how many of the last events are still to be decided.
func (h *history) undecided() int { return min(maxUndecided, h.Events/100) }

func (e *event) subject() string { return fmt.Sprintf("order_%d", e.n/subjectRepeats) }
func (e *event) key() []byte     { return fmt.Appendf(nil, "key-%d", e.n) }

// maxUndecided is how many events a node that keeps up has yet to decide.
const maxUndecided = 200

// subjectRepeats is how many events tell of one subject.
const subjectRepeats = 8
