package accept_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// queue submits n events of the account without waiting for them; each sends
// what became of it.
func (b bundle) queue(ctx context.Context, n int, results chan<- error, prefix string) {
	for i := range n {
		go func() {
			_, err := b.publish(ctx, keyed(prefix+strconv.Itoa(i), "{}"))
			results <- err
		}()
	}
}

// errorsOf takes n results.
func errorsOf(results <-chan error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = <-results
	}
	return errs
}

// wantAll fails unless each error is want; nil wants none.
func wantAll(t *testing.T, errs []error, want error) {
	t.Helper()
	for _, err := range errs {
		if !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
}

// What the database refuses fails alone: those who came in the same group
// commit are accepted, and nothing is left of the others, their keys included.
func TestAPoisonousEventFailsAlone(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newStopped(t, accept.Limits{})
	bad := b
	bad.account, bad.api = b.newAccount(t, "bad")
	remembered := make(chan error, 2)
	for _, of := range []bundle{b, bad} { // remembers both sources
		go func() {
			_, err := of.publish(t.Context(), keyed("remembered", "{}"))
			remembered <- err
		}()
	}
	b.queued(2)
	b.exec(t, `DELETE FROM sources WHERE id = $1`, bad.api)
	good, poisonous := make(chan error, n), make(chan error, n)
	b.queue(t.Context(), n, good, "k")
	bad.queue(t.Context(), n, poisonous, "k")
	b.queued(2 + 2*n)
	b.start(t)
	wantAll(t, errorsOf(good, n), nil)
	for _, err := range errorsOf(poisonous, n) {
		if err == nil || accept.IsTemporary(err) {
			t.Errorf("a poisonous event: %v, want an error that stays", err)
		}
	}
	failed := 0
	for _, err := range errorsOf(remembered, 2) {
		if err != nil {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d of the first two failed, want 1", failed)
	}
	b.wantRows(t, rows{events: n + 1, keys: n + 1})
	if ids := b.committed.all(); len(ids) != n+1 {
		t.Errorf("%d are to be decided, want %d", len(ids), n+1)
	}
	// The keys of the poisonous ones are free: when the fault is mended, they
	// are accepted.
	b.exec(t, `INSERT INTO sources (id, account_id, name, kind, token, settings) VALUES ($1, $2, 'API', 'api', 'token', '{}')`, bad.api, bad.account)
	if told, err := bad.publish(t.Context(), keyed("k0", "{}")); err != nil || told.Duplicate {
		t.Errorf("after it was mended: %+v, %v", told, err)
	}
}

// A client that goes away cancels nobody else's request. Its own is dropped
// while it waits: it was told that nothing was stored, and will ask again.
func TestAClientThatGoesAway(t *testing.T) {
	t.Parallel()
	const n = 10
	b := newStopped(t, accept.Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	gone, others := make(chan error, n), make(chan error, n)
	b.queue(ctx, n, gone, "gone")
	b.queue(t.Context(), n, others, "other")
	b.queued(2 * n)
	cancel()
	for _, err := range errorsOf(gone, n) {
		if !errors.Is(err, context.Canceled) || !errors.Is(err, gateway.ErrUnavailable) {
			t.Errorf("who went away: %v", err)
		}
	}
	b.start(t)
	wantAll(t, errorsOf(others, n), nil)
	told, err := b.publish(t.Context(), keyed("gone3", "{}"))
	if err != nil || told.Duplicate {
		t.Errorf("asked again: %+v, %v", told, err)
	}
	b.wantRows(t, rows{events: n + 1, keys: n + 1})
}

// A client that goes away while its transaction is under way does not take
// that of the others with it.
func TestAClientThatGoesAwayDuringTheCommit(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	unblock := b.block(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone, other := make(chan error, 1), make(chan error, 1)
	b.queue(ctx, 1, gone, "gone")
	b.queue(t.Context(), 1, other, "other")
	b.waiting(t, 1)
	b.queued(0)
	cancel()
	wantAll(t, errorsOf(gone, 1), context.Canceled)
	unblock()
	wantAll(t, errorsOf(other, 1), nil)
}

// Large bodies fill the queue before their number does.
func TestAQueueOfLargeBodies(t *testing.T) {
	t.Parallel()
	b := newStopped(t, accept.Limits{})
	large := bytes.Repeat([]byte("1"), accept.QueueBytes/4-1024) // and its header
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error, 5)
	for range 5 {
		go func() {
			_, err := b.Publish(ctx, b.account, gateway.APIKey{}, accept.PublishInput{Type: "a", Data: large})
			results <- err
		}()
	}
	if err := <-results; !errors.Is(err, gateway.ErrOverloaded) {
		t.Errorf("one too many: %v", err)
	}
	b.queued(4)
	cancel()
	for range 4 {
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("who went away: %v", err)
		}
	}
	b.start(t)
	b.queued(0)
	if _, err := b.publish(t.Context(), keyed("small", "{}")); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
	b.wantRows(t, rows{events: 1, keys: 1})
}

// When the queue is full, callers are told to come back, and nothing of theirs
// is stored; those who wait in it are served.
func TestAFullQueue(t *testing.T) {
	t.Parallel()
	b := newStopped(t, accept.Limits{})
	b.committed.fill()
	results := make(chan error, accept.QueueLength)
	b.queue(t.Context(), accept.QueueLength, results, "k")
	b.queued(accept.QueueLength)
	_, err := b.publish(t.Context(), keyed("one too many", "{}"))
	if !errors.Is(err, gateway.ErrOverloaded) || !accept.IsTemporary(err) {
		t.Errorf("error %v, want ErrOverloaded", err)
	}
	source := b.newSource(t, "none", "")
	if _, err := b.Receive(t.Context(), accept.Incoming{Token: source.Token, Method: "POST"}); !errors.Is(err, gateway.ErrOverloaded) {
		t.Errorf("error %v, want ErrOverloaded", err)
	}
	b.start(t)
	wantAll(t, errorsOf(results, accept.QueueLength), nil)
	b.wantRows(t, rows{events: accept.QueueLength, keys: accept.QueueLength})
	// They shared transactions: each has one job.
	if n := b.count(t, `SELECT count(*) FROM river_job`); n > 2*accept.QueueLength/accept.MaxBatch {
		t.Errorf("%d events took %d transactions", accept.QueueLength, n)
	}
	if _, err := b.publish(t.Context(), keyed("one too many", "{}")); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
}

// When the service stops, what is queued is committed and what comes after is
// refused.
func TestStopping(t *testing.T) {
	t.Parallel()
	const n = 300
	b := newStopped(t, accept.Limits{})
	results := make(chan error, n)
	b.queue(t.Context(), n, results, "k")
	b.queued(n)
	b.start(t)()
	if b.Queued() != 0 {
		t.Errorf("it stopped with %d in the queue", b.Queued())
	}
	wantAll(t, errorsOf(results, n), nil)
	b.wantRows(t, rows{events: n, keys: n})
	_, err := b.publish(t.Context(), keyed("late", "{}"))
	if !errors.Is(err, gateway.ErrOverloaded) {
		t.Errorf("after it stopped: %v, want ErrOverloaded", err)
	}
	b.wantRows(t, rows{events: n, keys: n})
}

// Whoever is told of an id while the service stops is stored, and whoever is
// refused is not.
func TestStoppingUnderLoad(t *testing.T) {
	t.Parallel()
	const senders = 20
	b := newStopped(t, accept.Limits{})
	stop := b.start(t)
	var mu sync.Mutex
	told := 0
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := 0; ; i++ {
				_, err := b.publish(t.Context(), keyed(fmt.Sprint(s, i), "{}"))
				if errors.Is(err, gateway.ErrOverloaded) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				told++
				mu.Unlock()
			}
		})
	}
	for len(b.committed.all()) < 10*senders {
	}
	stop()
	all.Wait()
	b.wantRows(t, rows{events: told, keys: told})
}

