package gateway_test

import (
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	s := gateway.Span{Trace: [16]byte{0x4b, 15: 0x36}, ID: [8]byte{0x00, 0xf0, 7: 0xb7}}
	if got, want := s.Traceparent(), "00-4b000000000000000000000000000036-00f00000000000b7-01"; got != want {
		t.Errorf("traceparent %s, want %s", got, want)
	}
	if got, want := s.TraceID(), "4b000000000000000000000000000036"; got != want {
		t.Errorf("trace id %s, want %s", got, want)
	}
	if got := gateway.SpanOf(s.Bytes()); got != s {
		t.Errorf("%v became %v", s, got)
	}
	if got := gateway.SpanFrom(gateway.WithSpan(t.Context(), s)); got != s {
		t.Errorf("the context has %v", got)
	}
}

func TestNoSpan(t *testing.T) {
	t.Parallel()
	var none gateway.Span
	if !none.IsZero() || none.Bytes() != nil || none.TraceID() != "" || !gateway.SpanFrom(t.Context()).IsZero() {
		t.Error("there is a span in nothing")
	}
	for _, stored := range [][]byte{nil, {}, make([]byte, 23), make([]byte, 25)} {
		if !gateway.SpanOf(stored).IsZero() {
			t.Errorf("%d bytes are a span", len(stored))
		}
	}
}
