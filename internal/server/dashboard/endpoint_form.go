package dashboard

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

var endpointSentences = sentences{
	{gateway.ErrUIDTaken, page.EndpointUID, "Another endpoint of this account has this name."},
	{gateway.ErrTooManySecrets, page.EndpointSignature, "As many secrets sign as can. End one of them first."},
	{gateway.ErrLimitReached, "", "This account has as many endpoints as it may. Delete one that is not needed first."},
}

func newEndpoint(v *visit) error {
	return v.endpointFormPage(page.EndpointForm{New: true}, gateway.Endpoint{}, nil)
}

func createEndpoint(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	shown, in := readEndpointForm(f, gateway.Endpoint{Kind: gateway.EndpointKind(cmp.Or(f.text(page.EndpointKindField), string(gateway.EndpointHTTP)))})
	shown.New = true
	in.Kind = (*gateway.EndpointKind)(&shown.Kind)
	if own := f.text(page.EndpointSecretField); own != "" {
		in.Secret = &own
	}
	if !f.ok() {
		// What else is wrong is told at once: the use case looks at the rest.
		f.take(v.d.Endpoints.Check(v.ctx(), v.account(), in), endpointFields(shown), endpointSentences)
		return v.endpointFormPage(shown, gateway.Endpoint{}, &f)
	}
	e, secret, err := v.d.Endpoints.Create(v.ctx(), v.account(), v.actor(), in)
	switch {
	case err == nil:
		return v.flash(v.atEndpoint(e), createdFlash(e, secret))
	case f.take(err, endpointFields(shown), endpointSentences):
		return v.endpointFormPage(shown, gateway.Endpoint{}, &f)
	default:
		return err
	}
}

// createdFlash says what to do with what a new endpoint signs with.
func createdFlash(e gateway.Endpoint, secret gateway.Secret) flash {
	added := "Added " + component.Visible(endpointName(e)) + ". "
	if e.Kind == gateway.EndpointListen {
		added += "Listen with the command below. "
	}
	if secret.Public != "" {
		return flash{Text: added + "Give your receiver its public key."}
	}
	return flash{Text: added + "Copy its signing secret now, or reveal it again later.", Secret: secret.Value, Of: secret.ID.String()}
}

func editEndpoint(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	return v.endpointFormPage(endpointForm(e), e, nil)
}

func updateEndpoint(v *visit) error {
	e, f, err := v.postedEndpoint()
	if err != nil {
		return err
	}
	shown, in := readEndpointForm(f, e)
	if !f.ok() {
		f.take(v.d.Endpoints.Check(v.ctx(), v.account(), in), endpointFields(shown), endpointSentences)
		return v.endpointFormPage(shown, e, &f)
	}
	changed, err := v.d.Endpoints.Update(v.ctx(), v.account(), v.actor(), e.ID, changesOnly(in, e))
	switch {
	case err == nil && changed.Signature != e.Signature:
		return v.done(v.atEndpoint(e)+"#secrets", "Saved. A new secret signs from now on, and the one before beside it for 24 hours.")
	case err == nil:
		return v.done(v.atEndpoint(e), "Saved.")
	case f.take(err, endpointFields(shown), endpointSentences):
		return v.endpointFormPage(shown, e, &f)
	default:
		return err
	}
}

// endpointFormPage shows the form of an endpoint, or of a new one: at first, or
// again with what is wrong.
func (v *visit) endpointFormPage(shown page.EndpointForm, e gateway.Endpoint, wrong *form) error {
	title := "Add endpoint"
	if shown.New {
		shown.Cancel = v.at("endpoints")
	} else {
		shown.Name, shown.Cancel, shown.StoredAuth = endpointName(e), v.atEndpoint(e), string(e.Auth)
		title = "Edit " + shown.Name
	}
	frame, _, err := v.frame(title, layout.SectionEndpoints)
	if err != nil {
		return err
	}
	if shown.Others, err = v.otherEndpoints(e); err != nil {
		return err
	}
	shown.Frame, shown.Action = frame, v.formPath()
	shown.TryFilter = shown.Action + tryFilterPath
	shown.ServerTimeout = gateway.DurationText(v.d.Deliver.Timeout)
	shown.ServerSchedule = writtenSchedule(v.d.Deliver.Schedule)
	shown.Local = v.d.Endpoints.Check(v.ctx(), v.account(), endpoint.Input{URL: new(page.TryReceiverURL)}) == nil
	if wrong == nil {
		return v.page(page.EndpointFormPage(shown))
	}
	wrong.askForSecretsAgain()
	shown.Errors = wrong.errors
	if wrong.ok() {
		return v.page(page.EndpointFormPage(shown))
	}
	return v.invalid(page.EndpointFormPage(shown))
}

// askForSecretsAgain tells of what was entered and is not shown again, in a
// form that is.
func (f form) askForSecretsAgain() {
	f.again(page.EndpointSecretField, "secret")
	switch gateway.AuthKind(f.text(page.EndpointAuth)) {
	case gateway.AuthBasic:
		f.again(page.EndpointAuthPassword, "password")
	case gateway.AuthBearer:
		f.again(page.EndpointAuthToken, "token")
	case gateway.AuthNone:
	}
}

