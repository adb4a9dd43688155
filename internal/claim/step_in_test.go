package claim_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// wantAudited fails unless an action on a claim was written down so often.
func (b bundle) wantAudited(t *testing.T, c gateway.Claim, action string, want int) {
	t.Helper()
	entries, err := b.store.AuditOf(t.Context(), b.account, []string{c.ID.String()}, 100)
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for _, e := range entries {
		if e.Action == action && e.Actor == actor && strings.HasSuffix(e.Detail, reason) {
			got++
		}
	}
	if got != want {
		t.Errorf("%s was written down %d times, want %d", action, got, want)
	}
}

func TestReclaim(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.claim(t, asking("k"))
	if _, err := b.Reclaim(t.Context(), b.account, actor, c.ID, c.Fence+1, reason); !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("of a holder that was not seen: %v", err)
	}
	free, err := b.Reclaim(t.Context(), b.account, actor, c.ID, c.Fence, reason)
	if err != nil || free.State != gateway.ClaimReleased {
		t.Fatalf("reclaimed %+v, %v", free, err)
	}
	if _, err := b.Reclaim(t.Context(), b.account, actor, c.ID, 0, reason); !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("again: %v", err)
	}
	if _, err := b.Complete(t.Context(), b.account, c.ID, c.Fence, nil); !errors.Is(err, gateway.ErrFenceStale) {
		t.Errorf("the holder completes it all the same: %v", err)
	}
	if next := b.claim(t, asking("k")); next.Fence != c.Fence+1 {
		t.Errorf("the next holder has fence %d", next.Fence)
	}
	if _, holds := b.read(t, c.ID); len(holds) != 2 || holds[1].Ended != gateway.HoldReclaimed || holds[1].Actor != actor || holds[1].Reason != reason {
		t.Errorf("held by %+v", holds)
	}
	b.wantAudited(t, c, "claim.reclaim", 1)
}

// Twenty presses of those who all saw one holder free it once, and nobody who
// came after it.
func TestReclaimAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.claim(t, asking("k"))
	var freed atomic.Int32
	pgtest.AtOnce(20, func(int) {
		switch _, err := b.Reclaim(t.Context(), b.account, actor, c.ID, c.Fence, reason); {
		case err == nil:
			freed.Add(1)
			b.claim(t, asking("k"))
		case !errors.Is(err, gateway.ErrStateChanged):
			t.Error(err)
		}
	})
	if now, _ := b.read(t, c.ID); freed.Load() != 1 || now.State != gateway.ClaimInProgress || now.Fence != c.Fence+1 {
		t.Errorf("freed %d times, now %+v", freed.Load(), now)
	}
	b.wantAudited(t, c, "claim.reclaim", 1)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.claim(t, asking("k"))
	if _, err := b.Resolve(t.Context(), b.account, actor, c.ID, c.Fence+1, reason); !errors.Is(err, gateway.ErrFenceStale) {
		t.Errorf("with another fence: %v", err)
	}
	var resolved atomic.Int32
	pgtest.AtOnce(20, func(int) {
		switch now, err := b.Resolve(t.Context(), b.account, actor, c.ID, c.Fence, reason); {
		case err == nil && now.State == gateway.ClaimDone:
			resolved.Add(1)
		case !errors.Is(err, gateway.ErrStateChanged):
			t.Errorf("%+v, %v", now, err)
		}
	})
	if resolved.Load() != 1 {
		t.Errorf("resolved %d times", resolved.Load())
	}
	if now := b.claim(t, asking("k")); now.State != gateway.ClaimDone || now.Result != nil {
		t.Errorf("claimed when it is done: %+v", now)
	}
	if _, err := b.Complete(t.Context(), b.account, c.ID, c.Fence, nil); !errors.Is(err, gateway.ErrFenceStale) {
		t.Errorf("the holder completes it all the same: %v", err)
	}
	b.wantAudited(t, c, "claim.resolve", 1)

	free := b.claim(t, asking("free"))
	if err := second(b.Release(t.Context(), b.account, free.ID, free.Fence)); err != nil {
		t.Fatal(err)
	}
	if now, err := b.Resolve(t.Context(), b.account, actor, free.ID, free.Fence, reason); err != nil || now.State != gateway.ClaimDone {
		t.Errorf("of what nobody holds: %+v, %v", now, err)
	}
}

func TestStepInWithoutAReason(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.claim(t, asking("k"))
	for _, why := range []string{"", " \n", "a\x00", strings.Repeat("a", gateway.MaxReason+1)} {
		_, reclaim := b.Reclaim(t.Context(), b.account, actor, c.ID, 0, why)
		_, resolve := b.Resolve(t.Context(), b.account, actor, c.ID, c.Fence, why)
		for _, err := range []error{reclaim, resolve} {
			if _, invalid := errors.AsType[*gateway.InvalidError](err); !invalid {
				t.Errorf("%.9q: %v", why, err)
			}
		}
	}
}
