package endpoint_test

import (
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/endpoint"
)

// A filter is kept as it was written, without the space around it; an empty
// one takes it away.
func TestFilterIsKept(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	for entered, want := range map[string]string{
		" body.amount > 100\n":                "body.amount > 100",
		"type == 'a' &&\n  body.b == 'c  d'":  "type == 'a' &&\n  body.b == 'c  d'",
		" \t\r\n":                             "",
		"":                                    "",
		"has(body.x) // only those with an x": "has(body.x) // only those with an x",
	} {
		got, err := b.Update(t.Context(), b.account, actor, e.ID, endpoint.Input{Filter: &entered})
		if err != nil || got.Filter != want {
			t.Errorf("%q became %q, %v", entered, got.Filter, err)
		}
	}
}

func TestWrongFilterIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	_, _, err := b.Create(t.Context(), b.account, actor, endpoint.Input{URL: new("https://example.com"), Filter: new("type == 'a' &&\n bdy.b")})
	if err == nil || !strings.Contains(err.Error(), "filter: line 2, column 2: undeclared reference to 'bdy'") {
		t.Errorf("%v", err)
	}
}
