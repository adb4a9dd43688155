package gateway_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestHeadersOnTheWire(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		headers http.Header
		wire    string
	}{
		"none":         {http.Header{}, ""},
		"sorted":       {http.Header{"B": {"2"}, "A": {"1"}}, "A: 1\r\nB: 2\r\n"},
		"several":      {http.Header{"A": {"1", "", "1"}}, "A: 1\r\nA: \r\nA: 1\r\n"},
		"colons":       {http.Header{"A": {": x: y"}}, "A: : x: y\r\n"},
		"bytes":        {http.Header{"A": {"\x00\xff\té"}}, "A: \x00\xff\té\r\n"},
		"spaces stay":  {http.Header{"A": {"  a  "}}, "A:   a  \r\n"},
		"no canonical": {http.Header{"x-lower": {"1"}}, "x-lower: 1\r\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire := gateway.EncodeHeaders(test.headers)
			if string(wire) != test.wire || wire == nil {
				t.Errorf("wire %q, want %q", wire, test.wire)
			}
			if diff := cmp.Diff(test.headers, gateway.DecodeHeaders(wire)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if wire := gateway.EncodeHeaders(nil); wire == nil || len(wire) > 0 {
		t.Errorf("no headers are %q, want empty and not nil", wire)
	}
}

// A value cannot begin a header of its own.
func TestLineBreaksInHeaders(t *testing.T) {
	t.Parallel()
	wire := gateway.EncodeHeaders(http.Header{"A": {"1\r\nAuthorization: me", "2\nB: x", "3\r"}})
	want := http.Header{"A": {"1  Authorization: me", "2 B: x", "3 "}}
	if diff := cmp.Diff(want, gateway.DecodeHeaders(wire)); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeHeadersLeavesOutWhatIsNone(t *testing.T) {
	t.Parallel()
	got := gateway.DecodeHeaders([]byte("\r\nnot a header\r\nA: 1\r\nB:2\r\n\r\n"))
	if diff := cmp.Diff(http.Header{"A": {"1"}}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add("Content-Type", "application/json", "x")
	f.Add("A", ": \r\n", "\x00\xff")
	f.Fuzz(func(t *testing.T, name, one, other string) {
		if name == "" || strings.ContainsAny(name, ":\r\n ") {
			return // no token of HTTP
		}
		wire := gateway.EncodeHeaders(http.Header{name: {one, other}, "Other": {one}})
		got := gateway.DecodeHeaders(wire)
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Compact(slices.Sorted(slices.Values([]string{name, "Other"})))) {
			t.Fatalf("%q has the names %v", wire, got)
		}
		flat := strings.NewReplacer("\r", " ", "\n", " ")
		if name != "Other" && !slices.Equal(got[name], []string{flat.Replace(one), flat.Replace(other)}) {
			t.Fatalf("%q of %q and %q gives %q", wire, one, other, got[name])
		}
		if again := gateway.EncodeHeaders(got); string(again) != string(wire) {
			t.Fatalf("%q is written as %q the second time", wire, again)
		}
	})
}
