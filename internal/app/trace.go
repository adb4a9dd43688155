package app

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/metrics"
	"github.com/rowlock/rowlock/internal/tracing"
)

// stopTraces bounds how long the last spans may take: a collector that is away
// holds no process up.
const stopTraces = 5 * time.Second

// startTracing begins to send traces, where somebody wants them.
func (v *services) startTracing(ctx context.Context, o ServeOptions) (err error) {
	if o.Config.OTLPEndpoint == "" {
		return nil
	}
	v.traces, err = tracing.Start(ctx, tracing.Options{
		Endpoint: o.Config.OTLPEndpoint.Reveal(), Version: o.Version, Node: v.node.Name, Now: v.clock.Now, Log: o.Log,
	})
	return err
}

// stopTracing sends the last spans, when nothing makes any more.
func (v *services) stopTracing(ctx context.Context, log *slog.Logger) {
	if v.traces == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTraces)
	defer cancel()
	if err := v.traces.Stop(ctx); err != nil {
		log.Warn("stopping", "step", "send the last traces", "error", err)
	}
}

// traceAttempt begins the spans of attempts; nil where nothing is traced.
func (v *services) traceAttempt() func(gateway.Span, time.Time) (gateway.Span, func(*gateway.Attempt)) {
	if v.traces == nil {
		return nil
	}
	return v.traces.Attempt
}

// traceRequest begins the spans of requests; nil where nothing is traced.
func (v *services) traceRequest() func(string, http.Header) (gateway.Span, func(int)) {
	if v.traces == nil {
		return nil
	}
	return v.traces.Request
}

// tellDecided has what is decided counted, and traced where something is.
func (v *services) tellDecided(m *metrics.Metrics) func(decide.Round) {
	if v.traces == nil {
		return m.Decided
	}
	return func(r decide.Round) {
		m.Decided(r)
		v.traces.Decided(r)
	}
}
