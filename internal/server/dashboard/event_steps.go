package dashboard

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// steps tell everything that happened to an event, in the order of time, and
// then what is still to come.
func (v *visit) steps(s story) []page.EventStep {
	steps := []page.EventStep{received(s)}
	if s.late != nil {
		steps = append(steps, v.lateSteps(s)...)
	}
	steps = append(steps, verified(s))
	steps = append(steps, decided(s)...)
	steps = append(steps, v.attemptSteps(s)...)
	steps = append(steps, v.duplicateSteps(s)...)
	steps = append(steps, actSteps(s)...)
	steps = append(steps, closedSteps(s)...)
	steps = append(steps, failoverSteps(s)...)
	slices.SortStableFunc(steps, func(a, b page.EventStep) int { return a.At.Compare(b.At) })
	for i := range steps {
		steps[i].Time = distance(steps[0].At, steps[i].At, i == 0)
	}
	return append(steps, plannedSteps(s, v.now())...)
}

// distance is when something happened: the first step as a clock time, the
// others after it.
func distance(first, at time.Time, isFirst bool) string {
	if isFirst {
		return first.Format("15:04:05.000")
	}
	return "+" + component.Duration(max(at.Sub(first), 0))
}

func stepOf(at time.Time, tone component.Tone, icon, title, note string) page.EventStep {
	return page.EventStep{At: at, Step: component.Step{Tone: tone, Icon: icon, Title: title, Note: note}}
}

func received(s story) page.EventStep {
	title, from := "Received", "POST /api/v1/events"
	if s.source.Kind == gateway.SourceKindAPI {
		title = "Published"
	} else {
		from = s.body.Method + " " + gateway.IngestPath + "…" + string(s.body.Path)
		if len(s.body.Query) > 0 {
			from += "?" + string(s.body.Query)
		}
	}
	if s.gone() {
		from = "What it came with was deleted"
	}
	note := component.Shorten(from, longNote) + " · " + component.Bytes(s.BodySize)
	if agent := gateway.DecodeHeaders(s.body.Headers).Get("User-Agent"); agent != "" {
		note += " · " + component.Shorten(agent, longNote)
	}
	return stepOf(s.arrived(), component.ToneOK, "arrow-down-to-line", title, note)
}

// arrived is when it came in. One that was accepted late had come before it was
// an event.
func (s story) arrived() time.Time {
	if s.late != nil {
		return s.late.ID.Time()
	}
	return s.ID.Time()
}

// lateSteps tell why it was refused at first, and who accepted it later.
func (v *visit) lateSteps(s story) []page.EventStep {
	step := stepOf(s.late.ID.Time(), component.ToneBad, "shield-x", "Refused: "+strings.ToLower(kindOf(s.source.Kind).CauseWord(s.late.Cause)), s.late.Detail)
	if !s.source.Deleted {
		step.Href, step.Label = v.at("sources", s.SourceID.String(), "requests", s.late.ID.String()), "Show the request"
	}
	steps := []page.EventStep{step}
	for _, entry := range s.acts {
		if entry.Action != actAccept {
			continue
		}
		note := "By " + actorName(entry) + "."
		if entry.Detail != "" {
			note += " The reason: " + entry.Detail
		}
		steps = append(steps, stepOf(s.ID.Time(), component.ToneOK, "check", "Accepted late", note))
	}
	return steps
}

// longNote is how much of a text from outside a step shows, in characters.
const longNote = 200

func verified(s story) page.EventStep {
	at := s.ID.Time()
	switch {
	case s.source.Kind == gateway.SourceKindAPI:
		return stepOf(at, component.ToneOK, "shield-check", "API key accepted", "")
	case s.SecretID != nil && kindOf(s.source.Kind).Bare:
		return stepOf(at, component.ToneOK, "shield-check", "Secret matched", "It is the secret "+s.SecretID.String()+" of "+s.source.Name+".")
	case s.SecretID != nil:
		return stepOf(at, component.ToneOK, "shield-check", "Signature verified", "With the secret "+s.SecretID.String()+" of "+s.source.Name+".")
	case s.late != nil:
		return stepOf(at, "", "shield-alert", "Not verified", "Who accepted it has vouched for it.")
	default:
		return stepOf(at, "", "shield-alert", "Not verified", "Nothing tells who sent it.")
	}
}

// decided says what was decided, and when its deliveries were made: all at
// once. Those that were added later are somebody's act.
func decided(s story) []page.EventStep {
	at := s.ID.Time()
	switch s.Status {
	case gateway.EventAccepted:
		return nil
	case gateway.EventProcessed:
		return fannedOut(s.deliveries)
	default:
		return []page.EventStep{stepOf(at, component.ToneWarn, "circle-dashed", component.Word(s.Status), strings.TrimSpace(said(s.Decision)))}
	}
}

