package page

import (
	"time"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// RequestRow is one request that became no event.
type RequestRow struct {
	Href   string
	Cause  string
	Detail string
	// Differs tells of a repeat whose body is not the first one's.
	Differs bool
	// Accepted tells that somebody accepted it after all.
	Accepted bool
	Size     int
	At       time.Time
}

// SourceRequest is the page of one request that became no event.
type SourceRequest struct {
	layout.Frame

	Source SourceHead
	Now    time.Time
	ID     gateway.RequestID
	Cause  string
	Detail string
	// Href is its own address.
	Href string
	// Header is the header that was read; empty where none was to blame.
	Header string
	// Answered is the status of our answer; 0 where it was not kept.
	Answered int
	// Sender is the address that it came from; empty where that is not known.
	Sender string
	// AcceptedAt is when somebody accepted it after all; nil if nobody did.
	// AcceptedBy is who, and Reason why it was taken unproven; empty where it was
	// proven.
	AcceptedAt         *time.Time
	AcceptedBy, Reason string
	// Challenge tells that it asked for an answer or offered a secret: it can be
	// no event, whatever was answered.
	Challenge bool
	// Manages tells that the reader may accept it.
	Manages bool
	// EventHref leads to the first event, for a repeat, or to the one that came
	// of it; empty for none.
	EventHref string
	Differs   bool
	// Skew is the sender's clock less ours; nil when it is not known.
	Skew        *time.Duration
	Method      string
	Path, Query string
	Headers     []component.Header
	Body        []byte
	// Size is how long the body was; Body may be its first part alone.
	Size int
	At   time.Time
}

// what says what was wrong with a request.
func (r RequestRow) what() string {
	switch {
	case r.Differs:
		return "A repeat whose body is not the first one’s."
	case r.Cause == gateway.CauseDuplicate && r.Detail == "":
		return "A repeat. The first event’s id was the answer."
	default:
		return component.Visible(r.Detail)
	}
}

// repeat tells that the request was taken for a repeat, and not refused.
func (v SourceRequest) repeat() bool { return v.Cause == gateway.CauseDuplicate }

// handshake tells that the request asked for an answer, and was no event.
func (v SourceRequest) handshake() bool { return v.Cause == gateway.CauseHandshake }

// eventText says where EventHref leads.
func (v SourceRequest) eventText() string {
	if v.repeat() {
		return "Open the first event"
	}
	return "Open its event"
}

// acceptable tells that it can be accepted after all.
func (v SourceRequest) acceptable() bool {
	return v.Manages && v.AcceptedAt == nil && !v.repeat() && !v.handshake() && !v.Challenge && !v.cut()
}

// tokenButton leads to a token that has to be pasted at the provider.
func (v SourceRequest) tokenButton() templ.Component {
	if !v.handshake() || !v.Source.Kind.Back {
		return nil
	}
	return component.Button{Label: "Show it", IconAfter: "arrow-right", Href: v.Source.Path + "#secrets"}
}

// headerText says what the header was for us.
func (v SourceRequest) headerText() string {
	if v.Cause == causeMissing {
		return "Header looked for"
	}
	return "Header read"
}

// cut tells that only a part of the body was kept.
func (v SourceRequest) cut() bool { return v.Size > len(v.Body) }

// answered is the status of our answer. Requests of an older version do not
// tell it.
func (v SourceRequest) answered() int {
	switch {
	case v.Answered != 0:
		return v.Answered
	case v.repeat():
		return 200
	default:
		return 401
	}
}

func (v SourceRequest) heading() string {
	switch {
	case v.repeat():
		return "Repeated request"
	case v.handshake():
		return "Handshake"
	case v.Challenge:
		return "Refused handshake"
	default:
		return "Rejected request"
	}
}

func (v SourceRequest) tone() component.Tone {
	switch {
	case v.Differs:
		return component.ToneWarn
	case v.handshake() && v.Source.Kind.Back:
		return component.ToneInfo
	case v.AcceptedAt != nil, v.handshake():
		return component.ToneOK
	case v.repeat():
		return component.ToneInfo
	default:
		return component.ToneBad
	}
}

// what says what was wrong.
func (v SourceRequest) what() string {
	switch {
	case v.Differs:
		return "A repeat whose body is not the first one’s."
	case v.repeat() && v.Detail == "":
		return "A repeat of an event that was accepted before."
	case v.AcceptedAt != nil:
		return "It was refused at first, and accepted later."
	default:
		return v.Detail
	}
}

// skewText says how far the sender's clock is from ours.
func (v SourceRequest) skewText() string {
	if *v.Skew < 0 {
		return component.Duration(-*v.Skew) + " behind"
	}
	return component.Duration(*v.Skew) + " ahead"
}

// line is the request's first line, from what followed the secret part of the
// ingest URL.
func (v SourceRequest) line() string {
	line := v.Method + " " + gateway.IngestPath + "…" + v.Path
	if v.Query != "" {
		line += "?" + v.Query
	}
	return line
}
