package dashboard

import (
	"net/http"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// aboutEndpoint is what every question about an endpoint has.
func (v *visit) aboutEndpoint(e gateway.Endpoint) page.EndpointQuestion {
	return page.EndpointQuestion{
		Name: endpointName(e), Action: v.Request().URL.Path, Cancel: v.atEndpoint(e), Heading: !v.scripted(),
	}
}

func askPause(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	now := "Nothing is sent any more. Requests that are under way finish."
	if e.State == gateway.EndpointDisabled {
		now = "Rowlock has disabled it already. Paused, it stays stopped until somebody resumes it, for a reason of yours."
	}
	return v.ask("Pause "+endpointName(e), layout.SectionEndpoints, page.QuestionForm(page.Question{
		Action: v.Request().URL.Path, Cancel: v.atEndpoint(e), Heading: !v.scripted(), Safe: true,
		Title: "Pause “" + endpointName(e) + "”?", Submit: "Pause endpoint",
		Text: []string{now, "Events go on coming in, and what is for this endpoint is held. It goes on when somebody resumes it, and what was being retried keeps its schedule. Nothing is lost for as long as events are kept."},
	}))
}

func pauseEndpoint(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	if _, err := v.d.Endpoints.Pause(v.ctx(), v.account(), v.actor(), e.ID); err != nil {
		return err
	}
	return v.done(v.atEndpoint(e), "Paused. What is for it is held, and goes on when somebody resumes it.")
}

func resumeEndpoint(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	if _, err := v.d.Endpoints.Resume(v.ctx(), v.account(), v.actor(), e.ID); err != nil {
		return err
	}
	return v.done(v.atEndpoint(e), "Resumed. What was held goes on; what was being retried keeps its schedule.")
}

func askDelete(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	return v.ask("Delete "+endpointName(e), layout.SectionEndpoints, page.DeleteAsk(v.aboutEndpoint(e)))
}

func deleteEndpoint(v *visit) error {
	e, f, err := v.postedEndpoint()
	if err != nil {
		return err
	}
	name := endpointName(e)
	if !sameName(f.text(fieldName), name) {
		question := v.aboutEndpoint(e)
		f.wrong(fieldName, "This is not its name. Nothing was deleted.")
		question.Entered, question.Errors = f.text(fieldName), f.errors
		return v.askAgain(http.StatusUnprocessableEntity, "Delete "+name, layout.SectionEndpoints, page.DeleteAsk(question))
	}
	if err := v.d.Endpoints.Delete(v.ctx(), v.account(), v.actor(), e.ID); err != nil {
		return err
	}
	return v.done(v.at("endpoints"), "Deleted "+component.Visible(name)+". Its history stays with its events.")
}

// sameName tells whether somebody typed the name that they read: as it is, or
// as pages show what has no shape of its own.
func sameName(typed, name string) bool {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	return words(typed) != "" && (words(typed) == words(name) || words(typed) == words(component.Visible(name)))
}
