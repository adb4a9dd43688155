package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Event is one event, and everything that happened to it.
type Event struct {
	layout.Frame

	Now time.Time
	ID  string
	// Path is the page's address; what can be done stands below it. List leads
	// to all events.
	Path, List string
	Type       string
	// Status is the event's, or how far its deliveries got.
	Status     string
	Source     SourceRef
	ReceivedAt time.Time
	OccurredAt *time.Time
	// Signature is a state, SignatureText what it says.
	Signature, SignatureText string
	// Subject and Key are empty when there is none; SubjectHref leads to all
	// events of the subject, KeyHref to all with the key.
	Subject, SubjectHref, Key, KeyHref string
	// Related are other events with the same subject or key.
	Related []Related
	// ReceivedType is what came in, where it is told as another type. State is
	// what it reports of its subject, and FactHref leads to what is known of that.
	ReceivedType, State, FactHref string
	// TraceID is the distributed trace that accepted it; empty for none.
	TraceID string
	// Duplicates says how often it came again; empty when it did not.
	Duplicates string
	Decision   *Decision
	Deliveries []DeliveryLine
	// Some tells that there are more deliveries than these.
	Some bool
	// Unsent are endpoints that asked for its type and did not want it.
	Unsent []Unsent
	// Reached says how many endpoints have it.
	Reached string
	Steps   []EventStep
	// Earlier tells that attempts before the first shown are left out.
	Earlier bool
	Payload Payload
	// Manages shows what changes something.
	Manages bool
	// Open tells that it will change by itself.
	Open bool
	// Request is the request that it came in, where that is kept by itself; nil
	// for all others.
	Request *EventRequest
}

// Decision is why an event goes nowhere, and what can be done about it.
type Decision struct {
	Tone        component.Tone
	Title, Text string
	// Process is where a form has it decided again; empty when it cannot be.
	Process string
	// Href leads to what has to be mended, and Label says so.
	Href, Label string
}

// DeliveryLine is a delivery as a line of its event's page.
type DeliveryLine struct {
	ID, Href string
	// Endpoint is what its endpoint is called, and Host where it is.
	Endpoint, Host string
	Deleted        bool
	Status         string
	Code           int
	Failure        string
	Tone           component.Tone
	Attempts       int
	// Took is how long the last attempt took; zero is not known.
	Took time.Duration
	// NextAt is when it is sent next; nil shows Next.
	NextAt *time.Time
	Next   string
	// Action is what can be done: "Redeliver", or "Retry now"; empty for
	// nothing. Ask tells that it is asked first.
	Action  string
	Primary bool
	Ask     bool
	// Failovers tie it to other deliveries of the event.
	Failovers []Failover
}

func (d DeliveryLine) variant() component.Variant {
	if d.Primary {
		return component.Primary
	}
	return ""
}

// EventStep is one thing that happened. With an attempt, that is all it shows.
type EventStep struct {
	component.Step

	At      time.Time
	Attempt *Attempt
	// Href leads to more, and Label says to what.
	Href, Label string
}

// Payload is what came in, as its card shows it.
type Payload struct {
	// DeletedAt is when a person deleted it; nil while it is there.
	DeletedAt *time.Time
	// Shown is what is shown of Size bytes. Of what is no text Dump has the
	// first ones instead.
	Shown, Dump []byte
	Size        int
	// Raw is where the bytes are, Delete where they are deleted; empty where
	// the reader may not.
	Raw, Delete string
	KeptUntil   time.Time
	Headers     []component.Header
	// Text is what the copy button copies; empty when it is too large.
	Text string
	// Curl is a command that sends the same once more, to an address to fill
	// in.
	Curl string
}

// Cut tells that not all of it is shown.
func (p Payload) Cut() bool { return len(p.Dump) == 0 && len(p.Shown) < p.Size }

// Gone tells that there is no payload to show.
func (p Payload) Gone() bool { return p.DeletedAt != nil }

func (p Payload) panels() []component.Panel {
	panels := []component.Panel{
		{Title: "Payload", Body: payloadBody(p)},
		{Title: "Headers", Count: component.Number(len(p.Headers)), Body: component.Headers(p.Headers)},
	}
	if p.Curl != "" {
		panels = append(panels, component.Panel{Title: "cURL", Body: component.Snippet("shell", p.Curl)})
	}
	return panels
}
