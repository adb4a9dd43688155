package api

import (
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/store"
)

// PageQuery are the parameters that every list has. It is exported for the
// library, which sees no others.
type PageQuery struct {
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"250" doc:"How many to return at the most."`
	Cursor string `query:"cursor" doc:"The next_cursor of the part before."`
}

// TimeQuery are the parameters of lists that grow with time.
type TimeQuery struct {
	Since moment `query:"since" doc:"From this time on (RFC 3339)."`
	Until moment `query:"until" doc:"Before this time (RFC 3339)."`
}

// check refuses times that no object can lie between.
func (t TimeQuery) check() error {
	since, until := time.Time(t.Since), time.Time(t.Until)
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return problem.At("query.until", "want a time after since")
	}
	return nil
}

// ListOf is one part of a list, newest first. It is exported for the library,
// which sees no others where a type has them in it.
type ListOf[V any] struct {
	Data []V `json:"data" nullable:"false"`
	// NextCursor is null at the end.
	NextCursor *string `json:"next_cursor" doc:"Where the next part begins; null at the end."`
}

// listReply answers with a part of a list.
type listReply[V any] struct{ Body ListOf[V] }

// page turns the parameters into what the store wants. It asks for one more
// than shown, which tells whether there is a next part.
func page[I gateway.AnyID](list string, q PageQuery, t TimeQuery) (store.Page[I], error) {
	p := store.Page[I]{Since: time.Time(t.Since), Until: time.Time(t.Until), Limit: q.Limit + 1}
	if err := t.check(); err != nil {
		return p, err
	}
	if q.Cursor == "" {
		return p, nil
	}
	position, err := decodeCursor(list, q.Cursor, len(I{}))
	if err != nil {
		return p, err
	}
	before := I(position)
	p.Before = &before
	return p, nil
}

// idCursor is the position of a list that is ordered by id.
func idCursor[I gateway.AnyID](id I) []byte {
	raw := [16]byte(id)
	return raw[:]
}

// reply shapes a part of a list from one row more than shown.
func reply[R, V any](list string, q PageQuery, rows []R, position func(R) []byte, view func(R) V) *listReply[V] {
	out := &listReply[V]{Body: ListOf[V]{Data: make([]V, 0, min(len(rows), q.Limit))}}
	if len(rows) > q.Limit {
		rows = rows[:q.Limit]
		next := encodeCursor(list, position(rows[q.Limit-1]))
		out.Body.NextCursor = &next
	}
	for _, row := range rows {
		out.Body.Data = append(out.Body.Data, view(row))
	}
	return out
}

// whole answers with a list that has one part only.
func whole[R, V any](rows []R, view func(R) V) *listReply[V] {
	return reply("", PageQuery{Limit: len(rows)}, rows, nil, view)
}
