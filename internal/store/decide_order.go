package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// factsLock is the class of the advisory locks of sources that tell facts:
	// "fact".
	factsLock = 0x66616374
	// factsReach is how far before an event its source is searched for what is
	// still undecided: far longer than a job usually waits, and few rows.
	factsReach = 5 * time.Second
	// factsAtOnce bounds what is taken along of a source.
	factsAtOnce = 500
)

// InOrder returns, beside the ids, those of undecided events that came shortly
// before them from the same sources, of sources that tell facts. It waits for
// other transactions that decide events of these sources, and has later ones wait.
//
// The promise: reports of one source that were acknowledged one after the other
// are judged in that order. Whoever has the source's lock sees all that was
// acknowledged before, decided or not, and decides it too; the jobs of that find
// nothing more to do.
func (t Tx) InOrder(ctx context.Context, ids []gateway.EventID) ([]gateway.EventID, error) {
	sources, err := t.factSources(ctx, ids)
	if err != nil || len(sources) == 0 {
		return ids, err
	}
	if err := t.lockFacts(ctx, sources); err != nil {
		return nil, err
	}
	earlier, err := t.undecidedBefore(ctx, sources)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(ids), earlier...)
	slices.SortFunc(all, gateway.EventID.Compare)
	return slices.Compact(all), nil
}

// span is from the first to the last of some events of a source.
type span struct {
	source      gateway.SourceID
	first, last gateway.EventID
}

// factSources finds the sources of undecided events that tell facts. Where no
// source does, no event is looked for.
func (t Tx) factSources(ctx context.Context, ids []gateway.EventID) ([]span, error) {
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
	spans := map[gateway.SourceID]span{}
	var source gateway.SourceID
	var id gateway.EventID
	_, err = pgx.ForEachRow(rows, []any{&source, &id}, func() error {
		s, known := spans[source]
		if !known {
			s = span{source, id, id}
		}
		s.first, s.last = idRange([]gateway.EventID{s.first, s.last, id})
		spans[source] = s
		return nil
	})
	return slices.Collect(maps.Values(spans)), wrap("find sources that tell facts", err)
}

// lockFacts locks sources in the order of their locks, which a collision does not
// change.
func (t Tx) lockFacts(ctx context.Context, sources []span) error {
	keys := make([]int32, len(sources))
	for i, s := range sources {
		keys[i] = int32(binary.BigEndian.Uint32(s.source[12:])) //nolint:gosec // any bits do
	}
	slices.SortFunc(keys, cmp.Compare)
	_, err := t.tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1, k) FROM unnest($2::integer[]) AS k`, factsLock, keys)
	return wrap("wait for who decides of these sources", err)
}

// undecidedBefore finds what came before some events and is not decided yet.
func (t Tx) undecidedBefore(ctx context.Context, sources []span) ([]gateway.EventID, error) {
	ids, from, to := make([]gateway.SourceID, len(sources)), make([]gateway.EventID, len(sources)), make([]gateway.EventID, len(sources))
	for i, s := range sources {
		ids[i], from[i], to[i] = s.source, gateway.FirstIDAt[gateway.EventID](s.first.Time().Add(-factsReach)), s.last
	}
	low, _ := idRange(from)
	_, high := idRange(to)
	rows, err := t.tx.Query(ctx, `
		SELECT e.id
		FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS s (source_id, first, last)
		CROSS JOIN LATERAL (
			SELECT id
			FROM events
			WHERE source_id = s.source_id
			  AND id BETWEEN s.first AND s.last
			  AND id BETWEEN $4 AND $5
			  AND status = $6
			  AND (wait_until IS NULL OR wait_until <= now())
			ORDER BY id DESC
			LIMIT $7
		) e`, ids, from, to, low, high, string(gateway.EventAccepted), factsAtOnce)
	if err != nil {
		return nil, wrap("find undecided events", err)
	}
	earlier, err := pgx.CollectRows(rows, pgx.RowTo[gateway.EventID])
	return earlier, wrap("find undecided events", err)
}
