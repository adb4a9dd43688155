package operate_test

import (
	"fmt"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Of what an endpoint never got, what its filter refuses is not made for it.
func TestRecoverMissingAsksTheFilter(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := b.events(t, 30, eventType, gateway.EventNoEndpoints)
	for n, id := range ids {
		b.exec(t, `UPDATE event_bodies SET body = $2 WHERE id = $1`, id, []byte(fmt.Sprintf(`{"n":%d}`, n)))
	}
	b.exec(t, `UPDATE event_bodies SET body = 'no JSON' WHERE id = $1`, ids[29])
	e := b.endpoint(t, "http://127.0.0.1:1/")
	b.exec(t, `UPDATE endpoints SET filter = 'body.n % 3 == 0' WHERE id = $1`, e)
	b.wantCounted(t, 10, b.missing(e))
	r := b.missing(e)
	r.PerSecond = 7
	if o := b.work(t, b.start(t, r)); o.State != gateway.OperationDone || o.Total != 10 || o.Done != 10 {
		t.Errorf("%+v", o)
	}
	b.wantCount(t, 10, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, e)
	b.wantCount(t, 20, `SELECT count(*) FROM events WHERE status = 'no_endpoints'`)
	b.wantCounted(t, 0, b.missing(e))

	b.exec(t, `UPDATE endpoints SET filter = 'no filter' WHERE id = $1`, e)
	b.wantCounted(t, 0, b.missing(e))
	b.in(t, func(tx store.Tx) error { return tx.DeleteEndpoint(t.Context(), b.account, e) })
}
