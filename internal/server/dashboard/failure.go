package dashboard

import (
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/web/layout"
)

// Refusal is an answer that says no, in words for people.
type Refusal struct {
	// Status is the HTTP status.
	Status int
	// Title says what happened, Text what to do next.
	Title, Text string
}

// Error returns the title.
func (r *Refusal) Error() string { return r.Title }

// Problem is the refusal as programs are told it.
func (r *Refusal) Problem() *problem.Problem {
	p := problem.FromStatus(r.Status)
	p.Status, p.Title, p.Detail = r.Status, r.Title, r.Text
	return p
}

// ForPeople tells whether a request that could not be answered should get a
// page: browsers ask for one, and the API's and providers' paths never do.
func ForPeople(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// AnswerFailure answers with the page that says why there is no other.
func (d *Dashboard) AnswerFailure(err error, p *problem.Problem, c echo.Context) error {
	maps.Copy(c.Response().Header(), p.GetHeaders())
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	v := &visit{Context: c, d: d}
	why := layout.Failure{Back: "/", BackLabel: "Go to the start"}
	status := p.Status
	why.Title, why.Text = words(p)
	if r, ok := errors.AsType[*Refusal](err); ok {
		status, why.Title, why.Text = r.Status, r.Title, r.Text
	}
	if status >= http.StatusInternalServerError {
		why.Reference = c.Response().Header().Get(echo.HeaderXRequestID)
	}
	bare := v.bare(why.Title)
	if status == http.StatusInternalServerError || status == http.StatusServiceUnavailable {
		return v.render(status, layout.FailureEntrance(bare, why)) // what is asked of the database may fail again
	}
	return d.failureWithin(v, status, why)
}

// failureWithin keeps the navigation around a failure for those who are logged
// in, so that they can go on.
func (d *Dashboard) failureWithin(v *visit, status int, why layout.Failure) error {
	session, token, err := d.sessionOf(v.Request())
	v.session, v.token = session, token
	if err != nil || !v.known() {
		return v.render(status, layout.FailureEntrance(v.bare(why.Title), why))
	}
	if reference := accountIn(v); reference != "" {
		if m, err := d.Accounts.Member(v.ctx(), v.person().ID, reference); err == nil && !v.lacksTwoStep(m) {
			v.membership = m
			why.Back, why.BackLabel = v.at(), "Go to the overview"
		}
	}
	frame, _, err := v.frame(why.Title, "")
	if err != nil {
		return v.render(status, layout.FailureEntrance(v.bare(why.Title), why))
	}
	return v.render(status, layout.FailurePage(frame, why))
}

// accountIn is the account in the address, also where no route knows the rest
// of it.
func accountIn(v *visit) string {
	if reference := v.Param(accountParam); reference != "" {
		return reference
	}
	rest, within := strings.CutPrefix(v.Request().URL.Path, "/a/")
	if !within {
		return ""
	}
	reference, _, _ := strings.Cut(rest, "/")
	return reference
}

// words says what a problem is to people, who do not know the API.
func words(p *problem.Problem) (title, text string) {
	switch p.Code {
	case problem.NotFound:
		return "There is nothing here", "The address is wrong, what it showed was deleted, or it belongs to an account that you are not a member of."
	case problem.MethodNotAllowed:
		return "This address takes no such request", "Go back and use the page's buttons."
	case problem.Expired:
		return "This is no longer kept", "Its retention is over. What came later is still there."
	case problem.PayloadDeleted:
		return "The payload was deleted", "The event is still there; its payload cannot be had back."
	case problem.Overloaded:
		return "This server has too much to do at this moment", "Nothing was lost and nothing was changed. Try again in a few seconds."
	case problem.Unavailable:
		return "The database cannot be reached", "Nothing was lost and nothing was changed. Try again in a few seconds."
	case problem.Stopping:
		return "This server is restarting", "Nothing was changed. Try again in a few seconds."
	case problem.Internal:
		return "Something went wrong on our side", "Try again. If it happens again, the server's log has more under the request's id."
	case problem.PayloadTooLarge:
		return "That is too large", p.Detail
	default:
		return p.Title, p.Detail
	}
}
