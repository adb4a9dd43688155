package page

import (
	"time"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// SourceHead is what a source is.
type SourceHead struct {
	ID   gateway.SourceID
	Path string
	Name string
	Kind SourceKind
	// URL is where its events are sent to. Hidden tells that the secret part
	// is left out.
	URL    string
	Hidden bool
	// PublicURL is the address as senders call it, where the source has one: it
	// is forwarded to URL.
	PublicURL string
	State     gateway.SourceState
	// Capturing tells that it waits for its provider to send the secret; Bereft
	// that it has none, and waits for none: everything is refused.
	Capturing, Bereft bool
}

// address is the one to enter at the sender.
func (h SourceHead) address() string {
	if h.PublicURL != "" {
		return h.PublicURL
	}
	return h.URL
}

// badge is its state. One that refuses everything for want of a secret is not
// well, whatever its state is.
func (h SourceHead) badge() templ.Component {
	if h.Bereft && !h.Paused() {
		return component.BadgeText("failing", h.Kind.missing())
	}
	return component.Badge(h.State)
}

// bereftText says what ends the want of a secret.
func (h SourceHead) bereftText() string {
	k := h.Kind
	switch {
	case k.Captured:
		return "Every request is refused until the source takes the secret that " + k.Name + " sends. Let it take the next one, then create the webhook there again."
	case k.Service:
		return "Every request is refused until you paste the " + k.noun() + " that " + k.Name + " shows."
	default:
		return "Every request is refused until you paste the " + k.noun() + " of the sender."
	}
}

// changeText is what the button says that gives it another secret.
func (h SourceHead) changeText() string {
	if h.Bereft {
		return "Paste " + h.Kind.noun() + "…"
	}
	return "Change " + h.Kind.noun() + "…"
}

// BuiltIn tells that it is the source of the API.
func (h SourceHead) BuiltIn() bool { return h.Kind.Kind == gateway.SourceKindAPI }

// Paused tells that it holds what comes in.
func (h SourceHead) Paused() bool { return h.State == gateway.SourcePaused }

// SourceCounts is what a source brought in the last 24 hours.
type SourceCounts struct {
	Received int64
	// Hours is how many events came in each hour, oldest first.
	Hours []float64
	// Duplicates and Rejected are of the requests that are kept.
	Duplicates int
	Rejected   []CauseCount
	// LastEvent is when the newest event came in; nil when none has.
	LastEvent *time.Time
}

// CauseCount is how many requests were refused for a cause.
type CauseCount struct {
	Cause string
	N     int
}

// RejectedTotal is how many requests were refused, for whatever cause.
func (c SourceCounts) RejectedTotal() int {
	total := 0
	for _, one := range c.Rejected {
		total += one.N
	}
	return total
}

// Source is the page of one source.
type Source struct {
	layout.Frame
	SourceHead

	Now       time.Time
	CreatedAt time.Time
	UID       string
	Counts    SourceCounts
	// Waiting tells that nothing has come in yet.
	Waiting bool
	// Protects says in a sentence what a signature covers.
	Protects string
	// Settings are the choices of its kind, in words.
	Settings []Fact
	// Secrets are those that are live, newest first.
	Secrets []SourceSecret
	// CaptureUntil is until when the next secret that the provider sends is
	// taken; nil when none is.
	CaptureUntil *time.Time
	// Rule says what its events mean; nil for none.
	Rule *gateway.Rule
	// Try is a shell script that sends one event; empty when there is none.
	Try string
	// Manages tells that the reader may change it.
	Manages bool
	// Operates tells that the reader may pause and resume it.
	Operates bool
	// Causes are the filters of the list of requests.
	Causes   []component.Choice
	Cause    string
	Requests []RequestRow
	// Latest is the newest request while nothing but such has come; nil for none.
	// Greeted tells that a handshake was answered.
	Latest  *RequestRow
	Greeted bool
	// Newest and Older lead through the list; empty where there is nothing.
	Newest, Older string
}

// ruleHref is where its rule is changed; empty for who may not.
func (v Source) ruleHref() string {
	if !v.Manages {
		return ""
	}
	return v.Path + "/rule"
}

// Fact is something with a name.
type Fact struct {
	Name, Value string
	// Code shows the value as text for machines.
	Code bool
}

// SourceSecret is a secret. Its value is shown only where the provider sent it.
type SourceSecret struct {
	ID gateway.SecretID
	// Captured tells that the provider sent it; Value is shown once, when
	// somebody revealed it.
	Captured  bool
	Value     string
	CreatedAt time.Time
	// EndsAt is when it stops proving requests; nil while it has no end.
	EndsAt *time.Time
}

// state is "current" or "previous".
func (s SourceSecret) state() string {
	if s.EndsAt == nil {
		return "current"
	}
	return "previous"
}

// live has the page read itself anew while it waits for the first event.
func (v Source) live() templ.Attributes {
	if !v.Waiting {
		return nil
	}
	return templ.Attributes{"data-live-refresh": "events"}
}

// fresh has a part read itself anew when something came in. While it waits, the
// page does so as a whole.
func (v Source) fresh() templ.Attributes {
	if v.Waiting {
		return nil
	}
	return templ.Attributes{"data-live-refresh": "events"}
}

// eventsHref leads to what came in here.
func (v Source) eventsHref() string { return v.Account.Path + "/events?source=" + v.ID.String() }

// changes tells that there is a secret for people to change. One that the
// provider sends is not pasted before it has come.
func (v Source) changes() bool {
	return v.Kind.Secret != "" && (!v.Kind.Captured || len(v.Secrets) > 0)
}

// rejectedMost names the most common cause of refusals.
func (v Source) rejectedMost() string {
	var most CauseCount
	for _, one := range v.Counts.Rejected {
		if one.N > most.N {
			most = one
		}
	}
	if most.N == 0 {
		return ""
	}
	return "Mostly " + lowerFirst(v.Kind.CauseWord(most.Cause))
}

// lastEventIsNow tells that the newest event is less than two seconds old.
func (v Source) lastEventIsNow() bool { return v.Now.Sub(*v.Counts.LastEvent) < 2*time.Second }

// lastEvent says how long ago the newest event came in.
func (v Source) lastEvent() string {
	if v.Counts.LastEvent == nil {
		return "–"
	}
	if v.lastEventIsNow() {
		return "just now"
	}
	return component.Duration(v.Now.Sub(*v.Counts.LastEvent).Truncate(time.Second))
}

func (v Source) lastEventNote() string {
	switch {
	case v.Counts.LastEvent == nil:
		return "none yet"
	case v.lastEventIsNow():
		return ""
	default:
		return "ago"
	}
}

// columns tells how many numbers stand side by side, where these are not four.
func (v Source) columns() templ.Attributes {
	if v.BuiltIn() {
		return templ.Attributes{"data-n": "3"}
	}
	return nil
}

// tryText says what the lines for a terminal do.
func (v Source) tryText() string {
	if v.Kind.Secret == "" {
		return "These lines send one event."
	}
	return "These lines send one event, signed as the sender would. Put the secret into the first."
}

// hiddenCaptured stands for a secret that the provider sent.
const hiddenCaptured = "sent by the provider"

// captureText says what the source waits for.
func (v Source) captureText() string {
	if len(v.Secrets) == 0 {
		return "Waiting for the provider to send it to the ingest URL."
	}
	return "The next one that the provider sends is taken, for " + component.Duration(v.CaptureUntil.Sub(v.Now).Truncate(time.Minute)) + " more."
}

// secretFoot says who has the text of the secrets.
func (v Source) secretFoot() string {
	switch {
	case v.Bereft:
		return ""
	case v.Kind.Captured:
		return "The provider sends it. Rowlock keeps it encrypted; revealing it is noted."
	case v.Kind.Public:
		return "It is public: only the sender can sign."
	default:
		return "The sender has the text. Rowlock keeps it encrypted and never shows it."
	}
}
