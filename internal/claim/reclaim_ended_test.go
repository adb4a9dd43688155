package claim_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/claim"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// stuck claims n keys of a scope whose leases are over.
func (b bundle) stuck(t *testing.T, scope string, n int) (claims []gateway.Claim) {
	t.Helper()
	for i := range n {
		in := asking(fmt.Sprint(scope, i))
		in.Scope = scope
		c := b.claim(t, in)
		b.endLease(t, c.ID)
		claims = append(claims, c)
	}
	return claims
}

// ended are all claims whose lease has ended by now.
func (b bundle) ended() store.EndedClaims { return store.EndedClaims{Until: b.clock.Now()} }

// What has ended is freed, and nothing else: neither what is live, done or
// another account's, nor what a filter leaves out.
func TestReclaimEnded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	mails, charges := b.stuck(t, "mails", 3), b.stuck(t, "charges", 2)
	live, done := b.claim(t, asking("live")), b.claim(t, asking("done"))
	if err := second(b.Complete(t.Context(), b.account, done.ID, done.Fence, nil)); err != nil {
		t.Fatal(err)
	}
	b.endLease(t, done.ID)
	other := b
	other.account = b.newAccount(t, "other")
	theirs := other.stuck(t, "mails", 1)
	reclaim := func(e store.EndedClaims, want int) {
		t.Helper()
		counted, err := b.store.CountEnded(t.Context(), b.account, e, 99)
		if err != nil || counted != want {
			t.Errorf("%+v: %d are counted, want %d; %v", e, counted, want, err)
		}
		got, err := b.ReclaimEnded(t.Context(), b.account, actor, e, reason)
		if err != nil || got != (claim.Reclaimed{N: want}) {
			t.Errorf("%+v: reclaimed %+v, want %d; %v", e, got, want, err)
		}
	}
	reclaim(store.EndedClaims{Until: b.clock.Now().Add(-time.Hour)}, 0)
	one, scoped, named := b.ended(), b.ended(), b.ended()
	one.IDs, scoped.Scope, named.Text = []gateway.ClaimID{mails[0].ID, live.ID, done.ID, theirs[0].ID}, "charges", "mails1"
	reclaim(one, 1)
	reclaim(scoped, 2)
	reclaim(named, 1)
	reclaim(b.ended(), 1)
	reclaim(b.ended(), 0)
	for _, c := range append(mails, charges...) {
		now, holds := b.read(t, c.ID)
		if now.State != gateway.ClaimReleased || holds[0].Ended != gateway.HoldReclaimed || holds[0].Actor != actor || holds[0].Reason != reason {
			t.Errorf("%s is %+v, held by %+v", c.Key, now, holds)
		}
		b.wantAudited(t, c, "claim.reclaim", 1)
		if _, err := b.Complete(t.Context(), b.account, c.ID, c.Fence, nil); !errors.Is(err, gateway.ErrFenceStale) {
			t.Errorf("its holder completes it all the same: %v", err)
		}
	}
	for id, want := range map[gateway.ClaimID]gateway.ClaimState{live.ID: gateway.ClaimInProgress, done.ID: gateway.ClaimDone} {
		if now, _ := b.read(t, id); now.State != want {
			t.Errorf("%s is %s, want %s", id, now.State, want)
		}
	}
	if now, _ := other.read(t, theirs[0].ID); now.State != gateway.ClaimInProgress {
		t.Error("another account's claim was freed")
	}
}

// Twenty who press at once free each once between them, in more than one batch,
// and nobody who claims meanwhile loses what they hold.
func TestReclaimEndedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const n = 130
	claims, until := b.stuck(t, "mails", n), b.ended()
	var freed, again atomic.Int32
	pgtest.AtOnce(20, func(i int) {
		if i%2 == 0 { // somebody goes on with one
			in := asking(claims[i].Key)
			if _, err := b.Claim(t.Context(), b.account, in); err == nil {
				again.Add(1)
			} else if !errors.Is(err, gateway.ErrClaimInProgress) {
				t.Error(err)
			}
		}
		done, err := b.ReclaimEnded(t.Context(), b.account, actor, until, reason)
		if err != nil || done.More {
			t.Errorf("%+v, %v", done, err)
		}
		freed.Add(int32(done.N))
	})
	if again.Load() != 10 {
		t.Errorf("%d were claimed again, want 10", again.Load())
	}
	entries := 0
	for _, c := range claims {
		now, holds := b.read(t, c.ID)
		last := holds[len(holds)-1]
		switch {
		case len(holds) == 1 && now.State == gateway.ClaimReleased && last.Ended == gateway.HoldReclaimed:
			entries++
		case len(holds) == 2 && now.State == gateway.ClaimInProgress && now.Fence == 2:
			if last.Ended == gateway.HoldReclaimed {
				entries++
			}
		default:
			t.Errorf("%s is %+v, held by %+v", c.Key, now, holds)
		}
	}
	if int(freed.Load()) != entries {
		t.Errorf("%d were freed, and %d say so", freed.Load(), entries)
	}
	if got := pgtest.Count(t, b.pool, `SELECT count(*) FROM audit_log WHERE action = 'claim.reclaim'`); got != entries {
		t.Errorf("%d entries of the audit log, want %d", got, entries)
	}
}

func TestReclaimEndedWithoutAReason(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.stuck(t, "mails", 1)[0]
	if _, err := b.ReclaimEnded(t.Context(), b.account, actor, b.ended(), " "); err == nil {
		t.Error("it was freed without a reason")
	}
	if now, _ := b.read(t, c.ID); now.State != gateway.ClaimInProgress {
		t.Errorf("it is %s", now.State)
	}
}