func (f form) again(name, what string) {
	if f.raw(name) != "" {
		f.wrong(name, "Enter the "+what+" again: a page never repeats one.")
	}
}

// otherEndpoints are those that can take over from an endpoint; the one that
// does is among them, however many there are.
func (v *visit) otherEndpoints(e gateway.Endpoint) ([]component.Option, error) {
	all, err := v.d.Store.Endpoints(v.ctx(), v.account(), store.Page[gateway.EndpointID]{Limit: offered})
	if err != nil {
		return nil, err
	}
	has := func(id gateway.EndpointID) bool {
		return slices.ContainsFunc(all, func(other gateway.Endpoint) bool { return other.ID == id })
	}
	if e.Failover != nil && !has(*e.Failover) {
		present, err := v.d.Store.Endpoint(v.ctx(), v.account(), *e.Failover)
		if err != nil && !isMissing(err) {
			return nil, err
		}
		if err == nil {
			all = append(all, present)
		}
	}
	var options []component.Option
	for _, other := range all {
		if other.ID != e.ID {
			options = append(options, component.Option{Value: other.ID.String(), Label: page.EndpointLabel(other.URL, other.Description)})
		}
	}
	return options, nil
}

// endpointForm is the form of an endpoint as it is.
func endpointForm(e gateway.Endpoint) page.EndpointForm {
	shown := page.EndpointForm{
		Kind: string(e.Kind), URL: e.URL, Description: e.Description, EventTypes: strings.Join(e.EventTypes, "\n"), Filter: e.Filter,
		MaxInFlight: strconv.Itoa(e.MaxInFlight), Signature: string(e.Signature), Auth: string(e.Auth),
	}
	if e.RatePerSecond != 0 {
		shown.RateLimit = strconv.Itoa(e.RatePerSecond)
	}
	if e.Failover != nil {
		shown.Failover = e.Failover.String()
	}
	if e.UID != nil {
		shown.UID = *e.UID
	}
	if e.Timeout != 0 {
		shown.Timeout = gateway.DurationText(e.Timeout)
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
// What is sent in Authorization stays that of the endpoint as long as nothing else is
// entered, and one that is listened for has no URL.
func readEndpointForm(f form, e gateway.Endpoint) (page.EndpointForm, endpoint.Input) {
	shown := page.EndpointForm{
		Kind: string(e.Kind), URL: f.text(page.EndpointURL), Description: f.lines(page.EndpointDescription),
		EventTypes: f.raw(page.EndpointEventTypes), Filter: f.lines(page.EndpointFilter), Timeout: f.text(page.EndpointTimeout),
		RetrySchedule: f.text(page.EndpointRetrySchedule), MaxInFlight: f.text(page.EndpointMaxInFlight),
		RateLimit: f.text(page.EndpointRateLimit), StopOn: f.text(page.EndpointStopOn), UID: f.text(page.EndpointUID),
		Failover: f.text(page.EndpointFailover), Signature: f.text(page.EndpointSignature),
		Auth: f.text(page.EndpointAuth), Username: f.text(page.EndpointAuthUsername), Headers: enteredHeaders(f),
	}
	in := endpoint.Input{
		URL: &shown.URL, UID: &shown.UID, Description: &shown.Description,
		EventTypes: f.typePatterns(), Filter: &shown.Filter, Headers: f.ownHeaders(shown.Headers),
		RetrySchedule: f.schedule(), Timeout: f.timeout(), MaxInFlight: f.maxInFlight(), RatePerSecond: f.rateLimit(), StopOn: f.statusCodes(),
		Failover: f.failover(), Signature: f.signature(), Auth: f.auth(e.Auth),
	}
	switch {
	case e.Kind == gateway.EndpointListen:
		in.URL = nil
	case shown.URL == "":
		f.wrong(page.EndpointURL, "Enter the URL that events go to.")
	}
	return shown, in
}

// endpointFields are the form's names for what the use case finds wrong; those
// of headers are their rows.
func endpointFields(shown page.EndpointForm) map[string]string {
	fields := map[string]string{
		"auth.username": page.EndpointAuthUsername, "auth.password": page.EndpointAuthPassword, "auth.token": page.EndpointAuthToken,
	}
	for _, name := range []string{
		page.EndpointKindField, page.EndpointURL, page.EndpointUID, page.EndpointDescription, page.EndpointEventTypes, page.EndpointFilter, page.EndpointHeaders,
		page.EndpointRetrySchedule, page.EndpointTimeout, page.EndpointMaxInFlight, page.EndpointRateLimit, page.EndpointStopOn,
		page.EndpointFailover, page.EndpointSignature, page.EndpointAuth, page.EndpointSecretField,
	} {
		fields[name] = name
	}
	for n, h := range shown.Headers {
		fields["headers."+h.Name] = page.EndpointHeaderRow(n)
	}
	return fields
}
