package gateway

import (
	"context"
	"encoding/hex"
)

// Span is one piece of work in a distributed trace that is kept, as W3C Trace
// Context names them. The zero Span is in no trace.
type Span struct {
	// Trace is what all spans of a trace share, ID this one's own.
	Trace [16]byte
	ID    [8]byte
}

// IsZero tells that there is no trace.
func (s Span) IsZero() bool { return s == Span{} }

// TraceID is the trace's id in hexadecimal, as the tools of traces show it; empty
// where there is none.
func (s Span) TraceID() string {
	if s.IsZero() {
		return ""
	}
	return hex.EncodeToString(s.Trace[:])
}

// Traceparent is the header that has what follows be part of the trace.
func (s Span) Traceparent() string {
	return "00-" + hex.EncodeToString(s.Trace[:]) + "-" + hex.EncodeToString(s.ID[:]) + "-01"
}

// Bytes is the span as it is stored; nil for none.
func (s Span) Bytes() []byte {
	if s.IsZero() {
		return nil
	}
	return append(s.Trace[:], s.ID[:]...)
}

// SpanOf reads what Bytes wrote; anything else is no span.
func SpanOf(stored []byte) (s Span) {
	if len(stored) == len(s.Trace)+len(s.ID) {
		copy(s.Trace[:], stored)
		copy(s.ID[:], stored[len(s.Trace):])
	}
	return s
}

type spanKey struct{}

// WithSpan notes in a request's context what span it is, for what is stored of it.
func WithSpan(ctx context.Context, s Span) context.Context {
	return context.WithValue(ctx, spanKey{}, s)
}

// SpanFrom is the span of a request; zero where there is none.
func SpanFrom(ctx context.Context) Span {
	s, _ := ctx.Value(spanKey{}).(Span)
	return s
}
