package claim_test

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/claim"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

func TestClaim(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.claim(t, asking("k"))
	if c.State != gateway.ClaimInProgress || c.Fence != 1 || c.Holder != "w1" || c.LeaseExpiresAt.Sub(c.ClaimedAt).Round(time.Second) != 30*time.Second {
		t.Errorf("claimed %+v", c)
	}
	_, err := b.Claim(t.Context(), b.account, asking("k"))
	var held *claim.HeldError
	if !errors.As(err, &held) || !errors.Is(err, gateway.ErrClaimInProgress) || held.Claim.ID != c.ID || held.Left <= 25*time.Second {
		t.Errorf("a second claimer: %v", err)
	}
	other := asking("k")
	other.Scope = "charges"
	if b.claim(t, other).ID == c.ID {
		t.Error("two scopes share a key")
	}
	b.account = b.newAccount(t, "other")
	if b.claim(t, asking("k")).ID == c.ID {
		t.Error("two accounts share a key")
	}
}

func TestClaimRefuses(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, change := range map[string]func(*claim.Input){
		"scope":           func(in *claim.Input) { in.Scope = "" },
		"id as scope":     func(in *claim.Input) { in.Scope = gateway.EndpointID(b.clock.NewID()).String() },
		"spoken scope":    func(in *claim.Input) { in.Scope = "two words" },
		"key":             func(in *claim.Input) { in.Key = "" },
		"long key":        func(in *claim.Input) { in.Key = strings.Repeat("k", gateway.MaxClaimKey+1) },
		"NUL":             func(in *claim.Input) { in.Key = "a\x00b" },
		"short lease":     func(in *claim.Input) { in.Lease = time.Second - 1 },
		"long lease":      func(in *claim.Input) { in.Lease = 24*time.Hour + 1 },
		"holder":          func(in *claim.Input) { in.Holder = "\xff" },
		"idempotency key": func(in *claim.Input) { in.CallKey = "\xff" },
	} {
		in := asking("k")
		change(&in)
		_, err := b.Claim(t.Context(), b.account, in)
		if _, invalid := errors.AsType[*gateway.InvalidError](err); !invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two hundred at once: one holds it, and all others are told so.
func TestClaimAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var won, held atomic.Int32
	round := func() {
		won.Store(0)
		held.Store(0)
		pgtest.AtOnce(200, func(int) {
			switch _, err := b.Claim(t.Context(), b.account, asking("k")); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, gateway.ErrClaimInProgress):
				held.Add(1)
			default:
				t.Error(err)
			}
		})
		if won.Load() != 1 || held.Load() != 199 {
			t.Errorf("%d hold it, %d were told", won.Load(), held.Load())
		}
	}
	round()
	_, err := b.Claim(t.Context(), b.account, asking("k"))
	var now *claim.HeldError
	if !errors.As(err, &now) {
		t.Fatal(err)
	}
	b.endLease(t, now.Claim.ID)
	round() // of an ended lease
	if c, holds := b.read(t, now.Claim.ID); c.Fence != 2 || len(holds) != 2 {
		t.Errorf("fence %d after two holders, %d written down", c.Fence, len(holds))
	}
}

func TestAskAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	in := asking("k")
	in.CallKey = "call-1"
	first := b.claim(t, in)
	if again := b.claim(t, in); again.ID != first.ID || again.Fence != first.Fence || !again.LeaseExpiresAt.Equal(first.LeaseExpiresAt) {
		t.Errorf("asking again: %+v, want %+v", again, first)
	}
	in.CallKey = "call-2"
	if _, err := b.Claim(t.Context(), b.account, in); !errors.Is(err, gateway.ErrClaimInProgress) {
		t.Errorf("another call: %v", err)
	}
	in.CallKey = ""
	if _, err := b.Claim(t.Context(), b.account, in); !errors.Is(err, gateway.ErrClaimInProgress) {
		t.Errorf("a call without a key: %v", err)
	}
	b.endLease(t, first.ID)
	in.CallKey = "call-3"
	next := b.claim(t, in)
	in.CallKey = "call-1"
	if _, err := b.Claim(t.Context(), b.account, in); next.Fence != first.Fence+1 || !errors.Is(err, gateway.ErrClaimInProgress) {
		t.Errorf("the old holder asks again: fence %d, %v", next.Fence, err)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.claim(t, asking("k"))
	result := []byte(`{ "sent": 9007199254740993, "sent": [ ] }`)
	for range 2 { // whose answer was lost
		done, err := b.Complete(t.Context(), b.account, c.ID, c.Fence, result)
		if err != nil || done.State != gateway.ClaimDone || done.EndedAt == nil || !bytes.Equal(done.Result, result) {
			t.Errorf("completed %+v, %v", done, err)
		}
	}
	if again := b.claim(t, asking("k")); again.State != gateway.ClaimDone || !bytes.Equal(again.Result, result) || again.Fence != c.Fence {
		t.Errorf("claimed when it is done: %+v", again)
	}
	for name, err := range map[string]error{
		"release": second(b.Release(t.Context(), b.account, c.ID, c.Fence)),
		"extend":  second(b.Extend(t.Context(), b.account, c.ID, c.Fence, time.Minute)),
		"another": second(b.Complete(t.Context(), b.account, c.ID, c.Fence+1, nil)),
	} {
		if !errors.Is(err, gateway.ErrFenceStale) {
			t.Errorf("%s of what is done: %v", name, err)
		}
	}
	if _, err := b.Complete(t.Context(), b.account, c.ID, c.Fence, make([]byte, gateway.MaxClaimResult+1)); err == nil {
		t.Error("a result of any size is kept")
	}
	if _, holds := b.read(t, c.ID); len(holds) != 1 || holds[0].Ended != gateway.HoldCompleted || holds[0].EndedAt == nil {
		t.Errorf("held by %+v", holds)
	}
}

