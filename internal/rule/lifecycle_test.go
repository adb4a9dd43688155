package rule

import (
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Each compiles, and tells the states of its order one by one, to the last word.
func TestLifecycles(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, l := range Lifecycles() {
		if l.Name == "" || l.Title == "" || l.Text == "" || seen[l.Name] {
			t.Errorf("%+v", l)
		}
		seen[l.Name] = true
		compiled := compiled(t, l.Rule)
		field := strings.TrimPrefix(l.Rule.Subject, "body.")
		var fact *gateway.Fact
		for i, state := range l.Rule.Rank {
			m, err := compiled.Decide(t.Context(), NewInput(sent(`{"`+field+`":7,"status":"`+state+`"}`)))
			if err != nil || m.Subject != "7" || m.State != state || !strings.HasSuffix(m.Emit, "."+state) {
				t.Errorf("%s: %+v, %v", l.Name, m, err)
			}
			if got := fact.Judge(l.Rule.Report(state)); got != gateway.EventProcessed {
				t.Errorf("%s: %s is %s", l.Name, state, got)
			}
			last := l.Rule.IsTerminal(state)
			if last != (i == len(l.Rule.Rank)-1) {
				t.Errorf("%s: %s is the last word: %t", l.Name, state, last)
			}
			fact = &gateway.Fact{State: state, Rank: l.Rule.RankOf(state), Terminal: last, Seen: l.Rule.Rank[:i+1]}
		}
		for _, state := range l.Rule.Terminal {
			if got := fact.Judge(l.Rule.Report(state)); got == gateway.EventProcessed {
				t.Errorf("%s: %s is told after the last word", l.Name, state)
			}
		}
	}
}
