package dashboard

import (
	"net/http"
	"strings"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// tryFilterPath is where a form's filter is tried, below where the form itself
// is.
const tryFilterPath = "/filter"

func tryNewFilter(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	return v.tryFilter(f, gateway.Endpoint{})
}

func tryFilter(v *visit) error {
	e, f, err := v.postedEndpoint()
	if err != nil {
		return err
	}
	return v.tryFilter(f, e)
}

// tryFilter shows the form as it was sent, with what its filter says of recent
// events; where scripts run, that alone. What else is wrong in the form is told
// when it is saved.
func (v *visit) tryFilter(f form, e gateway.Endpoint) error {
	shown, in := readEndpointForm(f, e)
	shown.New = e.ID.IsZero()
	unkept := f.errors[page.EndpointFilter]
	clear(f.errors)
	if unkept != "" {
		f.wrong(page.EndpointFilter, unkept)
	}
	trial, err := v.tried(f, shown.Filter, *in.EventTypes)
	if err != nil {
		return err
	}
	if v.scripted() {
		trial.Error = f.errors[page.EndpointFilter]
		return v.render(statusOf(f), page.FilterTried(trial))
	}
	if f.ok() {
		shown.Tried = &trial
	}
	return v.endpointFormPage(shown, e, &f)
}

func statusOf(f form) int {
	if f.ok() {
		return http.StatusOK
	}
	return http.StatusUnprocessableEntity
}

// tried is what a filter says of recent events of the types. What is wrong with
// the filter is told beside its field.
func (v *visit) tried(f form, filter string, types []string) (page.FilterTrial, error) {
	trial := page.FilterTrial{Now: v.now()}
	if !f.ok() {
		return trial, nil
	}
	verdicts, err := v.d.Decide.TryFilter(v.ctx(), v.account(), decide.Trial{Filter: filter, Types: types})
	if err != nil {
		if f.take(err, map[string]string{page.EndpointFilter: page.EndpointFilter}, nil) {
			err = nil
		}
		return trial, err
	}
	for _, verdict := range verdicts {
		trial.Events = append(trial.Events, page.TriedEvent{
			Type: verdict.Event.Type, Href: v.at("events", verdict.Event.ID.String()), At: verdict.Event.ID.Time(),
			Matches: verdict.Matches, Reason: verdict.Reason,
		})
	}
	return trial, nil
}

// formPath is where the endpoint's form is, also for what is below it.
func (v *visit) formPath() string { return strings.TrimSuffix(v.Request().URL.Path, tryFilterPath) }
