package gateway

import (
	"strings"
	"time"
)

// AuditEntry is one line of the audit log: who did what, to which object.
type AuditEntry struct {
	ID    AuditID
	Actor Actor
	// ActorName is the person's or the key's name; empty when it is not known.
	ActorName string
	// Action is such as "endpoint.pause".
	Action string
	// Object is the id of what was acted on.
	Object string
	// Detail is what is to be known besides; often empty.
	Detail string
	// Refused tells that they tried and may not: nothing was done.
	Refused bool

	Origin

	CreatedAt time.Time
}

// Area is what an action is about: its first word.
func (e AuditEntry) Area() string { return AreaOf(e.Action) }

// AreaOf is what an action is about.
func AreaOf(action string) string {
	area, _, _ := strings.Cut(action, ".")
	return area
}

// AreaLogIn is what people do to their log-ins.
const AreaLogIn = "login"

// AuditAreas are what actions in accounts are about.
var AuditAreas = []string{
	"account", "alerts", "claim", "delivery", "endpoint", "event", "event_type", "export", "failures", "key", "login",
	"member", "operation", "person", "reconciliation", "request", "retention", "source", "view",
}

// InstanceAuditAreas are those of the instance's log.
var InstanceAuditAreas = []string{"account", "export", "invitation", "job", "login", "mail", "person"}

// User is the person's id, if the actor is one.
func (a Actor) User() (UserID, bool) { return actorID[UserID](a) }

// Key is the API key's id, if the actor is one.
func (a Actor) Key() (KeyID, bool) { return actorID[KeyID](a) }

func actorID[I AnyID](a Actor) (I, bool) {
	id, err := ParseID[I](string(a))
	return id, err == nil
}
