package dashboard

import (
	"errors"
	"net/http"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// fieldNote says why failures were dismissed.
const fieldNote = "note"

// failuresIn reads which failures an address or a form is about; not ok when it
// names none.
func failuresIn(get func(string) string) (f deliver.Failures, ok bool) {
	f.Cause = parseCause(get(paramCause))
	if id, err := gateway.ParseID[gateway.EndpointID](get(paramEndpoint)); err == nil {
		f.Endpoint = &id
	}
	understood := (f.Cause != nil || get(paramCause) == "") && (f.Endpoint != nil || get(paramEndpoint) == "")
	return f, understood && f != (deliver.Failures{})
}

// openFailures counts the open ones among failures, and names them.
func (v *visit) openFailures(f deliver.Failures) (count int, name string, err error) {
	groups, _, err := v.d.Store.Failures(v.ctx(), v.account(), store.FailureFilter{Endpoint: f.Endpoint, Cause: f.Cause})
	if err != nil {
		return 0, "", err
	}
	groups = dismissedOrNot(groups, false)
	for _, g := range groups {
		count += g.Count
	}
	if len(groups) == 0 {
		return 0, "", nil
	}
	at := "“" + called(groups[0].Endpoint) + "”"
	switch {
	case f.Cause == nil:
		name = "all failures of " + at
	case f.Endpoint == nil && len(groups) > 1:
		name = page.CauseName(*f.Cause) + " at " + component.Plural(len(groups), "endpoint", "endpoints")
	default:
		name = page.CauseName(*f.Cause) + " of " + at
	}
	return count, name, nil
}

// noneLeft is told when there is nothing any more of what was to be dismissed.
const noneLeft = "Nothing to dismiss: these failures were dismissed already, sent again, or are past their retention."

func askDismiss(v *visit) error {
	next := localPath(v.QueryParam(fieldNext), v.at("failures"))
	f, ok := failuresIn(v.QueryParam)
	if !ok {
		return v.refused(next, noneLeft)
	}
	return v.dismissQuestion(http.StatusOK, f, page.DismissQuestion{Cancel: next, Seen: v.QueryParam(paramSeen)})
}

// dismissQuestion asks, at first or again.
func (v *visit) dismissQuestion(status int, f deliver.Failures, q page.DismissQuestion) error {
	count, name, err := v.openFailures(f)
	switch {
	case err != nil:
		return err
	case count == 0:
		return v.refused(q.Cancel, noneLeft)
	}
	which := failed{endpoint: f.Endpoint, cause: f.Cause}
	q.Endpoint, q.Cause = which.endpointText(), which.causeText()
	q.Title, q.Count, q.Heading = "Dismiss "+name+"?", count, !v.scripted()
	q.Action = v.at("failures", "dismiss")
	return v.askAgain(status, "Dismiss failures", layout.SectionFailures, page.DismissAsk(q))
}

func dismissFailures(v *visit) error {
	form, err := v.readForm()
	if err != nil {
		return err
	}
	next := localPath(form.text(fieldNext), v.at("failures"))
	f, ok := failuresIn(form.text)
	if !ok {
		return v.refused(next, noneLeft)
	}
	if form.ok() {
		groups, err := v.d.Deliver.Dismiss(v.ctx(), v.account(), v.actor(), deliver.Dismissal{
			Failures: f, Until: readTime(form.text(paramSeen)), Note: form.text(fieldNote),
		})
		switch {
		case errors.Is(err, gateway.ErrNotFound):
			return v.refused(next, noneLeft)
		case err == nil:
			return v.dismissed(next, groups)
		case !form.take(err, map[string]string{"note": fieldNote}, nil):
			return err
		}
	}
	return v.dismissQuestion(http.StatusUnprocessableEntity, f, page.DismissQuestion{
		Cancel: next, Seen: form.text(paramSeen), Entered: form.text(fieldNote), Errors: form.errors,
	})
}

// dismissed says what came of it: what failed meanwhile was not seen.
func (v *visit) dismissed(next string, groups []store.FailureGroup) error {
	if len(dismissedOrNot(groups, false)) > 0 {
		return v.refused(next, "More failed while you looked. What you have not seen is still open.")
	}
	return v.done(next, "Dismissed. What fails again is open again.")
}

func restoreFailures(v *visit) error {
	form, err := v.readForm()
	if err != nil {
		return err
	}
	next := localPath(form.text(fieldNext), withAll(v.at("failures"), paramState, page.FailuresDismissed))
	f, ok := failuresIn(form.text)
	if !ok {
		return v.refused(next, "Nothing to open again.")
	}
	n, err := v.d.Deliver.Restore(v.ctx(), v.account(), v.actor(), f)
	switch {
	case err != nil:
		return err
	case n == 0:
		return v.done(next, "These are open already.")
	default:
		return v.done(next, "Open again.")
	}
}
