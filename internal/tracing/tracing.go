// Package tracing sends the way of an event to an OpenTelemetry collector: the
// request that brought it, its decision and each attempt, as spans of one trace.
// What joins them is stored with the event, so that it holds over processes.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
)

// scope names who makes the spans.
const scope = "github.com/rowlock/rowlock"

// Options are what traces are made with.
type Options struct {
	// Endpoint is the collector's address, to which the path of traces is added.
	Endpoint string
	// Version is the product's, and Node names this process.
	Version, Node string
	// Now is the node's corrected clock: spans of several nodes are put in order.
	Now func() time.Time
	Log *slog.Logger
}

// Tracing makes spans and sends them.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	now      func() time.Time
}

// errProtocol tells how spans can be sent.
var errProtocol = errors.New("OTEL_EXPORTER_OTLP_PROTOCOL is not http/protobuf: traces are sent in no other way; unset it, and name the collector's port for HTTP, commonly 4318")

// Start begins to send spans. It reaches nobody yet: a collector that is away is
// told of in the log, and costs nothing but its spans. The standard variables of
// OpenTelemetry hold: OTEL_TRACES_SAMPLER, OTEL_RESOURCE_ATTRIBUTES,
// OTEL_EXPORTER_OTLP_HEADERS and others.
func Start(ctx context.Context, o Options) (*Tracing, error) {
	if !speaksHTTP() {
		return nil, errProtocol
	}
	exporter, err := otlptracehttp.New(ctx, target(o.Endpoint)...)
	if err != nil {
		return nil, fmt.Errorf("make the exporter of traces: %w", err)
	}
	about, err := describe(ctx, o)
	if err != nil {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(newComplaints(o).handle))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &Tracing{provider: provider, tracer: provider.Tracer(scope, trace.WithInstrumentationVersion(o.Version)), now: o.Now}, nil
}

// speaksHTTP tells whether nobody asks for another protocol.
func speaksHTTP() bool {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if value := os.Getenv(name); value != "" {
			return value == "http/protobuf"
		}
	}
	return true
}

// target is where spans go, unless there is an address for traces alone, which the
// library reads.
func target(endpoint string) []otlptracehttp.Option {
	if os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" {
		return nil
	}
	return []otlptracehttp.Option{otlptracehttp.WithEndpointURL(strings.TrimSuffix(endpoint, "/") + "/v1/traces")}
}

// describe says what makes the spans. The environment may call it otherwise.
func describe(ctx context.Context, o Options) (*resource.Resource, error) {
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(
			attribute.String("service.name", "rowlock"),
			attribute.String("service.version", o.Version),
			attribute.String("service.instance.id", o.Node),
		),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return about, nil
}

// Stop sends what is left, until ctx ends.
func (t *Tracing) Stop(ctx context.Context) error {
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// Request begins the span of a request that brings events by some way, below the
// caller's if that has said so. The span is zero where the trace is not kept.
func (t *Tracing) Request(via string, header http.Header) (gateway.Span, func(status int)) {
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(header))
	_, span := t.tracer.Start(ctx, requestName(via), trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(t.now()))
	return kept(span), func(status int) {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(status))
		}
		span.End(trace.WithTimestamp(t.now()))
	}
}

// requestName says what a request does.
func requestName(via string) string {
	if via == "api" {
		return "publish"
	}
	return via
}

// Decided sends a span for each event of a transaction that is traced.
func (t *Tracing) Decided(r decide.Round) {
	for i := range r.Events {
		e := &r.Events[i]
		if e.Span.IsZero() {
			continue
		}
		_, span := t.tracer.Start(below(e.Span), "decide", trace.WithTimestamp(r.Began), trace.WithAttributes(
			attribute.String("rowlock.account_id", e.AccountID.String()),
			attribute.String("rowlock.event_id", e.ID.String()),
			attribute.String("rowlock.status", string(e.Status)),
		))
		span.End(trace.WithTimestamp(r.Ended))
	}
}

// Attempt begins the span of an attempt, and returns it with what ends it. Where
// this node does not keep it, it is the span that accepted the event.
func (t *Tracing) Attempt(accepted gateway.Span, began time.Time) (gateway.Span, func(*gateway.Attempt)) {
	_, span := t.tracer.Start(below(accepted), "attempt", trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(began))
	mine := kept(span)
	if mine.IsZero() {
		return accepted, func(*gateway.Attempt) {}
	}
	return mine, func(a *gateway.Attempt) { endAttempt(span, a) }
}

// endAttempt says how an attempt went. It shows no address: that may hold secrets.
func endAttempt(span trace.Span, a *gateway.Attempt) {
	span.SetAttributes(
		attribute.String("rowlock.account_id", a.AccountID.String()),
		attribute.String("rowlock.event_id", a.EventID.String()),
		attribute.String("rowlock.endpoint_id", a.EndpointID.String()),
		attribute.String("rowlock.delivery_id", a.DeliveryID.String()),
		attribute.Int("rowlock.attempt", a.N),
		attribute.String("rowlock.trigger", string(a.Trigger)),
		attribute.String("rowlock.outcome", string(a.Outcome)),
	)
	if a.StatusCode != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", a.StatusCode))
	}
	if a.ErrorKind != "" {
		span.SetAttributes(attribute.String("error.type", string(a.ErrorKind)))
	}
	if a.Outcome != gateway.OutcomeSucceeded {
		span.SetStatus(codes.Error, string(a.Outcome))
	}
	span.End(trace.WithTimestamp(a.StartedAt.Add(a.Duration)))
}

// below is a context in which spans begin below one that another process may have
// ended long ago.
func below(parent gateway.Span) context.Context {
	return trace.ContextWithRemoteSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: parent.Trace, SpanID: parent.ID, TraceFlags: trace.FlagsSampled, Remote: true,
	}))
}

// kept is a span as it is stored and passed on; zero for one that is not kept.
func kept(span trace.Span) gateway.Span {
	c := span.SpanContext()
	if !c.IsSampled() {
		return gateway.Span{}
	}
	return gateway.Span{Trace: c.TraceID(), ID: c.SpanID()}
}
