package page

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// repeat tells that the request was taken for a repeat, and not refused.
func (v SourceRequest) repeat() bool { return v.Cause == gateway.CauseDuplicate }

func (v SourceRequest) heading() string {
	if v.repeat() {
		return "Repeated request"
	}
	return "Rejected request"
}

func (v SourceRequest) tone() component.Tone {
	switch {
	case v.Differs:
		return component.ToneWarn
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
	"timestamp_out_of_range": "Check the sender’s clock, or raise the source’s time tolerance. An old request may also have been recorded and sent again by somebody else.",
}

// advice says what to do about it.
func (v SourceRequest) advice() string {
	switch {
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
