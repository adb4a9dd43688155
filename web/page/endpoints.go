package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Endpoints is the list of an account's endpoints.
type Endpoints struct {
	layout.Frame

	Rows []EndpointRow
	// Manages tells that the reader may add one.
	Manages bool
	// Operates tells that the reader may pause and resume them, and send tests.
	Operates bool
	// Newest and Older lead through the list; empty where there is nothing.
	Newest, Older string
	// DisableAfter is how many failures in a row disable an endpoint.
	DisableAfter int
}

// EndpointRow is an endpoint as a line among others.
type EndpointRow struct {
	ID gateway.EndpointID
	// Name is its description or, if it has none, its address; see EndpointName.
	Name, Address string
	// Unheard tells that it is to be listened for, and nobody does.
	Unheard bool
	// State is what EndpointState says.
	State  string
	Types  []string
	Recent []gateway.Outcome
	// Attempts and Succeeded are those of the last day.
	Attempts, Succeeded int64
	// P95 is how long 19 of 20 answers took at most; zero when none came.
	P95 time.Duration
	// Waiting is how many deliveries are open, WaitingMore that there are more.
	Waiting     int
	WaitingMore bool
}

// maxName is how much of a description is a name, in characters: it stands in
// titles, and is typed to confirm a deletion.
const maxName = 60

// EndpointName is what an endpoint is called: the first line of its
// description, or its address.
func EndpointName(url, description string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	if first = strings.TrimSpace(first); first != "" {
		return component.Shorten(first, maxName)
	}
	return component.Shorten(EndpointAddress(url), maxName)
}

// EndpointAddress is a URL without its scheme and query: the part that people know it by.
// One that is listened for has none.
func EndpointAddress(url string) string {
	if url == "" {
		return ListenedFor
	}
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	url, _, _ = strings.Cut(url, "?")
	return strings.TrimSuffix(url, "/")
}

// hasName tells whether the name says something that the address does not.
func (r EndpointRow) hasName() bool { return r.Name != component.Shorten(r.Address, maxName) }

// types are the patterns an endpoint asks for, in a few words.
func (r EndpointRow) types() string {
	const shown = 2
	switch {
	case len(r.Types) == 0:
		return "All types"
	case len(r.Types) <= shown:
		return strings.Join(r.Types, ", ")
	default:
		return strings.Join(r.Types[:shown], ", ") + " +" + strconv.Itoa(len(r.Types)-shown)
	}
}

func (r EndpointRow) success() string {
	if r.Attempts == 0 {
		return "–"
	}
	return successShare(r.Succeeded, r.Attempts) + "%"
}

func (r EndpointRow) p95() string {
	if r.P95 == 0 {
		return "–"
	}
	return component.Duration(r.P95)
}

// waiting says how many deliveries are open; at an endpoint that is not active
// they are held.
func (r EndpointRow) waiting() string {
	if r.Waiting == 0 {
		return "–"
	}
	word := " waiting"
	if !r.sent() {
		word = " held"
	}
	return atLeast(r.Waiting, r.WaitingMore) + word
}

// sent tells that the endpoint is active: what is for it is sent.
func (r EndpointRow) sent() bool {
	return r.State != string(gateway.EndpointPaused) && r.State != string(gateway.EndpointDisabled)
}

// atLeast writes a number that was counted up to a bound.
func atLeast(n int, more bool) string {
	if more {
		return component.Number(n) + "+"
	}
	return component.Number(n)
}

// successShare is a part in percent. Near the ends it is never rounded to
// them: a hundred means that nothing failed.
func successShare(part, whole int64) string {
	const percent, near = 100.0, 99.0
	share := float64(part) / float64(whole) * percent
	switch {
	case part >= whole:
		return "100"
	case part <= 0:
		return "0"
	case share >= near:
		return strconv.FormatFloat(float64(int(share*percent))/percent, 'f', -1, 64)
	case share < 0.1:
		return "0.1"
	default:
		return strings.TrimSuffix(strconv.FormatFloat(share, 'f', 1, 64), ".0")
	}
}
