package deliver

import (
	"context"
	"log/slog"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// logAttempt writes one line an attempt, with all that is to be asked for: which
// it was, how it ended, how long its parts took, and what follows. It shows no
// address, header or body, and no text of the far side's.
func (s *Service) logAttempt(ctx context.Context, r *sent) {
	if !s.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	a := &r.Attempt
	line := make([]slog.Attr, 0, 20)
	line = append(line,
		slog.String("account", a.AccountID.String()),
		slog.String("event", a.EventID.String()),
		slog.String("event_type", r.eventType),
		slog.String("endpoint", a.EndpointID.String()),
		slog.String("delivery", a.DeliveryID.String()),
		slog.Int("attempt", a.N),
		slog.String("trigger", string(a.Trigger)),
		slog.String("outcome", string(a.Outcome)),
	)
	if a.ErrorKind != "" {
		line = append(line, slog.String("error_kind", string(a.ErrorKind)))
	}
	if a.StatusCode != 0 {
		line = append(line, slog.Int("status_code", a.StatusCode))
	}
	line = append(line, slog.String("status", string(r.Status)))
	if r.Status == gateway.DeliveryPending && !r.NextAttemptAt.IsZero() {
		line = append(line, slog.Time("next_attempt_at", r.NextAttemptAt))
	}
	line = append(line, slog.Float64("duration_ms", milliseconds(a.Duration)))
	line = appendParts(line, a.Timing)
	if r.claim != nil {
		line = append(line, slog.String("claim", r.claim.ID.String()))
	}
	if !r.span.IsZero() {
		line = append(line, slog.String("trace_id", r.span.TraceID()))
	}
	s.Log.LogAttrs(ctx, slog.LevelInfo, "attempt", line...)
}

// appendParts adds the parts of a request that happened: a connection that was
// kept has no DNS, connect or TLS.
func appendParts(line []slog.Attr, t gateway.Timing) []slog.Attr {
	part := func(name string, took time.Duration) {
		if took > 0 {
			line = append(line, slog.Float64(name, milliseconds(took)))
		}
	}
	part("dns_ms", t.DNS)
	part("connect_ms", t.Connect)
	part("tls_ms", t.TLS)
	part("first_byte_ms", t.FirstByte)
	return line
}

// milliseconds has three places: microseconds are what is recorded.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