// fannedOut says to how many endpoints it went at first.
func fannedOut(deliveries []store.DeliveryRow) []page.EventStep {
	if len(deliveries) == 0 {
		return nil
	}
	first, n := deliveries[0].CreatedAt, 0
	for _, d := range deliveries {
		switch d.CreatedAt.Compare(first) {
		case -1:
			first, n = d.CreatedAt, 1
		case 0:
			n++
		}
	}
	return []page.EventStep{stepOf(first, component.ToneOK, "check", "Fanned out to "+component.Plural(n, "endpoint", "endpoints"), "")}
}

// attemptSteps are the attempts of all deliveries, with what followed each.
func (v *visit) attemptSteps(s story) []page.EventStep {
	endpoints := map[gateway.DeliveryID]store.EndpointLabel{}
	for _, d := range s.deliveries {
		endpoints[d.ID] = d.Endpoint
	}
	steps, open := make([]page.EventStep, len(s.attempts)), s.trouble()
	for i, a := range s.attempts {
		endpoint := endpoints[a.DeliveryID]
		view := v.attemptView(a, called(endpoint), s.sendingTo(endpoint), false)
		view.Next, view.Open = followed(s.attempts[i+1:], a), a.ID() == open
		steps[i] = page.EventStep{At: a.StartedAt, Step: attemptStep(a), Attempt: &view}
	}
	return steps
}

// trouble is the newest attempt of a delivery that has not arrived: what a
// reader came for.
func (s story) trouble() gateway.AttemptID {
	arrived := map[gateway.DeliveryID]bool{}
	for _, d := range s.deliveries {
		arrived[d.ID] = d.Status == gateway.DeliveryDelivered
	}
	for _, a := range slices.Backward(s.attempts) {
		if a.Outcome != gateway.OutcomeSucceeded && !arrived[a.DeliveryID] {
			return a.ID()
		}
	}
	return gateway.AttemptID{}
}

// attemptStep is how an attempt is marked in the timeline.
func attemptStep(a gateway.Attempt) component.Step {
	switch a.Outcome {
	case gateway.OutcomeSucceeded:
		return component.Step{Tone: component.ToneOK, Icon: "send"}
	case gateway.OutcomeUnknown:
		return component.Step{Tone: component.ToneWarn, Icon: "circle-help"}
	default:
		return component.Step{Tone: component.ToneBad, Icon: "x"}
	}
}

// followed says how long after an attempt its delivery was tried again.
func followed(later []gateway.Attempt, a gateway.Attempt) string {
	for _, next := range later {
		if next.DeliveryID == a.DeliveryID {
			return againAfter(a, next)
		}
	}
	return ""
}

// againAfter says how long after an attempt the next one came, and whether a
// person had it sent.
func againAfter(a, next gateway.Attempt) string {
	verb := "retried"
	if next.Trigger == gateway.TriggerManual || next.Trigger == gateway.TriggerRecover {
		verb = "redelivered"
	}
	return verb + " after " + component.Duration(max(next.StartedAt.Sub(a.StartedAt.Add(a.Duration)), 0))
}

// sendingTo is what commands send that do the same once more.
func (s story) sendingTo(endpoint store.EndpointLabel) sending {
	return sending{address: cmp.Or(endpoint.URL, local), file: payloadFile(s), body: s.body.Data, gone: s.gone(), deleted: endpoint.Deleted}
}

// somewhere is what the event's own command sends to: the endpoint that has it,
// or where there are none or several, an address to fill in.
func (s story) somewhere() store.EndpointLabel {
	if len(s.deliveries) == 1 && !s.deliveries[0].Endpoint.Deleted {
		return s.deliveries[0].Endpoint
	}
	return store.EndpointLabel{URL: anywhere}
}

func (v *visit) duplicateSteps(s story) []page.EventStep {
	var steps []page.EventStep
	for _, r := range s.duplicates[:min(len(s.duplicates), eventDuplicates)] {
		note := "The same body. It was answered with this event's id, and went nowhere."
		if r.BodyDiffers {
			note = "Its body is another one. It was answered with this event's id, and went nowhere."
		}
		step := stepOf(r.ID.Time(), component.ToneDup, "copy", "Duplicate received", note)
		if s.source.Kind != gateway.SourceKindAPI && !s.source.Deleted {
			step.Href, step.Label = v.at("sources", r.SourceID.String(), "requests", r.ID.String()), "Show the request"
		}
		steps = append(steps, step)
	}
	return steps
}