// A database that cannot be reached: everybody is told to come back, and
// nothing is half stored.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	const n = 20
	for name, leave := range map[string]func(t *testing.T, b bundle) (back func()){
		"a closed pool": func(_ *testing.T, b bundle) func() {
			b.pool.Close()
			return nil
		},
		"a server that refuses": func(t *testing.T, b bundle) func() {
			database := b.pool.Config().ConnConfig.Database
			admin := newAdmin(t)
			admin(`ALTER DATABASE ` + database + ` WITH ALLOW_CONNECTIONS false`)
			admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '` + database + `'`)
			return func() { admin(`ALTER DATABASE ` + database + ` WITH ALLOW_CONNECTIONS true`) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newStopped(t, accept.Limits{})
			source := b.newSource(t, "github", proof)
			results := make(chan error, n)
			b.queue(t.Context(), n, results, "k")
			b.queued(n)
			back := leave(t, b)
			b.start(t)
			wantAll(t, errorsOf(results, n), gateway.ErrUnavailable)
			if _, err := b.Receive(t.Context(), signed(source, proof, "1", "{}")); !errors.Is(err, gateway.ErrUnavailable) || !accept.IsTemporary(err) {
				t.Errorf("a source that is not remembered: %v, want ErrUnavailable", err)
			}
			if len(b.committed.all()) != 0 {
				t.Error("something is to be decided")
			}
			if back == nil {
				return
			}
			back()
			b.pool.Reset() // of connections that the server has ended
			b.wantRows(t, rows{})
			if told, err := b.publish(t.Context(), keyed("k1", "{}")); err != nil || told.Duplicate {
				t.Errorf("when it is back: %+v, %v", told, err)
			}
			if _, err := b.Receive(t.Context(), signed(source, proof, "1", "{}")); err != nil {
				t.Errorf("when it is back: %v", err)
			}
		})
	}
}

// A connection that breaks within the transaction leaves nothing behind.
func TestABrokenConnection(t *testing.T) {
	t.Parallel()
	const n = 10
	b := newStopped(t, accept.Limits{})
	unblock := b.block(t)
	results := make(chan error, n)
	b.queue(t.Context(), n, results, "k")
	b.queued(n)
	b.start(t)
	b.queued(0)
	b.waiting(t, 1)
	for done := 0; done < n; {
		b.exec(t, `
			SELECT pg_terminate_backend(pid)
			FROM pg_stat_activity
			WHERE datname = current_database()
			  AND wait_event_type = 'Lock'`)
		select {
		case err := <-results:
			wantAll(t, []error{err}, gateway.ErrUnavailable)
			done++
		default:
		}
	}
	unblock()
	b.wantRows(t, rows{})
	b.queue(t.Context(), n, results, "k")
	wantAll(t, errorsOf(results, n), nil)
	b.wantRows(t, rows{events: n, keys: n})
}

// A thousand batches of many senders who share their keys: each key is
// accepted once, nobody waits for another in a circle, and everybody is told
// of the first.
func TestManySendersShareKeys(t *testing.T) {
	t.Parallel()
	const (
		senders = 64
		each    = 100
		// Keys come from a window that moves on, so that those who send at the
		// same time send many of the same new ones.
		window = 40
	)
	b := newBundle(t, accept.Limits{})
	var mu sync.Mutex
	told := map[string]gateway.EventID{}
	firsts := 0
	var all sync.WaitGroup
	for s := range senders {
		r := rand.New(rand.NewPCG(5, uint64(s)))
		all.Go(func() {
			for i := range each {
				key := strconv.Itoa(i*window + r.IntN(window))
				got, err := b.publish(t.Context(), keyed(key, key))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if before, ok := told[key]; ok && before != got.ID {
					t.Errorf("key %s is told to be %s and %s", key, before, got.ID)
				}
				told[key] = got.ID
				if !got.Duplicate {
					firsts++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if firsts != len(told) {
		t.Errorf("%d keys had %d firsts", len(told), firsts)
	}
	b.wantRows(t, rows{events: len(told), keys: len(told), requests: senders*each - len(told)})
	ids := b.committed.all()
	slices.SortFunc(ids, gateway.EventID.Compare)
	if len(slices.Compact(ids)) != len(told) {
		t.Errorf("%d are to be decided, want each of %d once", len(ids), len(told))
	}
}

// Large bodies are spread over transactions, and none is lost.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	const n = 24
	b := newStopped(t, accept.Limits{})
	b.committed.fill()
	results := make(chan error, n)
	for i := range n {
		go func() {
			data := make([]byte, 1<<20)
			copy(data, strconv.Itoa(i))
			_, err := b.publish(t.Context(), accept.PublishInput{Type: "a.b", Data: data})
			results <- err
		}()
	}
	b.queued(n)
	b.start(t)
	wantAll(t, errorsOf(results, n), nil)
	b.wantRows(t, rows{events: n})
	if jobs := b.count(t, `SELECT count(*) FROM river_job`); jobs < 3 {
		t.Errorf("24 MiB were stored in %d transactions, want at most 8 MiB each", jobs)
	}
}

// An accepted event that this node has no time for has a job, and both have one
// time, the database's.
func TestAcceptedEventsAreDueAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	b.committed.fill()
	if _, err := b.publish(t.Context(), keyed("k", "{}")); err != nil {
		t.Fatal(err)
	}
	if n := b.count(t, `
		SELECT count(*)
		FROM events
		JOIN river_job
		  ON scheduled_at = decide_after
		WHERE state = 'available'
		  AND queue = 'process'
		  AND scheduled_at BETWEEN now() - $1::interval AND now()`, time.Minute); n != 1 {
		t.Error("the event's job is not due when the event is")
	}
}

// A place that was kept is given back however the transaction ends, with what was
// committed and nothing else.
func TestAPlaceIsGivenBack(t *testing.T) {
	t.Parallel()
	b := newStopped(t, accept.Limits{})
	id := gateway.EventID(b.clock.NewID())
	for name, test := range map[string]struct {
		do   func(store.Tx) ([]gateway.EventID, error)
		want int
	}{
		"committed": {func(store.Tx) ([]gateway.EventID, error) { return []gateway.EventID{id}, nil }, 1},
		"refused":   {func(store.Tx) ([]gateway.EventID, error) { return []gateway.EventID{id}, gateway.ErrAlreadyAccepted }, 0},
		"panic":     {func(store.Tx) ([]gateway.EventID, error) { panic("a fault") }, 0},
	} {
		var offered [][]gateway.EventID
		s := accept.New(accept.Options{
			Store: b.store, Clock: b.clock, Log: slog.New(slog.DiscardHandler),
			Reserve: func() func([]gateway.EventID) {
				return func(ids []gateway.EventID) { offered = append(offered, ids) }
			},
		})
		func() {
			defer func() { _ = recover() }() // as requests do
			_ = s.InTx(t.Context(), test.do)
		}()
		if len(offered) != 1 || len(offered[0]) != test.want {
			t.Errorf("%s: offered %v, want once, and %d events", name, offered, test.want)
		}
	}
}
