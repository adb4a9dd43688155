package gateway

import (
	"fmt"
	"time"
)

// EndpointKind says how an endpoint gets its deliveries.
type EndpointKind string

// The kinds of endpoints.
const (
	// EndpointHTTP is sent to at its URL.
	EndpointHTTP EndpointKind = "http"
	// EndpointListen has no URL: a program asks for its deliveries and makes the
	// attempts in our place.
	EndpointListen EndpointKind = "listen"
)

const (
	// ListenerGone is how long a listener may be silent and still count as
	// connected: it is heard every few seconds, and a lost connection is made
	// anew within it.
	ListenerGone = 15 * time.Second
	// MaxListenerHost bounds the name of the machine that a listener runs on, in
	// characters.
	MaxListenerHost = 100
)

// Listener is a program that makes the attempts of an endpoint of the kind
// listen.
type Listener struct {
	// ID is its own name for this run of it.
	ID string
	// Host is the machine that it runs on, as it says.
	Host string
	// ConnectedAt is when it came, SeenAt when it was heard last.
	ConnectedAt, SeenAt time.Time
	// Connected tells that it is there now.
	Connected bool
}

// IsListenerID tells whether a text can be a listener's own name: 16 to 64
// letters, digits, hyphens and underscores.
func IsListenerID(text string) bool {
	if len(text) < 16 || len(text) > 64 {
		return false
	}
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// ListenerHeldError tells who listens for an endpoint already. It is
// ErrListenerConnected.
type ListenerHeldError struct{ Listener }

// Error names the machine, and since when.
func (e *ListenerHeldError) Error() string {
	return fmt.Sprintf("another listener is connected from %q since %s", e.Host, e.ConnectedAt.UTC().Format(time.RFC3339))
}

// Is makes it ErrListenerConnected.
func (e *ListenerHeldError) Is(target error) bool { return target == ErrListenerConnected }
