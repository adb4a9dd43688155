package page

import (
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// ListenedFor stands where the address of an endpoint would, if it had one.
const ListenedFor = "rowlock listen"

// EndpointListener is who makes the attempts of an endpoint that has no address.
type EndpointListener struct {
	// Ever tells that somebody listened before, or does; Connected that they do.
	Ever, Connected bool
	// Host is the machine that it runs on, since when, and when it was heard last.
	Host                string
	ConnectedAt, SeenAt time.Time
	// Server is the address to connect to, Name what to call the endpoint there.
	Server, Name string
}

// listens tells that the endpoint has no address, and is listened for.
func (v Endpoint) listens() bool { return v.Endpoint.Kind == gateway.EndpointListen }

// command is what has to be typed to listen. The key is for a person to fill in.
func (l EndpointListener) command() string {
	return "export ROWLOCK_SERVER=" + l.Server + "\n" +
		"export ROWLOCK_API_KEY=rk_…\n" +
		"rowlock listen --endpoint " + l.Name + " --forward-to http://localhost:3000/"
}

// status says who listens, or did last.
func (l EndpointListener) status(now time.Time) string {
	host := component.Visible(l.Host)
	if host == "" {
		host = "a machine without a name"
	}
	switch {
	case l.Connected:
		return "Connected from " + host + " since " + ClockText(l.ConnectedAt, now) + "."
	case l.Ever:
		return "Nobody listens. " + host + " was heard last, " + agoWords(now, l.SeenAt) + "."
	default:
		return "Nobody has listened yet."
	}
}
