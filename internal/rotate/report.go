package rotate

import (
	"fmt"
	"io"
	"strings"

	"github.com/rowlock/rowlock/internal/secret"
)

// Report is what a rotation did.
type Report struct {
	// Continued tells that it went on with one that did not come to its end.
	Continued bool
	// MasterReplaced tells that the keyset is wrapped by another master key than
	// before.
	MasterReplaced bool
	// Key seals from now on; Older keys stay for reading, and Forgotten ones are
	// gone.
	Key              secret.KeyID
	Older, Forgotten int
	// Resealed and Unsealable count values, by what they are.
	Resealed, Unsealable []Count
	// Nodes are alive and seal with the new key, all but the Late ones.
	Nodes int
	Late  []string
}

// Count is a number of things.
type Count struct {
	// Of is what they are, in the plural.
	Of string
	N  int
}

// WriteTo prints the report for people.
func (r Report) WriteTo(w io.Writer) (int64, error) {
	var text strings.Builder
	line := func(what, format string, values ...any) {
		fmt.Fprintf(&text, "%-12s %s\n", what, fmt.Sprintf(format, values...))
	}
	if r.Continued {
		line("continued", "an earlier rotation had not come to its end")
	}
	if r.MasterReplaced {
		line("master key", "replaced: the keyset opens with the new one alone")
	} else {
		line("master key", "as it was when this began")
	}
	line("key", "%s seals from now on; %d older kept for reading, %d removed", r.Key, r.Older, r.Forgotten)
	line("sealed anew", "%s", list(r.Resealed))
	if len(r.Unsealable) > 0 {
		line("unreadable", "%s open with no key, as before: replace them", list(r.Unsealable))
	}
	line("nodes", "%d of %d running seal with the new key", r.Nodes-len(r.Late), r.Nodes)
	if len(r.Late) == 0 {
		line("done", "nothing is sealed with an older key")
	}
	n, err := io.WriteString(w, text.String())
	return int64(n), err
}

func list(counts []Count) string {
	parts := make([]string, len(counts))
	for i, c := range counts {
		parts[i] = fmt.Sprintf("%d %s", c.N, c.Of)
	}
	return strings.Join(parts, ", ")
}
