package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/rowlock/rowlock/internal/eventtype"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

var eventTypeSentences = sentences{
	{gateway.ErrNameTaken, page.EventTypeName, "This event type is declared already."},
	{gateway.ErrLimitReached, "", "This account has declared as many event types as it may. Delete one that is not needed first."},
}

// eventTypeFields are the page's fields, which are called as the use case calls
// them.
var eventTypeFields = map[string]string{
	page.EventTypeName: page.EventTypeName, page.EventTypeDescription: page.EventTypeDescription,
	page.EventTypeSchema: page.EventTypeSchema, page.EventTypeExamples: page.EventTypeExamples, page.EventTypeOnDoubt: page.EventTypeOnDoubt,
}

func newEventType(v *visit) error {
	return v.eventTypeForm(page.EventTypeForm{Name: strings.ToValidUTF8(v.QueryParam(fieldName), "")}, "", nil)
}

func createEventType(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	in := readEventType(f)
	in.Name = new(f.text(page.EventTypeName))
	if f.ok() {
		made, err := v.d.EventTypes.Create(v.ctx(), v.account(), v.actor(), in)
		if err == nil {
			return v.done(v.typePath(made.Name), "Event type declared.")
		}
		if !f.takeEventType(err) {
			return err
		}
	}
	return v.eventTypeForm(enteredEventType(f), "", &f)
}

func editEventType(v *visit) error {
	t, err := v.eventType()
	if err != nil {
		return err
	}
	return v.eventTypeForm(page.EventTypeForm{
		Description: t.Description, Schema: string(t.Schema), Examples: page.JoinExamples(t.Examples),
		SingleFire: t.SingleFire, OnDoubt: string(t.OnDoubt),
	}, t.Name, nil)
}

func updateEventType(v *visit) error {
	t, err := v.eventType()
	if err != nil {
		return err
	}
	f, err := v.readForm()
	if err != nil {
		return err
	}
	in := readEventType(f)
	if f.ok() {
		_, err := v.d.EventTypes.Update(v.ctx(), v.account(), v.actor(), t.Name, in)
		if err == nil {
			return v.done(v.typePath(t.Name), "Event type saved.")
		}
		if !f.takeEventType(err) {
			return err
		}
	}
	return v.eventTypeForm(enteredEventType(f), t.Name, &f)
}

// eventTypeForm shows the form about a declared type, or about a new one where
// declared is empty. What was sent is shown again with what is wrong in it.
func (v *visit) eventTypeForm(shown page.EventTypeForm, declared string, sent *form) error {
	title := "Declare event type"
	shown.List = v.at("event-types")
	shown.Action, shown.Cancel = v.at("event-types", newType), shown.List
	if declared != "" {
		title = declared
		shown.Declared, shown.Name = true, declared
		shown.Action, shown.Cancel = v.typePath(declared)+"/edit", v.typePath(declared)
	}
	var err error
	if shown.Frame, _, err = v.frame(title, layout.SectionEventTypes); err != nil {
		return err
	}
	if sent == nil {
		return v.page(page.EventTypeFormPage(shown))
	}
	shown.Errors = sent.errors
	return v.invalid(page.EventTypeFormPage(shown))
}

// enteredEventType is what somebody entered, as it was.
func enteredEventType(f form) page.EventTypeForm {
	return page.EventTypeForm{
		Name: f.text(page.EventTypeName), Description: f.text(page.EventTypeDescription),
		Schema: f.raw(page.EventTypeSchema), Examples: f.raw(page.EventTypeExamples),
		SingleFire: f.checked(page.EventTypeSingleFire), OnDoubt: f.text(page.EventTypeOnDoubt),
	}
}

// readEventType is what the use case takes of the form, but for the name.
func readEventType(f form) eventtype.Input {
	asked := json.RawMessage(f.text(page.EventTypeSchema))
	in := eventtype.Input{Description: new(f.text(page.EventTypeDescription)), Schema: &asked, SingleFire: new(f.checked(page.EventTypeSingleFire))}
	if doubt := gateway.OnDoubt(f.text(page.EventTypeOnDoubt)); doubt != "" {
		in.OnDoubt = &doubt
	}
	examples, err := splitExamples(f.text(page.EventTypeExamples))
	if err != nil {
		f.wrong(page.EventTypeExamples, "These are not JSON values, one after the other.")
	}
	in.Examples = &examples
	return in
}

// splitExamples takes JSON values apart that stand one after the other.
func splitExamples(text string) ([]json.RawMessage, error) {
	examples := []json.RawMessage{}
	for d := json.NewDecoder(bytes.NewReader([]byte(text))); ; {
		var one json.RawMessage
		switch err := d.Decode(&one); {
		case errors.Is(err, io.EOF):
			return examples, nil
		case err != nil:
			return nil, err
		}
		examples = append(examples, one)
	}
}

// takeEventType puts what is wrong with a type beside the fields. What is wrong
// with an example is told with which of them, and where in it.
func (f form) takeEventType(err error) bool {
	for _, fault := range faultsOf(err) {
		if place, ok := strings.CutPrefix(fault.Field, page.EventTypeExamples+"["); ok {
			n, at, _ := strings.Cut(place, "]")
			f.wrong(page.EventTypeExamples, exampleAdvice(n, at, fault.Detail))
		}
	}
	return f.take(err, eventTypeFields, eventTypeSentences)
}

// exampleAdvice says what is wrong with one example, counted from one.
func exampleAdvice(index, at, detail string) string {
	n, err := strconv.Atoi(index)
	if err != nil {
		return advice(detail)
	}
	text := "Example " + strconv.Itoa(n+1)
	if at != "" {
		text += ", at " + at
	}
	return text + ": " + advice(detail)
}
