package reconcile

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// askedAtOnce is how many events' bodies are in memory at once.
	askedAtOnce = 8
	// askTime is how long one step asks an endpoint's filter, well within the
	// lease: what it did not get to is for the next step.
	askTime = 3 * time.Second
)

// candidate is one of our events that may be for the endpoint.
type candidate struct {
	store.ComparedEvent

	hash     gateway.RowHash
	delivery gateway.DeliveryID
	// made tells that there is a delivery; now is how it stands.
	made bool
	now  store.DeliveryNow
	// listed tells that the partner lists it.
	listed bool
}

// compareOurs compares a batch of our events: those that were delivered or were
// to be, and those that the endpoint asks for and never got.
func (r *runner) compareOurs(ctx context.Context) error {
	events, err := r.Store.EventsToCompare(ctx, r.run.AccountID, r.run, comparedAtOnce)
	if err != nil {
		return err
	}
	batch := ours{end: len(events) < comparedAtOnce, last: r.run.Cursor}
	if len(events) > 0 {
		batch.last = events[len(events)-1].ID
	}
	if batch.all, err = r.candidates(ctx, events); err != nil {
		return err
	}
	if err := r.sift(ctx, &batch); err != nil {
		return err
	}
	return r.change(ctx, func(tx store.Tx, step *store.ReconciliationStep) error {
		step.Cursor, step.OursDone = batch.last, batch.end
		return r.note(ctx, tx, batch.all, step)
	})
}

// ours is a batch of our events.
type ours struct {
	all []candidate
	// last is the last event that was looked at; end: there are no more.
	last gateway.EventID
	end  bool
}

// candidates finds of events how their deliveries stand, and whether the partner
// lists them.
func (r *runner) candidates(ctx context.Context, events []store.ComparedEvent) ([]candidate, error) {
	all, ids := make([]candidate, len(events)), make([]gateway.DeliveryID, len(events))
	for i, e := range events {
		ids[i] = gateway.DeriveDeliveryID(e.ID, r.run.EndpointID)
		all[i] = candidate{ComparedEvent: e, delivery: ids[i]}
	}
	now, err := r.Store.DeliveriesNow(ctx, r.run.AccountID, ids)
	if err != nil {
		return nil, err
	}
	var hashes []gateway.RowHash
	for i := range all {
		c := &all[i]
		c.now, c.made = now[c.delivery]
		if c.Named != nil {
			c.hash = r.hash(*c.Named, c.Type)
			hashes = append(hashes, c.hash)
		}
	}
	listed, err := r.Store.Listed(ctx, r.run.AccountID, r.run.ID, hashes)
	for i := range all {
		all[i].listed = all[i].Named != nil && listed[all[i].hash]
	}
	return all, err
}

// hash is by what a row and an event are compared.
func (r *runner) hash(key, eventType string) gateway.RowHash {
	if !r.run.WithType {
		eventType = ""
	}
	return gateway.HashRow(key, eventType)
}

// undecided are the statuses of events of which nobody knows yet whether they go
// to the endpoint; decided are those that were.
var (
	decided   = []gateway.EventStatus{gateway.EventProcessed, gateway.EventNoEndpoints}
	undecided = []gateway.EventStatus{gateway.EventAccepted, gateway.EventHeld, gateway.EventRuleError, gateway.EventUnresolved}
)

// sift leaves those that were or are for the endpoint. Where there is no delivery
// the endpoint is asked; one that was deleted wants nothing.
func (r *runner) sift(ctx context.Context, batch *ours) error {
	endpoint, err := r.Store.Endpoint(ctx, r.run.AccountID, r.run.EndpointID)
	gone := errors.Is(err, gateway.ErrNotFound)
	if err != nil && !gone {
		return err
	}
	var asked []candidate
	for _, c := range batch.all {
		open := slices.Contains(decided, c.Status) || slices.Contains(undecided, c.Status)
		if !c.made && open && !gone && gateway.MatchesType(endpoint.EventTypes, c.Type) {
			asked = append(asked, c)
		}
	}
	wanted, last, err := r.ask(ctx, endpoint, asked)
	if err != nil {
		return err
	}
	if last != nil {
		batch.last, batch.end = *last, false
	}
	batch.all = slices.DeleteFunc(batch.all, func(c candidate) bool {
		return !c.made && !wanted[c.ID] || c.ID.Compare(batch.last) > 0
	})
	return nil
}

