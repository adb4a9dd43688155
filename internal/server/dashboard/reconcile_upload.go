package dashboard

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// fieldList is the file of a list, which comes last; fieldPasted holds one
	// that was pasted.
	fieldList, fieldPasted = "list", "pasted"
	// maxUploadFields bounds the fields before the file.
	maxUploadFields = 32
)

func newReconciliation(v *visit) error {
	values := map[string]string{paramSince: fieldOfTime(v.now().AddDate(0, 0, -1)), "endpoint": v.QueryParam(paramEndpoint)}
	return v.reconcileForm(http.StatusOK, page.ReconcileForm{Chosen: values})
}

// reconcileForm shows the form, as it was filled in.
func (v *visit) reconcileForm(status int, view page.ReconcileForm) (err error) {
	if view.Frame, _, err = v.frame("New comparison", layout.SectionReconcile); err != nil {
		return err
	}
	if view.Endpoints, err = v.endpointOptions(); err != nil {
		return err
	}
	for i := range view.Endpoints {
		view.Endpoints[i].Selected = view.Endpoints[i].Value == view.Chosen["endpoint"]
	}
	match := view.Chosen["match"]
	if !gateway.KnownMatchBy(match) {
		match = string(gateway.MatchByEvent)
	}
	view.Matches = page.MatchOptions(match)
	view.List, view.Action, view.NewEndpoint = v.at("reconcile"), v.at("reconcile", "new"), v.addHref("endpoints")
	view.KeptFor = component.Plural(int(v.d.Retention/(24*time.Hour)), "day", "days")
	return v.render(status, page.ReconcilePage(view))
}

// sentList is a form with a list that comes in.
type sentList struct {
	form

	// list is the file, or what was pasted; nil for neither.
	list io.Reader
	// name is the file's; empty for what was pasted.
	name string
}

// readList reads the fields before the file, which is left to be read as it
// comes.
func (v *visit) readList() (sentList, error) {
	s := sentList{form: form{values: map[string][]string{}, errors: map[string]string{}}}
	r := v.Request()
	r.Body = body.Stream(v.Response(), r)
	parts, err := r.MultipartReader()
	if err != nil {
		return s, nil //nolint:nilerr // a form without a file is told so
	}
	for range maxUploadFields {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s, broken(err)
		}
		if part.FormName() == fieldList {
			if part.FileName() != "" {
				s.list, s.name = part, part.FileName()
			}
			break
		}
		if err := s.addField(part); err != nil {
			return s, err
		}
	}
	if pasted := s.raw(fieldPasted); s.list == nil && strings.TrimSpace(pasted) != "" {
		s.list = strings.NewReader(pasted)
	}
	return s, nil
}

// broken tells a body that is no form, or ended early, from what body.Stream
// tells itself.
func broken(err error) error {
	if errors.Is(err, body.ErrTimeout) || errors.Is(err, body.ErrBroken) {
		return err
	}
	return fmt.Errorf("%w: %w", body.ErrBroken, err)
}

// addField keeps a field that is no file.
func (s *sentList) addField(part *multipart.Part) error {
	text, err := io.ReadAll(io.LimitReader(part, maxForm+1))
	if err != nil {
		return broken(err)
	}
	if len(text) > maxForm {
		return &body.TooLargeError{Limit: maxForm}
	}
	s.keep(part.FormName(), string(text))
	return nil
}

// input is what the form asks for. What was pasted has no header and one column.
func (s sentList) input() reconcile.Input {
	in := reconcile.Input{
		Layout: reconcile.Layout{
			Format: formatOf(s.name), MatchBy: gateway.MatchBy(s.text("match")),
			KeyColumn: s.text("key_column"), TypeColumn: s.text("type_column"), NoHeader: !s.checked("header"),
		},
		Name: s.text("name"), Since: readTime(s.text(paramSince)), Until: readTime(s.text(paramUntil)),
	}
	if s.name == "" && s.list != nil && in.KeyColumn == "" && in.TypeColumn == "" {
		in.NoHeader = true
	}
	if in.Name == "" {
		in.Name = component.Shorten(strings.ToValidUTF8(s.name, ""), maxListName)
	}
	return in
}

// maxListName is how much of a file's name is kept, in characters.
const maxListName = 50

// formatOf is how a file is written, by its name.
func formatOf(name string) reconcile.Format {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	for _, suffix := range []string{".ndjson", ".jsonl", ".json"} {
		if strings.HasSuffix(name, suffix) {
			return reconcile.FormatNDJSON
		}
	}
	return reconcile.FormatCSV
}

// reconcileFields are the form's fields for the use case's.
var reconcileFields = map[string]string{
	"endpoint": "endpoint", "match": "match", "since": "since", "until": "until",
	"key_column": "key_column", "type_column": "type_column", "name": "name", "format": fieldList,
}

// createReconciliation reads the list, and leads to the comparison, also to one
// that failed: it says why.
func createReconciliation(v *visit) error {
	s, err := v.readList()
	if err != nil {
		return err
	}
	in := s.input()
	if in.Endpoint, err = gateway.ParseID[gateway.EndpointID](s.text("endpoint")); err != nil {
		s.wrong("endpoint", "Choose an endpoint.")
	}
	if s.list == nil {
		s.wrong(fieldList, "Choose a file, or paste the list.")
	}
	if text := s.text(paramUntil); text != "" && in.Until.IsZero() {
		s.wrong(paramUntil, "Enter a date and a time, or nothing.")
	}
	if !s.ok() {
		return v.reconcileAgain(s)
	}
	r, err := v.d.Reconcile.Create(v.ctx(), v.account(), v.actor(), in, s.list)
	// Browsers show an answer when all was sent.
	_, _ = io.CopyN(io.Discard, v.Request().Body, gateway.MaxReconciliationBytes)
	_, unreadable := errors.AsType[*reconcile.ListError](err)
	switch {
	case err == nil, unreadable, errors.Is(err, gateway.ErrStateChanged):
		return v.redirect(v.at("reconcile", r.ID.String()))
	case s.take(err, reconcileFields, sentences{{gateway.ErrLimitReached, "", tooManyCompared}}):
		return v.reconcileAgain(s)
	}
	return err
}

// tooManyCompared is told who begins one comparison too many.
var tooManyCompared = "Not started: " + component.Number(gateway.MaxOpenReconciliations) + " comparisons can be under way at once, and " +
	component.Number(gateway.MaxKeptReconciliations) + " of them or " + component.Number(gateway.MaxKeptReconciledRows) +
	" of their rows are kept. Wait until one has ended, or delete some: their rows are gone some minutes later."

// reconcileAgain shows the form with what is wrong in it.
func (v *visit) reconcileAgain(s sentList) error {
	view := page.ReconcileForm{Chosen: map[string]string{}, NoHeader: !s.checked("header"), Errors: s.errors}
	for name := range s.values {
		view.Chosen[name] = s.raw(name)
	}
	return v.reconcileForm(http.StatusUnprocessableEntity, view)
}