func second(_ gateway.Claim, err error) error { return err }

// Of all who complete, release and reclaim at once, one ends the claim.
func TestEndAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for range 20 {
		c := b.claim(t, asking(gateway.ClaimID(b.clock.NewID()).String()))
		var completed, released, reclaimed atomic.Int32
		count := func(n *atomic.Int32, err error) {
			if err == nil {
				n.Store(1)
			} else if !errors.Is(err, gateway.ErrFenceStale) && !errors.Is(err, gateway.ErrStateChanged) {
				t.Error(err)
			}
		}
		pgtest.AtOnce(9, func(i int) {
			switch i % 3 {
			case 0:
				count(&completed, second(b.Complete(t.Context(), b.account, c.ID, c.Fence, nil)))
			case 1:
				count(&released, second(b.Release(t.Context(), b.account, c.ID, c.Fence)))
			default:
				count(&reclaimed, second(b.Reclaim(t.Context(), b.account, actor, c.ID, 0, reason)))
			}
		})
		if completed.Load()+released.Load()+reclaimed.Load() != 1 {
			t.Errorf("%d completed, %d released, %d reclaimed it", completed.Load(), released.Load(), reclaimed.Load())
		}
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.claim(t, asking("k"))
	for range 2 {
		if free, err := b.Release(t.Context(), b.account, c.ID, c.Fence); err != nil || free.State != gateway.ClaimReleased {
			t.Errorf("released %+v, %v", free, err)
		}
	}
	next := b.claim(t, asking("k"))
	if next.ID != c.ID || next.Fence != c.Fence+1 || next.EndedAt != nil {
		t.Errorf("the next holder: %+v", next)
	}
	if _, err := b.Release(t.Context(), b.account, c.ID, c.Fence); !errors.Is(err, gateway.ErrFenceStale) {
		t.Errorf("the one before releases it again: %v", err)
	}
}

func TestExtend(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.claim(t, asking("k"))
	for range 2 {
		longer, err := b.Extend(t.Context(), b.account, c.ID, c.Fence, time.Hour)
		if err != nil || longer.LeaseExpiresAt.Before(c.LeaseExpiresAt.Add(59*time.Minute)) || longer.Fence != c.Fence {
			t.Errorf("extended %+v, %v", longer, err)
		}
	}
	if _, err := b.Extend(t.Context(), b.account, c.ID, c.Fence, 0); err == nil {
		t.Error("a lease of nothing")
	}
}

// A holder whose lease has ended may still finish, as long as nobody else has
// claimed it since; after that it can do nothing any more.
func TestStaleHolder(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	late := b.claim(t, asking("late"))
	b.endLease(t, late.ID)
	if _, err := b.Complete(t.Context(), b.account, late.ID, late.Fence, nil); err != nil {
		t.Errorf("late, and nobody else asked: %v", err)
	}
	c := b.claim(t, asking("k"))
	b.endLease(t, c.ID)
	b.claim(t, asking("k"))
	for name, err := range map[string]error{
		"complete": second(b.Complete(t.Context(), b.account, c.ID, c.Fence, nil)),
		"release":  second(b.Release(t.Context(), b.account, c.ID, c.Fence)),
		"extend":   second(b.Extend(t.Context(), b.account, c.ID, c.Fence, time.Minute)),
	} {
		if !errors.Is(err, gateway.ErrFenceStale) {
			t.Errorf("%s by the old holder: %v", name, err)
		}
	}
	now, holds := b.read(t, c.ID)
	if now.State != gateway.ClaimInProgress || now.Fence != 2 || len(holds) != 2 || holds[1].Ended != "" || holds[1].EndedAt != nil {
		t.Errorf("now %+v, held by %+v", now, holds)
	}
}

