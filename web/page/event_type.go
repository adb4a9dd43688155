package page

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// The fields of the form about an event type.
const (
	EventTypeName        = "name"
	EventTypeDescription = "description"
	EventTypeSchema      = "schema"
	EventTypeExamples    = "examples"
	EventTypeSingleFire  = "single_fire"
	EventTypeOnDoubt     = "on_doubt"
)

// EventTypes is the catalogue of an account's event types.
type EventTypes struct {
	layout.Frame

	Rows []EventTypeRow
	// Undeclared are types of events that nobody has declared.
	Undeclared []UndeclaredType
	// New is where a type is declared.
	New string
	// Manages tells that the reader may declare one.
	Manages bool
	// First and Next lead through the list; empty where there is nothing.
	First, Next string
}

// EventTypeRow is one type in the catalogue.
type EventTypeRow struct {
	gateway.EventType

	// Path is its page, Events the list of its events.
	Path, Events string
	// Count is how many of its events came in a day, as text.
	Count string
}

// UndeclaredType is a type of events that are there.
type UndeclaredType struct {
	Name string
	// Declare is the form that declares it, Events the list of its events.
	Declare, Events string
}

// CountText writes a number that was counted up to most.
func CountText(n, most int) string {
	if n >= most {
		return component.Number(most-1) + "+"
	}
	return component.Number(n)
}

// firesText says how often an endpoint gets what is of a type.
func firesText(t gateway.EventType) string {
	switch {
	case !t.SingleFire:
		return "Each event is delivered."
	case t.OnDoubt == gateway.OnDoubtHold:
		return "An endpoint gets one event for each subject. When in doubt, it waits for a person."
	default:
		return "An endpoint gets one event for each subject. When in doubt, it is sent again under the same Idempotency-Key."
	}
}

// firstLine is what there is room for of a description.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// EventType is the page of one declared type.
type EventType struct {
	layout.Frame

	Now  time.Time
	Type gateway.EventType
	// Path is the page's, List the catalogue's, Events the list of its events.
	Path, List, Events string
	Manages            bool
}

func (v EventType) crumbs() []component.Crumb {
	return []component.Crumb{{Text: "Event types", Href: v.List}, {Text: v.Type.Name}}
}

// examples are those of the type, as bytes.
func (v EventType) examples() [][]byte {
	all := make([][]byte, len(v.Type.Examples))
	for i, e := range v.Type.Examples {
		all[i] = e
	}
	return all
}

// EventTypeAsk asks before a type is deleted.
type EventTypeAsk struct {
	Name       string
	SingleFire bool
	// Action takes the answer, Cancel leads back.
	Action, Cancel string
	// Heading tells that the question is a page of its own, and no dialog.
	Heading bool
	Entered string
	Errors  Errors
}

// EventTypeForm is the form about a type.
type EventTypeForm struct {
	layout.Frame

	// Declared tells that the type is there, and is changed.
	Declared bool
	// Action takes the form, Cancel leads back, List is the catalogue's address.
	Action, Cancel, List                string
	Name, Description, Schema, Examples string
	SingleFire                          bool
	OnDoubt                             string
	Errors                              Errors
}

func (f EventTypeForm) crumbs() []component.Crumb {
	way := []component.Crumb{{Text: "Event types", Href: f.List}}
	if f.Declared {
		return append(way, component.Crumb{Text: f.Name, Href: f.Cancel}, component.Crumb{Text: "Edit"})
	}
	return append(way, component.Crumb{Text: "Declare event type"})
}

func (f EventTypeForm) heading() string {
	if f.Declared {
		return "Edit event type"
	}
	return "Declare event type"
}

func (f EventTypeForm) submit() string {
	if f.Declared {
		return "Save"
	}
	return "Declare event type"
}

// doubts are the choices for when nobody knows whether an event was received.
func (f EventTypeForm) doubts() []component.Option {
	hold := f.OnDoubt == string(gateway.OnDoubtHold)
	return []component.Option{
		{
			Value: string(gateway.OnDoubtResend), Label: "Send it again", Selected: !hold,
			Hint: "Under the same Idempotency-Key. For receivers that honour the key: nothing is missed.",
		},
		{
			Value: string(gateway.OnDoubtHold), Label: "Hold it for a person", Selected: hold,
			Hint: "For receivers that cannot tell a repeat. Somebody looks, and decides.",
		},
	}
}

// JoinExamples writes examples as the form shows them, one below the other.
func JoinExamples(examples []json.RawMessage) string {
	texts := make([]string, len(examples))
	for i, e := range examples {
		texts[i] = string(e)
	}
	return strings.Join(texts, "\n")
}

// exampleTitle numbers an example.
func exampleTitle(n int) string { return "Example " + strconv.Itoa(n+1) }
