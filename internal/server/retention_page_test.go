package server_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/server/dashboard"
)

func TestRetentionPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, func(d *server.Deps) {
		d.Limits = dashboard.Limits{Endpoints: 4, StoredBytes: 1 << 30, DedupeWindow: 72 * time.Hour, ClaimRetention: 90 * 24 * time.Hour}
	})
	w, other := b.signedUp(t, "Acme"), b.signedUp(t, "Other")
	n := w.tenant()
	for range 3 {
		n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere})
	}
	id := text(n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere}), "id")
	n.must(204, http.MethodDelete, "/endpoints/"+id, nil)
	w.process(t, n.publish(`{"type":"order.created","data":{"n":1}}`))
	p := w.get(w.home + "/settings/retention")
	p.wantText("#kept", "Events, deliveries, attempts30 d")
	p.wantText("#kept", "Keys by which repeats are known3 d")
	p.wantText("#limits li:nth-child(1)", "3 of 4")
	p.wantText("#limits li:nth-child(2)", "7 B of 1.1 GB")
	p.wantText("#limits li:nth-child(3)", "no limit")
	other.get(other.home+"/settings/retention").wantText("#limits li:nth-child(1)", "0 of 4")
}
