package component_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/web/component"
)

// stateTypes are the domain's states, by the prefix of their constants.
var stateTypes = map[string]bool{
	"EventStatus": true, "DeliveryStatus": true, "EndpointState": true, "SourceState": true, "Outcome": true,
	"ClaimState": true,
}

// domainStates reads the states out of the domain's source: this package does
// not import it.
func domainStates(t *testing.T) []string {
	t.Helper()
	var states []string
	for _, name := range []string{"event.go", "delivery.go", "endpoint.go", "source.go", "attempt.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), "../../internal/gateway/"+name, nil, 0)
		if err != nil {
			t.Fatalf("parse: %v", err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			kind, ok := spec.Type.(*ast.Ident)
			value, isText := spec.Values[0].(*ast.BasicLit)
			if ok && isText && stateTypes[kind.Name] {
				state, err := strconv.Unquote(value.Value)
				if err != nil {
					t.Fatalf("unquote: %v", err)
				}
				states = append(states, state)
			}
			return true
		})
	}
	return states
}

func TestEveryStateHasALook(t *testing.T) {
	t.Parallel()
	states := append(domainStates(t), "retrying", "failing", "degraded", "current", "previous", "ended", "verified", "none",
		"duplicate", "signature_missing", "signature_malformed", "signature_mismatch", "timestamp_out_of_range")
	if len(states) < 30 {
		t.Fatalf("found %d states: %v", len(states), states)
	}
	for _, state := range states {
		el := one(t, render(t, component.Badge(state)), ".badge")
		if attr(el, "data-s") != state {
			t.Errorf("%s: data-s = %q", state, attr(el, "data-s"))
		}
		if attr(el, "data-k") == "" || attr(el, "data-shape") == "" || text(el) == "" {
			t.Errorf("%s lacks colour, shape or word: %q %q %q", state, attr(el, "data-k"), attr(el, "data-shape"), text(el))
		}
		if !component.HasLook(state) {
			t.Errorf("%s has no look of its own", state)
		}
	}
}

// What belongs together on a page differs by more than its colour.
func TestLooksDifferInShape(t *testing.T) {
	t.Parallel()
	for _, together := range [][]string{
		{"pending", "sending", "retrying", "held", "delivered", "failed", "suppressed"},
		{"active", "degraded", "failing", "paused", "disabled"},
		{"succeeded", "rejected", "unreachable", "unknown"},
		{"in_progress", "lease_ended", "done", "released"},
		{"current", "previous", "ended"},
	} {
		shapes := map[string]string{}
		for _, state := range together {
			shape := attr(one(t, render(t, component.Badge(state)), ".badge"), "data-shape")
			if other, taken := shapes[shape]; taken {
				t.Errorf("%s and %s have the same shape, %s", state, other, shape)
			}
			shapes[shape] = state
		}
	}
}

func TestUnknownStatesAreShownByName(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"": "–", "some_new_state": "Some new state", "łódź": "Łódź", "a\u202eb": "A⟨U+202E⟩b", "\xff": "⟨0xFF⟩",
		strings.Repeat("x", 100): "X" + strings.Repeat("x", 38) + "…",
	} {
		if got := text(one(t, render(t, component.Badge(give)), ".badge")); got != want {
			t.Errorf("Badge(%q) says %q, want %q", give, got, want)
		}
	}
	if got := text(one(t, render(t, component.BadgeText("verified", "Verified, Stripe v1")), `.badge[data-s="verified"]`)); got != "Verified, Stripe v1" {
		t.Errorf("BadgeText says %q", got)
	}
}

func TestCodeStatusTone(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{200: "ok", 299: "ok", 300: "bad", 404: "bad", 503: "bad", 100: "bad"} {
		if got := attr(one(t, render(t, component.CodeStatus(code)), ".code-status"), "data-k"); got != want {
			t.Errorf("%d has the tone %q, want %q", code, got, want)
		}
	}
}