func TestNobodyElsesClaim(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.claim(t, asking("k"))
	stranger := b.newAccount(t, "other")
	for name, err := range map[string]error{
		"complete": second(b.Complete(t.Context(), stranger, c.ID, c.Fence, nil)),
		"release":  second(b.Release(t.Context(), stranger, c.ID, c.Fence)),
		"extend":   second(b.Extend(t.Context(), stranger, c.ID, c.Fence, time.Minute)),
		"reclaim":  second(b.Reclaim(t.Context(), stranger, actor, c.ID, 0, reason)),
		"resolve":  second(b.Resolve(t.Context(), stranger, actor, c.ID, c.Fence, reason)),
		"read":     second(b.store.Claim(t.Context(), stranger, c.ID)),
	} {
		if !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now, _ := b.read(t, c.ID); now.State != gateway.ClaimInProgress || now.Fence != c.Fence {
		t.Errorf("a stranger changed it: %+v", now)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	held, stuck, done, free := b.claim(t, asking("held")), b.claim(t, asking("stuck")), b.claim(t, asking("done")), b.claim(t, asking("free"))
	other := asking("held")
	other.Scope = "charges"
	charge := b.claim(t, other)
	b.endLease(t, stuck.ID)
	if _, err := b.Complete(t.Context(), b.account, done.ID, 1, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Release(t.Context(), b.account, free.ID, 1); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		filter store.ClaimFilter
		want   []gateway.Claim
	}{
		"all":         {store.ClaimFilter{}, []gateway.Claim{charge, free, done, stuck, held}},
		"scope":       {store.ClaimFilter{Scope: "charges"}, []gateway.Claim{charge}},
		"key":         {store.ClaimFilter{Key: "held"}, []gateway.Claim{charge, held}},
		"in progress": {store.ClaimFilter{State: gateway.ClaimInProgress}, []gateway.Claim{charge, stuck, held}},
		"done":        {store.ClaimFilter{State: gateway.ClaimDone}, []gateway.Claim{done}},
		"released":    {store.ClaimFilter{State: gateway.ClaimReleased}, []gateway.Claim{free}},
		"stuck":       {store.ClaimFilter{Stuck: true}, []gateway.Claim{stuck}},
		"subject":     {store.ClaimFilter{Subject: "held"}, nil},
	} {
		b.wantClaims(t, name, c.filter, c.want)
	}
	counts, err := b.store.CountClaims(t.Context(), b.account, 100)
	if want := (store.ClaimCounts{InProgress: 2, Stuck: 1, Released: 1}); err != nil || counts != want {
		t.Errorf("counted %+v, %v", counts, err)
	}
}

// wantClaims fails unless a list has these claims, read one by one.
func (b bundle) wantClaims(t *testing.T, name string, f store.ClaimFilter, want []gateway.Claim) {
	t.Helper()
	page := store.Page[gateway.ClaimID]{Limit: 1}
	for _, w := range want {
		got, err := b.store.Claims(t.Context(), b.account, f, page)
		if err != nil || len(got) != 1 || got[0].ID != w.ID {
			t.Fatalf("%s: %+v, %v, want %s", name, got, err, w.Key)
		}
		page.Before = &got[0].ID
	}
	if got, err := b.store.Claims(t.Context(), b.account, f, page); err != nil || len(got) != 0 {
		t.Errorf("%s: %+v more, %v", name, got, err)
	}
}

func TestWorkTimes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, seconds := range []int{1, 2, 3, 40} {
		c := b.claim(t, asking(time.Duration(seconds).String()))
		if _, err := b.Complete(t.Context(), b.account, c.ID, c.Fence, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := b.pool.Exec(t.Context(), `UPDATE claim_holds SET claimed_at = ended_at - make_interval(secs => $2) WHERE claim_id = $1`, c.ID, seconds); err != nil {
			t.Fatal(err)
		}
	}
	b.claim(t, asking("goes on"))
	week := b.clock.Now().Add(-7 * 24 * time.Hour)
	times, err := b.store.WorkTimes(t.Context(), b.account, []string{"mails", "none"}, week, 1000)
	if w := times["mails"]; err != nil || len(times) != 1 || w.N != 4 || w.Median != 2500*time.Millisecond || w.P95 < 30*time.Second || w.P95 > 40*time.Second {
		t.Errorf("%+v, %v", times, err)
	}
	if times, err = b.store.WorkTimes(t.Context(), b.account, []string{"mails"}, b.clock.Now().Add(time.Minute), 1000); err != nil || len(times) != 0 {
		t.Errorf("of the future: %+v, %v", times, err)
	}
}

func TestPruneClaims(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	done, free, held, kept := b.claim(t, asking("done")), b.claim(t, asking("free")), b.claim(t, asking("held")), b.claim(t, asking("kept"))
	if err := errors.Join(second(b.Complete(t.Context(), b.account, done.ID, 1, nil)), second(b.Release(t.Context(), b.account, free.ID, 1)), second(b.Complete(t.Context(), b.account, kept.ID, 1, nil))); err != nil {
		t.Fatal(err)
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE claims SET event_type = 'a', subject = 's' WHERE id = $1`, kept.ID); err != nil {
		t.Fatal(err)
	}
	if n, err := b.store.PruneClaims(t.Context(), b.clock.Now().Add(-time.Hour), 10); err != nil || n != 0 {
		t.Errorf("%d were pruned early, %v", n, err)
	}
	before := b.clock.Now().Add(time.Hour)
	for _, want := range []int64{1, 1, 0} {
		if n, err := b.store.PruneClaims(t.Context(), before, 1); err != nil || n != want {
			t.Errorf("%d were pruned, %v, want %d", n, err, want)
		}
	}
	b.wantClaims(t, "left", store.ClaimFilter{}, []gateway.Claim{kept, held})
}
