package server_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server"
)

// Requests with events, and no others, are spans; which trace an event is in is
// shown by its page and by the API.
func TestTraceOfAnEventIsShown(t *testing.T) {
	t.Parallel()
	span := gateway.Span{Trace: [16]byte{0x4b, 0xf9, 15: 0x36}, ID: [8]byte{1}}
	const trace = "4bf90000000000000000000000000036"
	var began, refused, accepted atomic.Int32
	b := newBundle(t, withPages, func(d *server.Deps) {
		d.Trace = func(via string, header http.Header) (gateway.Span, func(int)) {
			if began.Add(1); via != "api" || header.Get("Authorization") == "" {
				t.Errorf("a span of %s", via)
			}
			return span, func(status int) {
				if status == http.StatusAccepted {
					accepted.Add(1)
				} else {
					refused.Add(1)
				}
			}
		}
	})
	owner := b.signedUp(t, "Acme")
	n := owner.tenant()
	id := n.publish(`{"type":"a.b","data":1}`)
	n.call(http.MethodPost, "/events", `{}`)
	if got := text(n.must(200, http.MethodGet, "/events/"+id, nil), "trace_id"); got != trace {
		t.Errorf("the API shows %q", got)
	}
	p := owner.get(owner.home + "/events/" + id)
	p.wantStatus(http.StatusOK)
	if shown := p.Find("#trace code").Text(); shown != trace {
		t.Errorf("the page shows %q", shown)
	}
	if began.Load() != 2 || accepted.Load() != 1 || refused.Load() != 1 {
		t.Errorf("%d spans began; %d ended as accepted, %d as refused", began.Load(), accepted.Load(), refused.Load())
	}
}
