package deliver_test

import (
	"errors"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// A lane that sleeps, and one that nothing would wake, send at once when they
// are woken. Twice is no more than once.
func TestWakeLane(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, set := range map[string]string{
		"sleeps":  `sleep_until = now() + interval '1 hour', wake_at = now() + interval '1 hour'`,
		"forgets": `wake_at = NULL`,
	} {
		e := b.endpoint(t, newReceiver(t, status(200)).URL)
		id := b.queue(t, e, 1)[0]
		b.exec(t, `UPDATE lanes SET `+set+` WHERE endpoint_id = $1`, e.ID)
		for range 2 {
			if err := b.WakeLane(t.Context(), e.AccountID, "me", e.ID); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		b.untilStatus(t, id, gateway.DeliveryDelivered)
		b.untilReleased(t, e)
		if n := len(b.attempts(t, id)); n != 1 {
			t.Errorf("%s: %d attempts, want one", name, n)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM audit_log WHERE action = 'endpoint.wake' AND actor = 'me'`); n != 4 {
		t.Errorf("the audit log tells of %d, want 4", n)
	}
}

func TestWakeLaneOfNobody(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.endpoint(t, "https://example.com/")
	b.exec(t, `UPDATE lanes SET wake_at = NULL`)
	if err := b.WakeLane(t.Context(), b.newAccount(t, "other"), "me", e.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account's: %v, want ErrNotFound", err)
	}
	if n := b.count(t, `SELECT (SELECT count(*) FROM audit_log WHERE action = 'endpoint.wake') + (SELECT count(*) FROM lanes WHERE wake_at IS NOT NULL)`); n != 0 {
		t.Error("it was woken, or noted")
	}
}
