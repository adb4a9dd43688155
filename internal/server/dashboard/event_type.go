package dashboard

import (
	"net/http"
	"net/url"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// newType is the part of an address under which a type is declared. No
	// type's name begins with a sign.
	newType = "-new"
	// countedType is how many events of a type are counted before the page says
	// "more".
	countedType = 1000
	// seenTypes is how many types are looked at to find those that nobody has
	// declared, and offeredTypes how many of them are offered.
	seenTypes, offeredTypes = 200, 20
)

// typePath is the address of a declared type.
func (v *visit) typePath(name string) string { return v.at("event-types", name) }

// eventsOf is the list of a type's events.
func (v *visit) eventsOf(name string) string { return address(v.at("events"), "type", name) }

// declareHref is the form that declares a type.
func (v *visit) declareHref(name string) string {
	return address(v.at("event-types", newType), fieldName, name)
}

// listEventTypes is the catalogue of the account's event types.
func listEventTypes(v *visit) error {
	l := v.listing(v.at("event-types"))
	types, err := v.d.Store.EventTypes(v.ctx(), v.account(), l.get(paramAfter), pageRows+1)
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Event types", layout.SectionEventTypes)
	if err != nil {
		return err
	}
	view := page.EventTypes{Frame: frame, New: v.declareHref(""), Manages: v.manages()}
	types, view.First, view.Next = shown(l, types, func(t gateway.EventType) string { return t.Name })
	if view.Rows, err = v.eventTypeRows(types); err != nil {
		return err
	}
	if view.Undeclared, err = v.undeclared(); err != nil {
		return err
	}
	return v.page(page.EventTypesPage(view))
}

// eventTypeRows are types with how many of their events came in a day.
func (v *visit) eventTypeRows(types []gateway.EventType) ([]page.EventTypeRow, error) {
	names := make([]string, len(types))
	for i := range types {
		names[i] = types[i].Name
	}
	counts, err := v.d.Store.CountTypes(v.ctx(), v.account(), names, v.now().Add(-24*time.Hour), countedType)
	rows := make([]page.EventTypeRow, len(types))
	for i, t := range types {
		rows[i] = page.EventTypeRow{
			EventType: t, Path: v.typePath(t.Name), Events: v.eventsOf(t.Name), Count: page.CountText(counts[t.Name], countedType),
		}
	}
	return rows, err
}

// undeclared are types of events since yesterday that nobody has declared.
func (v *visit) undeclared() ([]page.UndeclaredType, error) {
	names, err := v.d.Store.UndeclaredTypes(v.ctx(), v.account(), v.now().AddDate(0, 0, -1), seenTypes, offeredTypes)
	all := make([]page.UndeclaredType, len(names))
	for i, name := range names {
		all[i] = page.UndeclaredType{Name: name, Declare: v.declareHref(name), Events: v.eventsOf(name)}
	}
	return all, err
}

// eventType is the type that the address names. The router leaves in it what
// was escaped.
func (v *visit) eventType() (gateway.EventType, error) {
	name, err := url.PathUnescape(v.Param("name"))
	if err != nil {
		return gateway.EventType{}, gateway.ErrNotFound
	}
	return v.d.Store.EventType(v.ctx(), v.account(), name)
}

func showEventType(v *visit) error {
	t, err := v.eventType()
	if err != nil {
		return err
	}
	frame, _, err := v.frame(t.Name, layout.SectionEventTypes)
	if err != nil {
		return err
	}
	return v.page(page.EventTypePage(page.EventType{
		Frame: frame, Now: v.now(), Type: t, Manages: v.manages(),
		Path: v.typePath(t.Name), List: v.at("event-types"), Events: v.eventsOf(t.Name),
	}))
}

// eventTypeQuestion is what is asked before a type is deleted.
func (v *visit) eventTypeQuestion(t gateway.EventType) page.EventTypeAsk {
	return page.EventTypeAsk{
		Name: t.Name, SingleFire: t.SingleFire, Heading: !v.scripted(),
		Action: v.typePath(t.Name) + "/delete", Cancel: v.typePath(t.Name),
	}
}

func askDeleteEventType(v *visit) error {
	t, err := v.eventType()
	if err != nil {
		return err
	}
	return v.ask("Delete event type", layout.SectionEventTypes, page.EventTypeDeleteAsk(v.eventTypeQuestion(t)))
}

func deleteEventType(v *visit) error {
	t, err := v.eventType()
	if err != nil {
		return err
	}
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if !sameName(f.text(fieldName), t.Name) {
		f.wrong(fieldName, "This is not the event type’s name.")
	}
	if !f.ok() {
		again := v.eventTypeQuestion(t)
		again.Entered, again.Errors = f.text(fieldName), f.errors
		return v.askAgain(http.StatusUnprocessableEntity, "Delete event type", layout.SectionEventTypes, page.EventTypeDeleteAsk(again))
	}
	if err := v.d.EventTypes.Delete(v.ctx(), v.account(), v.actor(), t.Name); err != nil {
		return err
	}
	return v.done(v.at("event-types"), "Event type deleted. Its events can still come.")
}
