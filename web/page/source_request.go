package page

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

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
	return v.Manages && v.AcceptedAt == nil && !v.repeat() && !v.handshake() && v.Size == len(v.Body)
}

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
	default:
		return "Rejected request"
	}
}

func (v SourceRequest) tone() component.Tone {
	switch {
	case v.Differs:
		return component.ToneWarn
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
	case v.repeat():
		return "A repeat of an event that was accepted before."
	default:
		return v.Detail
	}
}

// advices say what to do about a cause.
var advices = map[string]string{
	"signature_missing":      "Check that the sender signs, and that no proxy between it and Rowlock removes the header.",
	"signature_malformed":    "Check that the source is of the sender’s kind, and that its settings say how the sender signs.",
	"signature_mismatch":     "Check that the source has the sender’s present secret, and that no proxy between them changes the body.",
	"address_not_allowed":    "If the sender has a new address, add it to those that the source takes requests from. Otherwise somebody else knows the ingest URL.",
	"body_replayed":          "A real event can have the same body as one before it: shorten the source’s replay guard, or accept this request. Otherwise somebody has recorded a request and sent it again.",
	"timestamp_out_of_range": "Check the sender’s clock, or raise the source’s time tolerance. An old request may also have been recorded and sent again by somebody else.",
}

// advice says what to do about it.
func (v SourceRequest) advice() string {
	switch {
	case v.AcceptedAt != nil:
		return "It was accepted after all, and its event has been decided and delivered as any other."
	case v.handshake():
		return "It was answered as the provider expects, and is no event. Nothing is to be done."
	case v.Differs:
		return "It was answered with the first event’s id, and the first body stands. Compare it with the first event: if the difference matters, the sender uses one id for two things."
	case v.repeat():
		return "It was answered with the first event’s id and delivered nowhere. Nothing is to be done: senders repeat what they had no answer to."
	default:
		return advices[v.Cause]
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
