package api

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/resource"
)

const eventTypeList = "event-types"

// eventTypeView is what the account declared of a type.
type eventTypeView struct {
	Name        string            `json:"name" example:"order.created"`
	Description string            `json:"description"`
	Schema      json.RawMessage   `json:"schema" doc:"The JSON Schema that the data of published events has to satisfy; null for none."`
	Examples    []json.RawMessage `json:"examples" nullable:"false"`
	SingleFire  bool              `json:"single_fire" doc:"An endpoint gets one event of this type for each subject."`
	OnDoubt     gateway.OnDoubt   `json:"on_doubt" enum:"resend,hold" doc:"What becomes of a single-fire event when nobody knows whether it was received."`
	CreatedAt   timestamp         `json:"created_at"`
	UpdatedAt   timestamp         `json:"updated_at"`
}

func viewEventType(t gateway.EventType) eventTypeView {
	v := eventTypeView{
		Name: t.Name, Description: t.Description, Schema: json.RawMessage("null"), Examples: append([]json.RawMessage{}, t.Examples...),
		SingleFire: t.SingleFire, OnDoubt: t.OnDoubt, CreatedAt: timestamp(t.CreatedAt), UpdatedAt: timestamp(t.UpdatedAt),
	}
	if t.Schema != nil {
		v.Schema = t.Schema
	}
	return v
}

// eventTypePath is the path of an operation on one type.
type eventTypePath struct {
	Name string `path:"name" doc:"The type's name. A slash in it may be written as it is, or as %2F."`
}

// typeName is the name that a path says, in which the router has left what was
// escaped. What cannot be unescaped names nothing.
func (p *eventTypePath) typeName() string {
	name, err := url.PathUnescape(p.Name)
	if err != nil {
		return p.Name
	}
	return name
}

// newEventTypeBody describes a type to declare.
type newEventTypeBody struct {
	resource.EventTypeBody

	Name *string `json:"name" nullable:"false" pattern:"^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,255}$" example:"order.created" doc:"As events carry it. The types of providers can have spaces inside."`
}

// changeEventTypeBody describes a change of a type.
type changeEventTypeBody struct {
	resource.EventTypeBody

	// Name is refused if it is another. The document leaves it out.
	Name *string `json:"name,omitempty"`
}

func (a *API) addEventTypeRoutes() {
	registerJSON(a, route{
		method: post, path: "/event-types", needs: gateway.PermConfigure, status: 201, required: []string{"name"},
		id: "createEventType", tag: tagEventTypes, summary: "Declare an event type",
		about: "A type need not be declared to be used.",
	}, a.createEventType)
	register(a, route{
		method: get, path: "/event-types", needs: read, status: 200,
		id: "listEventTypes", tag: tagEventTypes, summary: "List declared event types", about: "By name, in the order of its bytes.",
	}, a.listEventTypes)
	register(a, route{
		method: get, path: "/event-types/{name}", needs: read, status: 200,
		id: "getEventType", tag: tagEventTypes, summary: "Get an event type",
	}, a.getEventType)
	registerJSON(a, route{
		method: patch, path: "/event-types/{name}", needs: gateway.PermConfigure, status: 200,
		id: "updateEventType", tag: tagEventTypes, summary: "Change an event type",
		about: "Fields that are left out stay as they are. What was accepted before is not asked again.",
	}, a.updateEventType)
	register(a, route{
		method: remove, path: "/event-types/{name}", needs: gateway.PermConfigure, status: 204,
		id: "deleteEventType", tag: tagEventTypes, summary: "Delete an event type",
		about: "Takes the declaration away. Events of the type can still come; nothing is asked of them, and they repeat.",
	}, a.deleteEventType)
}

func (a *API) listEventTypes(ctx context.Context, who caller, in *PageQuery) (*listReply[eventTypeView], error) {
	after := ""
	if in.Cursor != "" {
		position, err := decodeTextCursor(eventTypeList, in.Cursor)
		if err != nil {
			return nil, err
		}
		after = string(position)
	}
	types, err := a.Store.EventTypes(ctx, who.account(), after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	position := func(t gateway.EventType) []byte { return []byte(t.Name) }
	return reply(eventTypeList, *in, types, position, viewEventType), nil
}

func (a *API) createEventType(ctx context.Context, who caller, _ *nothing, body newEventTypeBody) (*objectReply[eventTypeView], error) {
	made, err := a.EventTypes.Create(ctx, who.account(), who.actor(), body.Input(body.Name))
	return object(made, err, viewEventType)
}

func (a *API) getEventType(ctx context.Context, who caller, in *eventTypePath) (*objectReply[eventTypeView], error) {
	t, err := a.Store.EventType(ctx, who.account(), in.typeName())
	return object(t, err, viewEventType)
}

func (a *API) updateEventType(ctx context.Context, who caller, in *eventTypePath, body changeEventTypeBody) (*objectReply[eventTypeView], error) {
	changed, err := a.EventTypes.Update(ctx, who.account(), who.actor(), in.typeName(), body.Input(body.Name))
	return object(changed, err, viewEventType)
}

func (a *API) deleteEventType(ctx context.Context, who caller, in *eventTypePath) (*empty, error) {
	return &empty{}, a.EventTypes.Delete(ctx, who.account(), who.actor(), in.typeName())
}
