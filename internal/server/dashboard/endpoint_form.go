package dashboard

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

var endpointSentences = sentences{
	{gateway.ErrUIDTaken, page.EndpointUID, "Another endpoint of this account has this name."},
	{gateway.ErrLimitReached, "", "This account has as many endpoints as it may. Delete one that is not needed first."},
}

func newEndpoint(v *visit) error {
	return v.endpointFormPage(page.EndpointForm{New: true}, nil)
}

func createEndpoint(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	shown, in := readEndpointForm(f)
	shown.New = true
	if own := f.text(page.EndpointSecretField); own != "" {
		in.Secret = &own
	}
	if !f.ok() {
		// What else is wrong is told at once: the use case looks at the rest.
		f.take(v.d.Endpoints.Check(in), endpointFields(shown), endpointSentences)
		return v.endpointFormPage(shown, &f)
	}
	e, secret, err := v.d.Endpoints.Create(v.ctx(), v.account(), v.actor(), in)
	switch {
	case err == nil:
		return v.flash(v.atEndpoint(e), flash{
			Text: "Added " + component.Visible(endpointName(e)) + ". Copy its signing secret now, or reveal it again later.", Secret: secret.Value, Of: secret.ID.String(),
		})
	case f.take(err, endpointFields(shown), endpointSentences):
		return v.endpointFormPage(shown, &f)
	default:
		return err
	}
}

func editEndpoint(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	return v.endpointFormPage(endpointForm(e, v.atEndpoint(e)), nil)
}

func updateEndpoint(v *visit) error {
	e, f, err := v.postedEndpoint()
	if err != nil {
		return err
	}
	shown, in := readEndpointForm(f)
	shown.Name, shown.Cancel = endpointName(e), v.atEndpoint(e)
	if !f.ok() {
		f.take(v.d.Endpoints.Check(in), endpointFields(shown), endpointSentences)
		return v.endpointFormPage(shown, &f)
	}
	_, err = v.d.Endpoints.Update(v.ctx(), v.account(), v.actor(), e.ID, changesOnly(in, e))
	switch {
	case err == nil:
		return v.done(v.atEndpoint(e), "Saved.")
	case f.take(err, endpointFields(shown), endpointSentences):
		return v.endpointFormPage(shown, &f)
	default:
		return err
	}
}

// endpointFormPage shows the form: at first, or again with what is wrong.
func (v *visit) endpointFormPage(shown page.EndpointForm, wrong *form) error {
	title := "Edit " + shown.Name
	if shown.New {
		title, shown.Cancel = "Add endpoint", v.at("endpoints")
	}
	frame, _, err := v.frame(title, layout.SectionEndpoints)
	if err != nil {
		return err
	}
	shown.Frame, shown.Action = frame, v.Request().URL.Path
	shown.ServerTimeout = writtenDuration(v.d.Deliver.Timeout)
	shown.ServerSchedule = writtenSchedule(v.d.Deliver.Schedule)
	if wrong == nil {
		return v.page(page.EndpointFormPage(shown))
	}
	if wrong.text(page.EndpointSecretField) != "" {
		wrong.wrong(page.EndpointSecretField, "Enter the secret again: a page never repeats one.")
	}
	shown.Errors = wrong.errors
	return v.invalid(page.EndpointFormPage(shown))
}

// endpointForm is the form of an endpoint as it is.
func endpointForm(e gateway.Endpoint, at string) page.EndpointForm {
	shown := page.EndpointForm{
		Name: endpointName(e), Cancel: at,
		URL: e.URL, Description: e.Description, EventTypes: strings.Join(e.EventTypes, "\n"),
		MaxInFlight: strconv.Itoa(e.MaxInFlight),
	}
	if e.UID != nil {
		shown.UID = *e.UID
	}
	if e.Timeout != 0 {
		shown.Timeout = writtenDuration(e.Timeout)
	}
	if e.RetrySchedule != nil {
		shown.RetrySchedule = writtenSchedule(e.RetrySchedule)
	}
	codes := make([]string, len(e.StopOn))
	for i, code := range e.StopOn {
		codes[i] = strconv.Itoa(code)
	}
	shown.StopOn = strings.Join(codes, ", ")
	headers := gateway.DecodeHeaders(e.Headers)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		shown.Headers = append(shown.Headers, page.EndpointHeader{Name: name, Value: headers.Get(name)})
	}
	return shown
}

