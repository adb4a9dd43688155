package endpoint_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// newChainBundle is one whose account may have any number of endpoints.
func newChainBundle(t *testing.T) bundle {
	t.Helper()
	b := newBundle(t)
	b.Service = endpoint.New(endpoint.Options{Store: b.store, Clock: b.clock, CheckURL: checkURL})
	return b
}

// named makes an endpoint with a description, before another or before none.
func (b bundle) named(t *testing.T, name string, next ...gateway.EndpointID) gateway.EndpointID {
	t.Helper()
	in := endpoint.Input{URL: new("https://example.com/" + name), Description: &name}
	if len(next) > 0 {
		in.Failover = &next[0]
	}
	e, _, err := b.Create(t.Context(), b.account, actor, in)
	if err != nil {
		t.Fatal(err)
	}
	return e.ID
}

// failOverTo changes an endpoint's failover.
func (b bundle) failOverTo(t *testing.T, id, next gateway.EndpointID) error {
	_, err := b.Update(t.Context(), b.account, actor, id, endpoint.Input{Failover: &next})
	return err
}

// chainFrom names an endpoint and those behind it, as far as a loop would be
// seen.
func (b bundle) chainFrom(t *testing.T, id gateway.EndpointID) string {
	t.Helper()
	var names []string
	for range 2 * gateway.MaxFailoverDepth {
		e, err := b.store.Endpoint(t.Context(), b.account, id)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Description)
		if e.Failover == nil {
			break
		}
		id = *e.Failover
	}
	return strings.Join(names, " ")
}

// wantRefused fails unless an error is about the failover and says so.
func wantRefused(t *testing.T, name string, err error, says string) {
	t.Helper()
	invalid, ok := errors.AsType[*gateway.InvalidError](err)
	if !ok || invalid.Field != "failover" || invalid.Detail != says {
		t.Errorf("%s: error %v, want failover: %s", name, err, says)
	}
}

func TestFailoverIsOneOfTheAccount(t *testing.T) {
	t.Parallel()
	b := newChainBundle(t)
	a, deleted := b.named(t, "a"), b.named(t, "deleted")
	if err := b.Delete(t.Context(), b.account, actor, deleted); err != nil {
		t.Fatal(err)
	}
	mine := b.account
	b.account = b.newAccount(t, "other")
	theirs := b.named(t, "theirs")
	b.account = mine
	const none = "names no endpoint of this account"
	for name, next := range map[string]gateway.EndpointID{"theirs": theirs, "deleted": deleted, "nobody's": gateway.EndpointID(b.clock.NewID())} {
		wantRefused(t, name, b.failOverTo(t, a, next), none)
		_, _, err := b.Create(t.Context(), b.account, actor, endpoint.Input{URL: new("https://example.com"), Failover: &next})
		wantRefused(t, "new, to "+name, err, none)
	}
	wantRefused(t, "itself", b.failOverTo(t, a, a), "an endpoint cannot fail over to itself")
	if got := b.chainFrom(t, a); got != "a" {
		t.Errorf("chain %s", got)
	}
}

func TestLoopsAreRefused(t *testing.T) {
	t.Parallel()
	b := newChainBundle(t)
	c := b.named(t, "c")
	mid := b.named(t, "b", c)
	a := b.named(t, "a", mid)
	wantRefused(t, "two", b.failOverTo(t, c, mid), "would make a loop: c → b → c")
	wantRefused(t, "three", b.failOverTo(t, c, a), "would make a loop: c → a → b → c")
	for _, id := range []gateway.EndpointID{a, mid, c} {
		if _, err := b.Update(t.Context(), b.account, actor, id, endpoint.Input{Timeout: new(gateway.MinTimeout)}); err != nil {
			t.Errorf("another change: %v", err)
		}
	}
	if got := b.chainFrom(t, a); got != "a b c" {
		t.Errorf("chain %s", got)
	}
	if err := b.failOverTo(t, mid, gateway.EndpointID{}); err != nil {
		t.Fatal(err)
	}
	if err := b.failOverTo(t, c, a); err != nil {
		t.Errorf("after the chain was cut: %v", err)
	}
	if got := b.chainFrom(t, c); got != "c a b" {
		t.Errorf("chain %s", got)
	}
}

// A chain counts from its first endpoint, wherever it is lengthened.
func TestLongChainsAreRefused(t *testing.T) {
	t.Parallel()
	b := newChainBundle(t)
	ids := []gateway.EndpointID{b.named(t, "last")}
	for i := range gateway.MaxFailoverDepth - 1 {
		ids = append(ids, b.named(t, strconv.Itoa(i), ids[i]))
	}
	const long = "would make a chain of more than 5 endpoints"
	head, other := ids[len(ids)-1], b.named(t, "other")
	wantRefused(t, "in front", b.failOverTo(t, other, head), long)
	wantRefused(t, "at the end", b.failOverTo(t, ids[0], other), long)
	_, _, err := b.Create(t.Context(), b.account, actor, endpoint.Input{URL: new("https://example.com"), Failover: &head})
	wantRefused(t, "new", err, long)
	if err := b.failOverTo(t, other, ids[len(ids)-2]); err != nil {
		t.Errorf("beside the first: %v", err)
	}
	last := b.named(t, "beyond")
	wantRefused(t, "two heads", b.failOverTo(t, ids[0], last), long)
}