// ask asks an endpoint's filter of events, and returns which it lets through;
// last is the one after which there was no time left. One that has no answer lets
// an event not through.
func (r *runner) ask(ctx context.Context, endpoint gateway.Endpoint, events []candidate) (wanted map[gateway.EventID]bool, last *gateway.EventID, err error) {
	wanted = map[gateway.EventID]bool{}
	ends := r.Clock.Now().Add(askTime)
	for part := range slices.Chunk(events, askedAtOnce) {
		if endpoint.Filter != "" && r.Clock.Now().After(ends) {
			return wanted, last, nil
		}
		if err := r.askSome(ctx, endpoint, part, wanted); err != nil {
			return nil, nil, err
		}
		last = &part[len(part)-1].ID
	}
	return wanted, nil, nil
}

// askSome asks of a few events at once.
func (r *runner) askSome(ctx context.Context, endpoint gateway.Endpoint, events []candidate, wanted map[gateway.EventID]bool) error {
	if endpoint.Filter == "" {
		for _, e := range events {
			wanted[e.ID] = true
		}
		return nil
	}
	ids := make([]gateway.EventID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	contents, err := r.Store.Contents(ctx, r.run.AccountID, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		ok, err := r.filters.Wants(ctx, endpoint.EventTypes, endpoint.Filter, rule.NewInput(contents[id]))
		if _, unanswered := errors.AsType[*rule.EvalError](err); err != nil && !unanswered {
			return err
		}
		wanted[id] = ok
	}
	return nil
}

// note notes what a batch of ours came to.
func (r *runner) note(ctx context.Context, tx store.Tx, batch []candidate, step *store.ReconciliationStep) (err error) {
	matches := map[gateway.RowHash]store.Match{}
	var missing []gateway.MissingRow
	for _, c := range batch {
		step.Ours++
		switch {
		case c.Named == nil:
			step.Unnamed++
		case !c.listed:
			missing = append(missing, c.missing())
		case c.made:
			c.matchIn(matches)
		}
	}
	for _, m := range missing {
		if step.Missing++; m.Sendable {
			step.Sendable++
		}
	}
	if step.Matched, err = tx.MatchRows(ctx, r.run.AccountID, r.run.ID, matches); err != nil {
		return err
	}
	return tx.AddMissing(ctx, r.run.AccountID, r.run.ID, missing)
}

// matchIn notes among others that the partner has it. Of several events that a row
// may mean, one that was confirmed to us is it.
func (c candidate) matchIn(matches map[gateway.RowHash]store.Match) {
	m := store.Match{EventID: c.ID, Reason: unlessConfirmed(c.now)}
	if first, known := matches[c.hash]; !known || first.Reason != "" && m.Reason == "" {
		matches[c.hash] = m
	}
}

// unlessConfirmed is what there is to say of a match that stands so with us.
func unlessConfirmed(d store.DeliveryNow) gateway.RowReason {
	if d.Status == gateway.DeliveryDelivered || d.Status == gateway.DeliverySuppressed {
		return ""
	}
	return gateway.ReasonUnconfirmed
}

// missing says why the partner does not have it, and whether it can be sent. What
// is open goes out by itself, what failed here may have been confirmed by the next
// of the chain, a fact that the receiver has confirmed is sent again by a person
// who says why, and what is not decided yet is decided first.
func (c candidate) missing() gateway.MissingRow {
	m := gateway.MissingRow{
		EventID: c.ID, DeliveryID: c.delivery, Key: *c.Named, Type: c.Type, EventStatus: c.Status,
		Reason: gateway.ReasonNeverCreated, Sendable: !c.PayloadGone && slices.Contains(decided, c.Status),
	}
	if c.made {
		m.Reason, m.Attempts = gateway.MissingBecause(c.now.Status), c.now.Attempts
		m.Sendable = !c.PayloadGone && c.now.Status.IsClosed() && !c.now.Confirmed && !c.now.FailedOver
	}
	if c.now.FailedOver {
		m.Reason = gateway.ReasonFailedOver
	}
	return m
}
