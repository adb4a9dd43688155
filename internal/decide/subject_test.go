package decide_test

import (
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// declare declares a type of an account as single-fire, or not.
func (b *bundle) declare(t *testing.T, account gateway.AccountID, name string, single bool) {
	t.Helper()
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateEventType(t.Context(), account, gateway.EventType{Name: name, SingleFire: single, OnDoubt: gateway.OnDoubtResend}, 9)
		return err
	})
}

func TestSingleFireNeedsASubject(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	b.declare(t, b.account, "once", true)
	b.declare(t, b.account, "often", false)
	other, _ := b.newAccount(t, "other")
	b.declare(t, other, "theirs", true)
	lacking, named := b.accept(t, 2, "once"), b.accept(t, 1, "once")
	b.exec(t, `UPDATE events SET subject = 's' WHERE id = $1`, named[0])
	repeating := append(b.accept(t, 1, "often"), b.accept(t, 1, "theirs")...)
	all := append(append(append([]gateway.EventID{}, lacking...), named...), repeating...)
	for range 2 {
		b.process(t, all...)
	}
	b.wantStatus(t, gateway.EventRuleError, lacking...)
	b.wantStatus(t, gateway.EventProcessed, append(named, repeating...)...)
	b.wantCount(t, 3, `SELECT count(*) FROM deliveries`)
	b.wantUsage(t, len(all))
	if e := b.event(t, lacking[0]); !strings.HasPrefix(e.Decision, "subject_required: once ") || !strings.Contains(e.Decision, "process the event again") {
		t.Errorf("decision %q", e.Decision)
	}
	// The type repeats now: the event can be processed again, and is counted once.
	b.in(t, func(tx store.Tx) error {
		_, err := tx.UpdateEventType(t.Context(), b.account, gateway.EventType{Name: "once", OnDoubt: gateway.OnDoubtResend})
		return err
	})
	if err := b.Reprocess(t.Context(), b.account, actor, lacking[0]); err != nil {
		t.Fatal(err)
	}
	b.process(t, lacking[0])
	b.wantStatus(t, gateway.EventProcessed, lacking[0])
	b.wantUsage(t, len(all))
}

// What a paused source holds is asked when it is resumed.
func TestPausedSourceHoldsWhatLacksASubject(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	b.declare(t, b.account, "once", true)
	ids := b.accept(t, 1, "once")
	b.exec(t, `UPDATE sources SET state = 'paused' WHERE id = $1`, b.source)
	b.process(t, ids...)
	b.wantStatus(t, gateway.EventHeld, ids...)
	b.exec(t, `UPDATE sources SET state = 'active' WHERE id = $1`, b.source)
	b.exec(t, `UPDATE events SET status = 'accepted'`)
	b.process(t, ids...)
	b.wantStatus(t, gateway.EventRuleError, ids...)
}
