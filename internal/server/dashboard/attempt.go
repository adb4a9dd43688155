package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// shownAnswer is how many bytes of an answer a closed attempt shows: a page has
// many, and each is one click away from all that was kept.
const shownAnswer = 2 << 10

// attemptView shows an attempt under a name; whole shows all of the answer.
func (v *visit) attemptView(a gateway.Attempt, name string, sent sending, whole bool) page.Attempt {
	view := page.Attempt{
		ID: a.ID().String(), Name: name, N: a.N, Code: a.StatusCode,
		Trigger: triggerWords(a.Trigger), Detail: a.Detail, StartedAt: a.StartedAt, Took: a.Duration,
		Timing: timing(a), Answered: a.StatusCode != 0,
		Request: page.HeaderList(a.RequestHeaders), Response: page.HeaderList(a.ResponseHeaders),
		Body: a.ResponseBody, Curl: sent.unsigned(a.RequestHeaders), Open: whole,
	}
	if v.operates() && !sent.gone && !sent.deleted {
		view.Sign = v.at("deliveries", a.DeliveryID.String(), "sign")
	}
	if !sent.gone && !sent.inline() {
		view.File, view.FileHref = sent.file, v.at("events", a.EventID.String(), "raw")
	}
	view.Failure, view.Tone = failure(a.Outcome, a.Cause())
	if !whole && len(view.Body) > shownAnswer {
		view.Body = view.Body[:shownAnswer]
		view.Whole = v.attemptHref(a.DeliveryID, a.N)
	}
	return view
}

// failure says in a word or two why there was no answer, and nothing if there
// was one.
func failure(outcome gateway.Outcome, cause gateway.Cause) (string, component.Tone) {
	if outcome == gateway.OutcomeUnknown {
		return "Unknown", component.ToneWarn
	}
	if cause.ErrorKind == "" {
		return "", ""
	}
	return page.CauseName(cause), component.ToneBad
}

// triggerWords say what started an attempt.
func triggerWords(t gateway.Trigger) string {
	switch t {
	case gateway.TriggerManual:
		return "Redelivered by hand"
	case gateway.TriggerRecover:
		return "Recovered"
	case gateway.TriggerTest:
		return "Test"
	case gateway.TriggerAuto:
		return "By schedule"
	default:
		return component.Word(t)
	}
}

// minorRest is the share of an attempt, as 1/n, below which what no part
// accounts for is nothing that anybody waited for.
const minorRest = 50

// timing are the parts of the time that an attempt took. What no part accounts
// for went to the part that did not end: receiving, or where it failed.
func timing(a gateway.Attempt) component.Timing {
	t := component.Timing{DNS: a.Timing.DNS, Connect: a.Timing.Connect, TLS: a.Timing.TLS, Wait: a.Timing.FirstByte}
	rest := max(a.Duration-t.DNS-t.Connect-t.TLS-t.Wait, 0)
	switch {
	case a.Timing.FirstByte > 0:
		t.Receive = rest
	case a.ErrorKind == gateway.ErrorDNS:
		t.DNS += rest
	case a.ErrorKind == gateway.ErrorConnect, a.ErrorKind == gateway.ErrorBlocked:
		t.Connect += rest
	case a.ErrorKind == gateway.ErrorTLS:
		t.TLS += rest
	case a.ErrorKind == gateway.ErrorTimeout && rest < a.Duration/minorRest:
		// The part that did not end was measured until the end.
	default:
		t.Wait = rest
	}
	return t
}
