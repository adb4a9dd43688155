package gateway_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestEventTypes(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"order.created":          true,
		"a":                      true,
		"_":                      true,
		"9":                      true,
		"A.b:c/d-e_f":            true,
		"order..created":         true,
		"order.":                 true,
		strings.Repeat("a", 256): true,
		strings.Repeat("a", 257): false,
		"":                       false,
		".order":                 false,
		"-order":                 false,
		":order":                 false,
		"/order":                 false,
		"order created":          false,
		"order.created\n":        false,
		"order.created\r\nx: y":  false,
		"order\x00":              false,
		"ordér":                  false,
		"order.\xff":             false,
		"order.*":                false,
		"*":                      false,
		"aé":                     false,
	}
	for text, want := range tests {
		if got := gateway.ValidEventType(text); got != want {
			t.Errorf("%q is a type: %t", text, got)
		}
		if err := gateway.CheckPublishedType(text); (err == nil) != want {
			t.Errorf("%q can be published: %v", text, err)
		}
	}
}

func TestOwnTypesAreReserved(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]string{
		"rowlock.":                  "type_reserved",
		"rowlock.endpoint.disabled": "type_reserved",
		"rowlock":                   "ok",
		"rowlock:x":                 "ok",
		"Rowlock.x":                 "ok",
		"my.rowlock.x":              "ok",
		"rowlock. x":                "",
	} {
		err := gateway.CheckPublishedType(text)
		var invalid *gateway.InvalidError
		switch {
		case code == "ok" && err != nil:
			t.Errorf("%q: %v", text, err)
		case code != "ok" && (!errors.As(err, &invalid) || invalid.Code != code || invalid.Field != "type"):
			t.Errorf("%q: %v, want the code %q", text, err, code)
		}
	}
}

func TestTypePatterns(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"*": true, "order.*": true, "order.created": true, "order.line.*": true, "rowlock.*": true, "rowlock.test": true,
		"": false, ".*": false, "**": false, "ord*": false, "order*": false, "*.created": false, "order.*.*": false,
		"order.*.x": false, " order.*": false, "order .*": false, "*\n": false,
	} {
		if err := gateway.CheckTypePattern(pattern); (err == nil) != want {
			t.Errorf("pattern %q: %v", pattern, err)
		}
	}
}

func TestMatchesType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		patterns  []string
		eventType string
		want      bool
	}{
		{nil, "order.created", true},
		{[]string{}, "order.created", true},
		{nil, "rowlock.endpoint.disabled", false},
		{[]string{"*"}, "order.created", true},
		{[]string{"*"}, "rowlock.endpoint.disabled", false},
		{[]string{"rowlock.*"}, "rowlock.endpoint.disabled", true},
		{[]string{"*", "rowlock.*"}, "rowlock.endpoint.disabled", true},
		{[]string{"rowlock.endpoint.disabled"}, "rowlock.endpoint.disabled", true},
		{[]string{"rowlock.*"}, "order.created", false},
		{[]string{"order.*"}, "order.created", true},
		{[]string{"order.*"}, "order.line.added", true},
		{[]string{"order.*"}, "order", false},
		{[]string{"order.*"}, "orders.created", false},
		{[]string{"order.*"}, "Order.created", false},
		{[]string{"order.line.*"}, "order.created", false},
		{[]string{"order.created"}, "order.created", true},
		{[]string{"order.created"}, "order.created.twice", false},
		{[]string{"user.*", "order.created"}, "order.created", true},
	}
	for _, test := range tests {
		if got := gateway.MatchesType(test.patterns, test.eventType); got != test.want {
			t.Errorf("%v match %q: %t", test.patterns, test.eventType, got)
		}
	}
}

func TestPatternsFor(t *testing.T) {
	t.Parallel()
	for eventType, want := range map[string][]string{
		"order":              {"order", "*"},
		"order.line.added":   {"order.line.added", "order.line.*", "order.*", "*"},
		"order..x":           {"order..x", "order..*", "order.*", "*"},
		"rowlock.test":       {"rowlock.test", "rowlock.*"},
		"rowlock":            {"rowlock", "*"},
		"order.":             {"order.", "order.*", "*"},
		"github:pull/opened": {"github:pull/opened", "*"},
	} {
		if got := gateway.PatternsFor(eventType); !slices.Equal(got, want) {
			t.Errorf("%q has the patterns %q, want %q", eventType, got, want)
		}
	}
}

