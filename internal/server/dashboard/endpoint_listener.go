package dashboard

import (
	"net/url"
	"strconv"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
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

// paramListener has a stream tell of who listens for its endpoint: how that stood
// when the page was drawn.
const paramListener = "listener"

// liveOfListener is liveOfEndpoint, and hears who listens. A database that does not
// tell is no reason to show no page.
func (v *visit) liveOfListener(id gateway.EndpointID) *layout.Live {
	standing, err := v.listenerStanding(id)
	if err != nil {
		v.d.Log.WarnContext(v.ctx(), "page without the standing of its listener", "error", err)
	}
	query := url.Values{paramEndpoint: {id.String()}, paramListener: {strconv.FormatUint(uint64(standing), 10)}}
	return v.liveOf(v.at("stream")+"?"+query.Encode(), &id)
}

// lookAtListener is a number that changes with who listens, zero while it is who did
// when the page was drawn.
func (v *visit) lookAtListener(w *watch) (int64, error) {
	if w.listener == nil || w.endpoint == nil {
		return 0, nil
	}
	standing, err := v.listenerStanding(*w.endpoint)
	if err != nil || standing == *w.listener {
		return 0, err
	}
	return int64(standing), nil
}

// listenerStanding is a number that changes with who listens.
func (v *visit) listenerStanding(id gateway.EndpointID) (uint32, error) {
	found, err := v.d.Store.Listeners(v.ctx(), v.account(), []gateway.EndpointID{id})
	l := found[id]
	return standing(l.ID, l.Connected, l.ConnectedAt.UnixMicro()), err
}
