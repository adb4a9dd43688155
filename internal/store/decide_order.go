package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// factsLock is the class of the advisory locks of sources that tell facts:
	// "fact".
	factsLock = 0x66616374
	// factsAtOnce bounds what one transaction decides of what came before.
	factsAtOnce = 500
	// triedOften is how often the job of an event was replaced that is left out of
	// what came before: it may be what cannot be decided.
	triedOften = 2
)

// errAwaiting tells that somebody else decides events of the sources for longer
// than a transaction waits.
var errAwaiting = errors.New("somebody else decides of these sources")

// IsAwaiting tells whether InOrder gave up waiting for somebody else who decides
// events of the same sources.
func IsAwaiting(err error) bool { return errors.Is(err, errAwaiting) }

// InOrder returns what is to be decided in this transaction, so that events of
// sources that tell facts are decided in their order: the ids and, before them,
// all that came earlier from the same sources and is not decided yet. Where this
// is too much for one transaction, it is the oldest, and there is more: then
// another transaction has to ask again. It waits for other transactions that
// decide events of these sources, and has later ones wait.
//
// The promise: reports of one source that were acknowledged one after the other
// are judged in that order. Whoever has the source's lock sees all that was
// acknowledged before, decided or not, and decides it too, however long ago that
// was; the jobs of that find nothing more to do.
func (t Tx) InOrder(ctx context.Context, ids []gateway.EventID) (first []gateway.EventID, more bool, err error) {
	sources, err := t.factSources(ctx, ids)
	if err != nil || len(sources) == 0 {
		return ids, false, err
	}
	if err := t.lockFacts(ctx, sources); err != nil {
		return nil, false, err
	}
	undecided, err := t.undecidedUntil(ctx, sources)
	if err != nil {
		return nil, false, err
	}
	if len(undecided) > factsAtOnce {
		slices.SortFunc(undecided, gateway.EventID.Compare)
		return undecided[:factsAtOnce], true, nil
	}
	all := append(slices.Clone(ids), undecided...)
	slices.SortFunc(all, gateway.EventID.Compare)
	return slices.Compact(all), false, nil
}

// lastOf is the last of some events of a source.
type lastOf struct {
	source gateway.SourceID
	event  gateway.EventID
}

// factSources finds the sources of undecided events that tell facts. Where no
// source does, no event is looked for.
func (t Tx) factSources(ctx context.Context, ids []gateway.EventID) ([]lastOf, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	low, high := idRange(ids)
	rows, err := t.tx.Query(ctx, `
		SELECT e.source_id, e.id
		FROM events e
		JOIN sources s
		  ON s.id = e.source_id
		WHERE e.id = ANY ($1)
		  AND e.id BETWEEN $2 AND $3
		  AND e.status = $4
		  AND s.rule ->> 'state' IS NOT NULL
		  AND EXISTS (SELECT FROM sources WHERE rule ->> 'state' IS NOT NULL)`, ids, low, high, string(gateway.EventAccepted))
	if err != nil {
		return nil, wrap("find sources that tell facts", err)
	}
	lasts := map[gateway.SourceID]lastOf{}
	var found lastOf
	_, err = pgx.ForEachRow(rows, []any{&found.source, &found.event}, func() error {
		if known, ok := lasts[found.source]; !ok || known.event.Compare(found.event) < 0 {
			lasts[found.source] = found
		}
		return nil
	})
	return slices.Collect(maps.Values(lasts)), wrap("find sources that tell facts", err)
}

// lockFacts locks sources in the order of their locks, which a collision does not
// change. It is the first lock of a transaction that decides: who waits for it has
// none that others wait for.
func (t Tx) lockFacts(ctx context.Context, sources []lastOf) error {
	keys := make([]int32, len(sources))
	for i, s := range sources {
		keys[i] = int32(binary.BigEndian.Uint32(s.source[12:])) //nolint:gosec // any bits do
	}
	slices.SortFunc(keys, cmp.Compare)
	_, err := t.tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1, k) FROM unnest($2::integer[]) AS k`, factsLock, keys)
	err = wrap("wait for who decides of these sources", err)
	if err != nil && IsSlow(err) {
		return errors.Join(errAwaiting, err)
	}
	return err
}

// undecidedUntil finds the oldest events that are not decided yet, of sources, up
// to the last of each: one more of each than is decided at once.
//
// The status is no parameter: the plan walks the index of what is undecided, in
// its order, however much that is.
func (t Tx) undecidedUntil(ctx context.Context, sources []lastOf) ([]gateway.EventID, error) {
	ids, lasts := make([]gateway.SourceID, len(sources)), make([]gateway.EventID, len(sources))
	for i, s := range sources {
		ids[i], lasts[i] = s.source, s.event
	}
	_, high := idRange(lasts)
	rows, err := t.tx.Query(ctx, `
		SELECT e.id
		FROM unnest($1::uuid[], $2::uuid[]) AS s (source_id, last)
		CROSS JOIN LATERAL (
			SELECT id
			FROM events
			WHERE source_id = s.source_id
			  AND id <= s.last
			  AND id <= $3
			  AND status = 'accepted'
			  AND (wait_until IS NULL OR wait_until <= now())
			  AND sweeps < $4
			ORDER BY id
			LIMIT $5
		) e`, ids, lasts, high, triedOften, factsAtOnce+1)
	if err != nil {
		return nil, wrap("find undecided events", err)
	}
	undecided, err := pgx.CollectRows(rows, pgx.RowTo[gateway.EventID])
	return undecided, wrap("find undecided events", err)
}