// The store finds endpoints by PatternsFor, deciding matches with MatchesType:
// they must say the same of every type and every pattern that can be saved.
func TestPatternsForAndMatchesTypeAgree(t *testing.T) {
	t.Parallel()
	r := seeded()
	matched := 0
	for range 50_000 {
		eventType, pattern := randomType(r), randomPattern(r)
		if gateway.CheckTypePattern(pattern) != nil || !gateway.ValidEventType(eventType) {
			continue
		}
		listed := slices.Contains(gateway.PatternsFor(eventType), pattern)
		matches := gateway.MatchesType([]string{pattern}, eventType)
		if listed != matches {
			t.Fatalf("type %q, pattern %q: listed %t, matches %t", eventType, pattern, listed, matches)
		}
		if matches {
			matched++
		}
	}
	if matched < 1000 {
		t.Errorf("only %d pairs matched: the test says little", matched)
	}
}

// randomType has few words, so that patterns often match.
func randomType(r *rand.Rand) string {
	words := []string{"a", "b", "rowlock", "", "a:b"}
	parts := make([]string, 1+r.IntN(4))
	for i := range parts {
		parts[i] = words[r.IntN(len(words))]
	}
	return strings.Join(parts, ".")
}

func randomPattern(r *rand.Rand) string {
	switch r.IntN(5) {
	case 0:
		return "*"
	case 1:
		return randomType(r)
	default:
		return randomType(r) + ".*"
	}
}

func TestCheckUID(t *testing.T) {
	t.Parallel()
	for uid, want := range map[string]bool{
		"a": true, "9": true, "Shop.EU_1-b": true, strings.Repeat("a", 128): true, "evt_short": true,
		"": false, strings.Repeat("a", 129): false, ".a": false, "_a": false, "-a": false, "a b": false, "a/b": false,
		"a\n": false, "a\x00": false, "ä": false, "a\xff": false, "a%2f": false,
		"evt_01jd8vxw5qe9kbr3h6zm2ncfgt": false,
		"xx_01jd8vxw5qe9kbr3h6zm2ncfgt":  false,
		"xxxx_01jd8vxw5qe9kbr3h6zm2ncfg": true,
	} {
		err := gateway.CheckUID(uid)
		if (err == nil) != want {
			t.Errorf("uid %q: %v", uid, err)
		}
		var invalid *gateway.InvalidError
		if err != nil && (!errors.As(err, &invalid) || invalid.Field != "uid") {
			t.Errorf("uid %q: %v is no InvalidError of uid", uid, err)
		}
	}
}

func TestInvalidErrorNamesTheFieldAlone(t *testing.T) {
	t.Parallel()
	err := gateway.CheckPublishedType("hunter2 hunter2")
	if text := err.Error(); !strings.HasPrefix(text, "type: ") || strings.Contains(text, "hunter2") {
		t.Errorf("error %q, want the field and not the value", text)
	}
}

func TestStatusesAreListedOnce(t *testing.T) {
	t.Parallel()
	lists := map[string][]string{
		"events": texts(gateway.EventStatuses), "deliveries": texts(gateway.DeliveryStatuses), "outcomes": texts(gateway.Outcomes),
	}
	for name, list := range lists {
		slices.Sort(list)
		if n := len(slices.Compact(slices.Clone(list))); n != len(list) || list[0] == "" {
			t.Errorf("%s: %q has doubles or an empty one", name, list)
		}
	}
	for _, status := range gateway.ReprocessableStatuses {
		if !slices.Contains(gateway.EventStatuses, status) || status == gateway.EventAccepted || status == gateway.EventProcessed {
			t.Errorf("an event can be decided again from %q", status)
		}
	}
}

func texts[S ~string](named []S) []string {
	plain := make([]string, len(named))
	for i, n := range named {
		plain[i] = string(n)
	}
	return plain
}
