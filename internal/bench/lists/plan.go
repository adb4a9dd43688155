package main

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// pageSize is what the API asks for by default, and one more.
const pageSize = 51

// planner makes the lists of one account.
type planner struct {
	store   *store.Store
	account fill.Account
	history fill.Options
	// middle is where half of the history is older.
	middle time.Time
	lists  []list
}

// plan names every list, by each of its filters.
func plan(ctx context.Context, s *store.Store, account fill.Account, history fill.Options) ([]list, error) {
	p := &planner{
		store: s, account: account, history: history,
		middle: history.Until.Add(-time.Duration(history.Days) * 12 * time.Hour),
	}
	sample, err := s.Events(ctx, account.ID, store.EventFilter{Status: gateway.EventProcessed}, store.Page[gateway.EventID]{Until: p.middle, Limit: 1})
	if err != nil {
		return nil, err
	}
	for _, e := range sample {
		p.events(e)
		p.deliveries(e)
		p.eventPages(e)
		if err := p.attempts(ctx, e); err != nil {
			return nil, err
		}
	}
	p.requests()
	p.owners()
	p.failurePages()
	p.endpointPages()
	p.numberPages()
	return p.lists, nil
}

func (p *planner) add(name string, ask func(context.Context) (int, error)) {
	p.lists = append(p.lists, list{name, ask})
}

// pages adds a list's newest part, one from the middle by cursor, and one
// between two times.
func pages[I gateway.AnyID](p *planner, name string, ask func(context.Context, store.Page[I]) (int, error)) {
	middle := gateway.FirstIDAt[I](p.middle)
	for _, part := range []struct {
		what string
		page store.Page[I]
	}{
		{"", store.Page[I]{Limit: pageSize}},
		{", deep cursor", store.Page[I]{Before: &middle, Limit: pageSize}},
		{", one old hour", store.Page[I]{Since: p.middle.Add(-time.Hour), Until: p.middle, Limit: pageSize}},
	} {
		p.add(name+part.what, func(ctx context.Context) (int, error) { return ask(ctx, part.page) })
	}
}
