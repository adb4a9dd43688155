package api

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/server/resource"
	"github.com/rowlock/rowlock/internal/store"
)

// windowSpan goes from what one row of the numbers stands for to the longest
// time that is added up at once.
var windowSpan = resource.Span{Least: time.Minute, Most: 31 * 24 * time.Hour}

// statsView is what happened at an endpoint in a window.
type statsView struct {
	Since             timestamp `json:"since"`
	Until             timestamp `json:"until"`
	Succeeded         int64     `json:"succeeded"`
	Rejected          int64     `json:"rejected"`
	Unreachable       int64     `json:"unreachable"`
	Unknown           int64     `json:"unknown"`
	AverageDurationMS float64   `json:"average_duration_ms" doc:"Of all attempts together."`
}

type statsInput struct {
	ID     string `path:"id" doc:"The endpoint's id or uid."`
	Window string `query:"window" default:"24h" doc:"How far back, from 1m to 744h." example:"1h"`
}

func (a *API) endpointStats(ctx context.Context, who caller, in *statsInput) (*objectReply[statsView], error) {
	window, err := windowSpan.Read(in.Window, "query.window")
	if err != nil {
		return nil, err
	}
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	if _, err := a.Store.Endpoint(ctx, who.account(), id); err != nil {
		return nil, err
	}
	until := a.Now()
	since := until.Add(-window)
	stats, err := a.Store.EndpointStats(ctx, who.account(), id, since)
	return object(stats, err, func(s store.Stats) statsView { return viewStats(s, since, until) })
}

func viewStats(s store.Stats, since, until time.Time) statsView {
	v := statsView{
		Since: timestamp(since), Until: timestamp(until),
		Succeeded: s.Succeeded, Rejected: s.Rejected, Unreachable: s.Unreachable, Unknown: s.Unknown,
	}
	if n := s.Succeeded + s.Rejected + s.Unreachable + s.Unknown; n > 0 {
		v.AverageDurationMS = millis(s.Duration / time.Duration(n))
	}
	return v
}