// Changes that each would be right alone and make a loop together: the last one
// is refused, whichever that is.
func TestLoopsAtOnce(t *testing.T) {
	t.Parallel()
	b := newChainBundle(t)
	const ring, rounds = 4, 5
	ids := make([]gateway.EndpointID, ring)
	for i := range ids {
		ids[i] = b.named(t, strconv.Itoa(i))
	}
	for range rounds {
		good := make([]bool, ring)
		pgtest.AtOnce(ring, func(i int) {
			err := b.failOverTo(t, ids[i], ids[(i+1)%ring])
			good[i] = err == nil
			if err != nil && !strings.Contains(err.Error(), "would make a loop") {
				t.Error(err)
			}
		})
		made := 0
		for _, ok := range good {
			if ok {
				made++
			}
		}
		if made != ring-1 {
			t.Errorf("%d of %d were made, want all but one", made, ring)
		}
		for _, id := range ids {
			if n := len(strings.Fields(b.chainFrom(t, id))); n > ring {
				t.Errorf("there is a loop: %s", b.chainFrom(t, id))
			}
			if err := b.failOverTo(t, id, gateway.EndpointID{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestDeletionBridgesTheChain(t *testing.T) {
	t.Parallel()
	b := newChainBundle(t)
	c := b.named(t, "c")
	mid := b.named(t, "b", c)
	a, second := b.named(t, "a", mid), b.named(t, "second", mid)
	if err := b.Delete(t.Context(), b.account, actor, mid); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[gateway.EndpointID]string{a: "a c", second: "second c"} {
		if got := b.chainFrom(t, id); got != want {
			t.Errorf("chain %s, want %s", got, want)
		}
	}
	bridged := "endpoint.update: failover, as " + mid.String() + " was deleted"
	const made = "endpoint.create"
	b.wantAudit(t, made, made, made, made, bridged, bridged, "endpoint.delete")
	if err := b.Delete(t.Context(), b.account, actor, c); err != nil {
		t.Fatal(err)
	}
	if got := b.chainFrom(t, a); got != "a" {
		t.Errorf("chain %s, want none behind a", got)
	}
	if err := b.Delete(t.Context(), b.account, actor, c); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}

// Endpoints are deleted and joined at once: nobody is left before one that is
// deleted.
func TestDeletionsAndJoinsAtOnce(t *testing.T) {
	t.Parallel()
	b := newChainBundle(t)
	const heads = 6
	for range 5 {
		last := b.named(t, "last")
		mid := b.named(t, "mid", last)
		ids := make([]gateway.EndpointID, heads)
		for i := range ids {
			ids[i] = b.named(t, strconv.Itoa(i))
		}
		pgtest.AtOnce(heads+2, func(i int) {
			switch i {
			case heads:
				if err := b.Delete(t.Context(), b.account, actor, mid); err != nil {
					t.Error(err)
				}
			case heads + 1:
				if err := b.Delete(t.Context(), b.account, actor, last); err != nil {
					t.Error(err)
				}
			default:
				err := b.failOverTo(t, ids[i], mid)
				if err != nil && !strings.Contains(err.Error(), "names no endpoint") {
					t.Error(err)
				}
			}
		})
		for _, id := range ids {
			if got := b.chainFrom(t, id); len(strings.Fields(got)) != 1 {
				t.Errorf("chain %s", got)
			}
		}
	}
}

// What waits at a disabled endpoint is for the failover that it gets.
func TestJoiningWakesADisabledEndpoint(t *testing.T) {
	t.Parallel()
	b := newChainBundle(t)
	a, next := b.named(t, "a"), b.named(t, "next")
	const jobs = `SELECT count(*) FROM river_job WHERE kind = 'deliver'`
	b.exec(t, `UPDATE lanes SET sleep_until = now() + interval '1 h'`)
	if err := b.failOverTo(t, a, next); err != nil || b.count(t, jobs) != 0 {
		t.Errorf("an active one: %d jobs, %v", b.count(t, jobs), err)
	}
	b.exec(t, `UPDATE endpoints SET state = 'disabled' WHERE id = $1`, a)
	if err := b.failOverTo(t, a, gateway.EndpointID{}); err != nil || b.count(t, jobs) != 0 {
		t.Errorf("without a failover: %d jobs, %v", b.count(t, jobs), err)
	}
	if err := b.failOverTo(t, a, next); err != nil || b.count(t, jobs) != 1 {
		t.Errorf("a disabled one: %d jobs, %v; want one", b.count(t, jobs), err)
	}
	if n := b.count(t, `SELECT count(*) FROM lanes WHERE endpoint_id = $1 AND sleep_until IS NULL`, a); n != 1 {
		t.Error("its lane sleeps")
	}
}

// count runs a query that returns one number.
func (b bundle) count(t *testing.T, sql string, args ...any) int {
	t.Helper()
	return pgtest.Count(t, b.pool, sql, args...)
}
