package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// listeners are who listens for endpoints, or did last.
func (v *visit) listeners(endpoints []gateway.Endpoint) (map[gateway.EndpointID]gateway.Listener, error) {
	var ids []gateway.EndpointID
	for i := range endpoints {
		if endpoints[i].Kind == gateway.EndpointListen {
			ids = append(ids, endpoints[i].ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // nobody can
	}
	return v.d.Store.Listeners(v.ctx(), v.account(), ids)
}

// listenerOf is who makes the attempts of an endpoint that has no address.
func (v *visit) listenerOf(e gateway.Endpoint) (page.EndpointListener, error) {
	found, err := v.listeners([]gateway.Endpoint{e})
	l, ever := found[e.ID]
	shown := page.EndpointListener{
		Ever: ever, Connected: l.Connected, Host: l.Host, ConnectedAt: l.ConnectedAt, SeenAt: l.SeenAt,
		Server: v.d.BaseURL, Name: e.ID.String(),
	}
	if e.UID != nil {
		shown.Name = *e.UID
	}
	return shown, err
}
