package gateway

import (
	"time"
)

// AuditEntry is one line of the audit log: who did what, to which object.
type AuditEntry struct {
	ID        AuditID
	AccountID AccountID
	Actor     Actor
	// ActorName is the person's or the key's name; empty when it is not known.
	ActorName string
	// Action is such as "endpoint.pause".
	Action string
	// Object is the id of what was acted on.
	Object string
	// Detail is what is to be known besides; often empty.
	Detail    string
	CreatedAt time.Time
}

// User is the person's id, if the actor is one.
func (a Actor) User() (UserID, bool) { return actorID[UserID](a) }

// Key is the API key's id, if the actor is one.
func (a Actor) Key() (KeyID, bool) { return actorID[KeyID](a) }

func actorID[I AnyID](a Actor) (I, bool) {
	id, err := ParseID[I](string(a))
	return id, err == nil
}
