package deliver_test

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
)

// What is signed by hand is what an attempt would send at that moment, save the
// endpoint's own headers, which may be secrets.
func TestSign(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL, func(e *gateway.Endpoint) {
		e.Headers = gateway.EncodeHeaders(http.Header{"Authorization": {"Bearer hunter2"}, "X-Tenant": {"hunter3"}})
	})
	id := b.publish(t, e, 1)[0]
	d := b.untilStatus(t, id, gateway.DeliveryDelivered)
	before := b.clock.Now().Truncate(time.Second)
	wire, err := b.Sign(t.Context(), b.account, actor, id, 1)
	if err != nil {
		t.Fatal(err)
	}
	header := gateway.DecodeHeaders(wire)
	sent := r.requests()[0]
	for _, name := range []string{"Webhook-Id", "Idempotency-Key", "Rowlock-Event-Type", "Rowlock-Attempt", "Content-Type", "User-Agent"} {
		if header.Get(name) == "" || header.Get(name) != sent.header.Get(name) {
			t.Errorf("%s is %q, and was sent as %q", name, header.Get(name), sent.header.Get(name))
		}
	}
	if header.Get("Authorization") != gateway.Redacted || header.Get("X-Tenant") != gateway.Redacted || strings.Contains(string(wire), "hunter") {
		t.Errorf("headers\n%s", wire)
	}
	if unix, err := strconv.ParseInt(header.Get("Webhook-Timestamp"), 10, 64); err != nil || time.Unix(unix, 0).Before(before) {
		t.Errorf("timestamp %d, %v", unix, err)
	}
	sent.header = header
	if !verify(t, sent, b.secrets(t, e)[0]) {
		t.Errorf("signature %q does not verify", header.Get("Webhook-Signature"))
	}
	if audit := b.audit(t); !slices.Equal(audit, []string{"delivery.sign attempt 1"}) {
		t.Errorf("audit %q", audit)
	}
	if now := b.delivery(t, id); now.Status != d.Status || now.Attempts != d.Attempts {
		t.Errorf("it changed to %+v", now)
	}
}

func TestSignRefuses(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	r := newReceiver(t, status(200))
	e := b.endpoint(t, r.URL)
	ids := b.publish(t, e, 2)
	for _, id := range ids {
		b.untilStatus(t, id, gateway.DeliveryDelivered)
	}
	refused := func(what string, want error, account gateway.AccountID, id gateway.DeliveryID, n int) {
		t.Helper()
		if wire, err := b.Sign(t.Context(), account, actor, id, n); !errors.Is(err, want) || wire != nil {
			t.Errorf("%s: %q, %v, want %v", what, wire, err, want)
		}
	}
	refused("no attempt", gateway.ErrNotFound, b.account, ids[0], 0)
	refused("one that was not made", gateway.ErrNotFound, b.account, ids[0], 2)
	refused("another account", gateway.ErrNotFound, b.newAccount(t, "other"), ids[0], 1)
	if err := b.DeletePayload(t.Context(), b.account, actor, b.delivery(t, ids[0]).EventID); err != nil {
		t.Fatal(err)
	}
	refused("no payload", gateway.ErrPayloadGone, b.account, ids[0], 1)
	b.exec(t, `UPDATE endpoint_secrets SET ends_at = clock_timestamp() WHERE endpoint_id = $1`, e.ID)
	refused("no secret", deliver.ErrUnsignable, b.account, ids[1], 1)
	b.exec(t, `UPDATE endpoints SET deleted_at = clock_timestamp(), uid = NULL WHERE id = $1`, e.ID)
	refused("a deleted endpoint", gateway.ErrNotActive, b.account, ids[1], 1)
	if audit := b.audit(t); len(audit) != 1 {
		t.Errorf("audit %q, want the deletion alone", audit)
	}
}
