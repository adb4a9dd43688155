package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// SourceRules reads the rules of sources that have one, by the version that
// TakeUndecided told of, or a later one.
func (t Tx) SourceRules(ctx context.Context, ids []gateway.SourceID) (map[gateway.SourceID]gateway.Source, error) {
	rows, err := t.tx.Query(ctx, `
		SELECT `+sourceFields+`
		FROM sources
		WHERE id = ANY ($1)
		  AND rule IS NOT NULL`, ids)
	if err != nil {
		return nil, wrap("read the rules of sources", err)
	}
	sources, err := pgx.CollectRows(rows, pgx.RowToStructByName[gateway.Source])
	ruled := make(map[gateway.SourceID]gateway.Source, len(sources))
	for i := range sources {
		ruled[sources[i].ID] = sources[i]
	}
	return ruled, wrap("read the rules of sources", err)
}

// Meaning is what a rule made of an event.
type Meaning struct {
	ID gateway.EventID
	// Type is what it is told as, Received what came in.
	Type, Received string
	// Subject and State are empty for none.
	Subject, State string
	// Told is the fact that it made new; nil for none.
	Told *gateway.FactID
	// Key is the key that was read late; nil leaves the one it has.
	Key []byte
	// Unnamed tells that its key or its type can still not be read.
	Unnamed bool
}

// SetMeanings writes what rules made of events that TakeUndecided took in this
// transaction. A fact that an event made new before stays its own.
func (t Tx) SetMeanings(ctx context.Context, meanings []Meaning) error {
	if len(meanings) == 0 {
		return nil
	}
	var c meaningColumns
	for i := range meanings {
		c.add(&meanings[i])
	}
	low, high := idRange(c.ids)
	_, err := t.tx.Exec(ctx, `
		UPDATE events e
		SET type = u.type,
		    received_type = nullif(u.received, u.type),
		    subject = nullif(u.subject, ''),
		    reported = nullif(u.state, ''),
		    fact_id = coalesce(u.told, e.fact_id),
		    key = coalesce(u.key, e.key),
		    rule_failed = u.unnamed
		FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::bytea[], $8::boolean[])
		     AS u (id, type, received, subject, state, told, key, unnamed)
		WHERE e.id = u.id
		  AND e.id = ANY ($1)
		  AND e.id BETWEEN $9 AND $10`,
		c.ids, c.types, c.received, c.subjects, c.states, c.told, c.keys, c.unnamed, low, high)
	return wrap("set what events mean", err)
}

// meaningColumns turns rows into the arrays that one UPDATE takes.
type meaningColumns struct {
	ids                               []gateway.EventID
	types, received, subjects, states []string
	told                              []*gateway.FactID
	keys                              [][]byte
	unnamed                           []bool
}

func (c *meaningColumns) add(m *Meaning) {
	c.ids = append(c.ids, m.ID)
	c.types = append(c.types, m.Type)
	c.received = append(c.received, m.Received)
	c.subjects = append(c.subjects, m.Subject)
	c.states = append(c.states, m.State)
	c.told = append(c.told, m.Told)
	c.keys = append(c.keys, m.Key)
	c.unnamed = append(c.unnamed, m.Unnamed)
}

// PutOff puts events that TakeUndecided took in this transaction back to be
// decided: each when its time has come, and not before. reasons say why, in
// words; all three slices are as long.
func (t Tx) PutOff(ctx context.Context, ids []gateway.EventID, waits []time.Duration, reasons []string) error {
	if len(ids) == 0 {
		return nil
	}
	low, high := idRange(ids)
	_, err := t.tx.Exec(ctx, `
		UPDATE events e
		SET status = 'accepted',
		    decision = u.reason,
		    decisions = e.decisions - 1,
		    waits = e.waits + 1,
		    wait_until = now() + u.wait,
		    decide_after = now() + u.wait
		FROM unnest($1::uuid[], $2::interval[], $3::text[]) AS u (id, wait, reason)
		WHERE e.id = u.id
		  AND e.id = ANY ($1)
		  AND e.id BETWEEN $4 AND $5`, ids, waits, reasons, low, high)
	return wrap("put events off", err)
}
