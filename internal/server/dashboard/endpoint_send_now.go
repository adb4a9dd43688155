package dashboard

import (
	"errors"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	notSentTo    = "Nothing is sent to it in this state. What is held goes on when it is resumed."
	nothingLater = "Nothing waits here for a later attempt."
)

// askSendNow asks before what waits for a later attempt is sent now.
func askSendNow(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	if e.State != gateway.EndpointActive {
		return v.refused(v.atEndpoint(e), notSentTo)
	}
	q, err := v.d.Store.QueueOf(v.ctx(), v.account(), e.ID, deliver.MaxSentNow)
	switch {
	case err != nil:
		return err
	case q.Later == 0:
		return v.refused(v.atEndpoint(e), nothingLater)
	}
	text := []string{
		waitText(q.Later) + " for a later attempt, the next in " + component.Duration(max(q.NextAt.Sub(v.now()), 0)) + ". Sent now, " +
			"each keeps its place in its schedule: what fails again waits for the attempt after that.",
	}
	if e.ConsecutiveFailures > 0 {
		text = append(text, "The endpoint is failing. Rowlock begins with few at once, and widens with each success.")
	}
	if q.Later >= deliver.MaxSentNow {
		text = append(text, "There may be more: these are as many as are sent at once.")
	}
	return v.ask("Send what waits now", layout.SectionEndpoints, page.QuestionForm(page.Question{
		Action: v.Request().URL.Path, Cancel: v.atEndpoint(e), Heading: !v.scripted(), Safe: true,
		Title: "Send what waits for “" + endpointName(e) + "” now?", Submit: "Send " + component.Number(q.Later) + " now", Text: text,
	}))
}

func waitText(n int) string {
	if n == 1 {
		return "1 delivery waits"
	}
	return component.Number(n) + " deliveries wait"
}

func sendWaiting(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	n, err := v.d.Deliver.SendNow(v.ctx(), v.account(), v.actor(), e.ID)
	switch {
	case errors.Is(err, gateway.ErrStateChanged):
		return v.refused(v.atEndpoint(e), notSentTo)
	case err != nil:
		return err
	case n == 0:
		return v.done(v.atEndpoint(e), nothingLater)
	case n == 1:
		return v.done(v.atEndpoint(e), "1 delivery is due now.")
	default:
		return v.done(v.atEndpoint(e), component.Number(n)+" deliveries are due now.")
	}
}