// readEndpointForm reads what was entered, twice: as the form shows it again,
// and as the use case takes it. What cannot be read is told beside its field.
func readEndpointForm(f form) (page.EndpointForm, endpoint.Input) {
	shown := page.EndpointForm{
		URL: f.text(page.EndpointURL), Description: strings.ReplaceAll(f.text(page.EndpointDescription), "\r\n", "\n"),
		EventTypes: f.raw(page.EndpointEventTypes), Timeout: f.text(page.EndpointTimeout),
		RetrySchedule: f.text(page.EndpointRetrySchedule), MaxInFlight: f.text(page.EndpointMaxInFlight),
		StopOn: f.text(page.EndpointStopOn), UID: f.text(page.EndpointUID), Headers: enteredHeaders(f),
	}
	in := endpoint.Input{
		URL: &shown.URL, UID: &shown.UID, Description: &shown.Description,
		EventTypes: f.typePatterns(), Headers: f.ownHeaders(shown.Headers),
		RetrySchedule: f.schedule(), Timeout: f.timeout(), MaxInFlight: f.maxInFlight(), StopOn: f.statusCodes(),
	}
	if shown.URL == "" {
		f.wrong(page.EndpointURL, "Enter the URL that events go to.")
	}
	return shown, in
}

// endpointFields are the form's names for what the use case finds wrong; those
// of headers are their rows.
func endpointFields(shown page.EndpointForm) map[string]string {
	fields := map[string]string{}
	for _, name := range []string{
		page.EndpointURL, page.EndpointUID, page.EndpointDescription, page.EndpointEventTypes, page.EndpointHeaders,
		page.EndpointRetrySchedule, page.EndpointTimeout, page.EndpointMaxInFlight, page.EndpointStopOn, page.EndpointSecretField,
	} {
		fields[name] = name
	}
	for n, h := range shown.Headers {
		fields["headers."+h.Name] = page.EndpointHeaderRow(n)
	}
	return fields
}

// changesOnly leaves out what the endpoint has already, so that the audit log
// names what was changed.
func changesOnly(in endpoint.Input, e gateway.Endpoint) endpoint.Input {
	uid := ""
	if e.UID != nil {
		uid = *e.UID
	}
	headers := map[string]string{}
	for name, values := range gateway.DecodeHeaders(e.Headers) {
		headers[name] = values[0]
	}
	return endpoint.Input{
		URL: unlessSame(in.URL, e.URL), UID: unlessSame(in.UID, uid), Description: unlessSame(in.Description, e.Description),
		Timeout: unlessSame(in.Timeout, e.Timeout), MaxInFlight: unlessSame(in.MaxInFlight, e.MaxInFlight),
		EventTypes: unlessEqual(in.EventTypes, slices.Equal(*in.EventTypes, e.EventTypes)),
		StopOn:     unlessEqual(in.StopOn, slices.Equal(*in.StopOn, e.StopOn)),
		Headers:    unlessEqual(in.Headers, maps.Equal(*in.Headers, headers)),
		RetrySchedule: unlessEqual(in.RetrySchedule,
			(*in.RetrySchedule == nil) == (e.RetrySchedule == nil) && slices.Equal(*in.RetrySchedule, e.RetrySchedule)),
	}
}

func unlessSame[T comparable](entered *T, is T) *T { return unlessEqual(entered, *entered == is) }

func unlessEqual[T any](entered *T, equal bool) *T {
	if equal {
		return nil
	}
	return entered
}
