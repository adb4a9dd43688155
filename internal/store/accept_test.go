package store_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// A hundred transactions with one key at once have one winner, and all are
// told of it, with what it said.
func TestKeyIsClaimedOnce(t *testing.T) {
	t.Parallel()
	const n = 100
	b := newBundle(t)
	source := b.newSource(t).ID
	keys := make([]store.EventKey, n)
	for i := range keys {
		keys[i] = b.key(source, "key", strconv.Itoa(i))
	}
	firsts := make([]*store.FirstEvent, n)
	errs := b.wide(t, n).atOnce(t.Context(), n, func(tx store.Tx, i int) error {
		found, err := tx.ClaimKeys(t.Context(), keys[i:i+1])
		firsts[i] = found[0]
		return err
	})
	wantErrors(t, errs, n, nil)
	wantOneWinner(t, keys, firsts)
	if n := b.count(t, `SELECT count(*) FROM event_keys`); n != 1 {
		t.Errorf("%d keys are kept, want 1", n)
	}
}

// wantOneWinner fails unless one of the keys was new and the others were told
// of it.
func wantOneWinner(t *testing.T, keys []store.EventKey, firsts []*store.FirstEvent) {
	t.Helper()
	winner := slices.Index(firsts, nil)
	if winner < 0 {
		t.Fatal("nobody won")
	}
	want := store.FirstEvent{EventID: keys[winner].EventID, BodyHash: keys[winner].BodyHash}
	for i, first := range firsts {
		switch {
		case i == winner:
		case first == nil:
			t.Errorf("%d won, and %d too", winner, i)
		case *first != want:
			t.Errorf("%d was told of %+v, want %+v", i, *first, want)
		}
	}
}

func TestKeysOfOneBatch(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	twice := []store.EventKey{b.key(source, "a", "1"), b.key(source, "a", "2"), b.key(source, "a", "1")}
	batch := append(slices.Clone(twice), b.key(source, "b", "1"))
	slices.SortFunc(batch, store.CompareKeys)
	for round := range 2 {
		firsts := b.claim(t, batch...)
		var same []*store.FirstEvent
		for i, k := range batch {
			if k.KeyHash == twice[0].KeyHash {
				same = append(same, firsts[i])
			} else if (firsts[i] == nil) != (round == 0) {
				t.Errorf("round %d: the other key gives %v", round, firsts[i])
			}
		}
		if round == 0 {
			wantOneWinner(t, twice, same)
		} else if slices.Contains(same, nil) {
			t.Error("a key that was claimed is new again")
		}
	}
	if firsts := b.claim(t); len(firsts) != 0 {
		t.Errorf("no keys give %v", firsts)
	}
}

func TestKeysAreOfAnAccountAndASource(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	other := b
	other.account = b.newAccount(t, "other")
	keys := []store.EventKey{
		b.key(b.newSource(t).ID, "key", "x"), b.key(b.newSource(t).ID, "key", "x"), other.key(other.newSource(t).ID, "key", "x"),
	}
	for i, first := range b.claim(t, keys...) {
		if first != nil {
			t.Errorf("%d: one account's or source's key is another's: %+v", i, first)
		}
	}
}

// A key that was claimed by a transaction that rolled back is free, also for
// one that waited for it.
func TestKeyOfARollBackIsFree(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	first, second := b.key(source, "key", "1"), b.key(source, "key", "2")
	var found []*store.FirstEvent
	var all sync.WaitGroup
	err := b.InTx(t.Context(), func(tx store.Tx) error {
		if _, err := tx.ClaimKeys(t.Context(), []store.EventKey{first}); err != nil {
			return err
		}
		all.Go(func() {
			err := b.InTx(t.Context(), func(tx store.Tx) (err error) {
				found, err = tx.ClaimKeys(t.Context(), []store.EventKey{second})
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		b.waiting(t, 1)
		return errRollBack
	})
	all.Wait()
	if !errors.Is(err, errRollBack) || len(found) != 1 || found[0] != nil {
		t.Errorf("the one that waited found %v, %v", found, err)
	}
}

// Batches that share keys never wait for each other in a circle, because they
// are sorted: a thousand of four committers at once.
func TestSortedKeysDoNotDeadlock(t *testing.T) {
	t.Parallel()
	const (
		committers = 4
		batches    = 1000
		batchSize  = 16
		// A batch takes its keys from a window that moves on by a few keys, so
		// that batches of the same time want many of the same new ones.
		window, step = 32, 4
	)
	b := newBundle(t)
	source := b.newSource(t).ID
	var next, won atomic.Int64
	started := time.Now()
	errs := make([]error, committers)
	var all sync.WaitGroup
	for c := range committers {
		r := rand.New(rand.NewPCG(3, uint64(c)))
		all.Go(func() {
			for n := next.Add(1); errs[c] == nil && n <= batches; n = next.Add(1) {
				keys := make([]store.EventKey, batchSize)
				for i := range keys {
					keys[i] = b.key(source, strconv.Itoa(int(n)*step+r.IntN(window)), "x")
				}
				slices.SortFunc(keys, store.CompareKeys)
				errs[c] = b.claimAll(t.Context(), keys, &won)
			}
		})
	}
	all.Wait()
	wantErrors(t, errs, committers, nil)
	if n := b.count(t, `SELECT count(*) FROM event_keys`); int64(n) != won.Load() || n < 1000 {
		t.Errorf("%d keys are kept, %d were won", n, won.Load())
	}
	t.Logf("%d batches of %d keys in %s", batches, batchSize, time.Since(started).Round(time.Millisecond))
}

func (b bundle) claimAll(ctx context.Context, keys []store.EventKey, won *atomic.Int64) error {
	var fresh int64
	err := b.InTx(ctx, func(tx store.Tx) error {
		firsts, err := tx.ClaimKeys(ctx, keys)
		for _, first := range firsts {
			if first == nil {
				fresh++
			}
		}
		return err
	})
	if err == nil {
		won.Add(fresh)
	}
	return err
}

func TestCompareKeysOrdersAsTheIndexDoes(t *testing.T) {
	t.Parallel()
	low, high := store.EventKey{}, store.EventKey{KeyHash: [32]byte{1}}
	if store.CompareKeys(low, high) >= 0 || store.CompareKeys(high, low) <= 0 || store.CompareKeys(low, low) != 0 {
		t.Error("keys do not sort by their hashes")
	}
	// A part that comes first in the index decides over those behind it.
	for _, pair := range [][2]store.EventKey{
		{{AccountID: gateway.AccountID{1}}, {AccountID: gateway.AccountID{2}}},
		{{KeyHash: [32]byte{31: 1}, SourceID: gateway.SourceID{9}}, {KeyHash: [32]byte{31: 2}}},
		{{SourceID: gateway.SourceID{1}, EventID: gateway.EventID{9}}, {SourceID: gateway.SourceID{2}}},
		{{EventID: gateway.EventID{1}}, {EventID: gateway.EventID{2}}},
		{{AccountID: gateway.AccountID{1}, KeyHash: [32]byte{9}}, {AccountID: gateway.AccountID{2}}},
	} {
		if store.CompareKeys(pair[0], pair[1]) >= 0 {
			t.Errorf("%+v does not come before %+v", pair[0], pair[1])
		}
	}
}

// bodies are what a database that thinks in text or JSON would change.
var bodies = map[string][]byte{
	"empty":              {},
	"NUL":                []byte("{\"a\":\"\x00\"}"),
	"escaped NUL":        []byte(`{"a":"\u0000"}`),
	"invalid UTF-8":      []byte("\xff\xfe\xc3\x28"),
	"every byte":         everyByte(),
	"duplicate keys":     []byte(`{"a":1,"a":2}`),
	"beyond 2^53":        []byte(`{"n":9007199254740993,"f":1.10,"e":1e400}`),
	"order and spaces":   []byte("{ \"b\" : 1 ,\r\n\t\"a\":2 }\n"),
	"a byte order mark":  []byte("\xef\xbb\xbf{}"),
	"backslashes":        []byte(`\x00\\000'";--`),
	"a mebibyte":         bytes.Repeat(everyByte(), 1<<20/256),
	"a mebibyte of text": bytes.Repeat([]byte("rowlock "), 1<<20/8),
	"a mebibyte, random": randomMebibyte(),
}

func everyByte() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}

func randomMebibyte() []byte {
	r := seeded()
	random := make([]byte, 1<<20)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	return random
}

func TestBytesAreStoredAsTheyCame(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	for name, data := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			short := data[:min(len(data), 300)]
			event := b.newEvent(source, string(data))
			event.Event.Key = data
			event.Body = gateway.Body{Method: "PUT", Path: short, Query: short, Headers: short, Data: data}
			b.insert(t, event)
			body, err := b.Body(t.Context(), b.account, event.Event.ID)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(body.Data, data) {
				t.Errorf("%d bytes came back as %d others", len(data), len(body.Data))
			}
			event.Body.Data, body.Data = nil, nil
			if diff := cmp.Diff(event.Body, body); diff != "" {
				t.Error(diff)
			}
			read := b.event(t, event.Event.ID)
			if !bytes.Equal(read.Key, data) || read.BodySize != len(data) {
				t.Errorf("key of %d bytes, size %d, want %d", len(read.Key), read.BodySize, len(data))
			}
		})
	}
}

func TestEventIsStoredAsGiven(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	subject, secretID := "customer 7 \u0001 ü", gateway.SecretID(b.clock.NewID())
	occurred := time.Date(1, 2, 3, 4, 5, 6, 789_000, time.UTC)
	full := b.newEvent(source, "{}")
	full.Event.Subject, full.Event.OccurredAt, full.Event.SecretID = &subject, &occurred, &secretID
	full.Event.Key, full.Event.Decision, full.Event.Status = []byte("key"), "because", gateway.EventIgnored
	bare := b.newEvent(source, "")
	bare.Body = gateway.Body{}
	b.insert(t, full, bare)
	for _, want := range []store.NewEvent{full, bare} {
		read := b.event(t, want.Event.ID)
		if age := b.clock.Now().Sub(read.DecideAfter); age < -time.Minute || age > time.Minute {
			t.Errorf("due %s ago, want now", age)
		}
		read.DecideAfter = time.Time{}
		if diff := cmp.Diff(want.Event, read); diff != "" {
			t.Error(diff)
		}
	}
	b.in(t, func(tx store.Tx) error { return tx.InsertEvents(t.Context(), nil) })
}

// The database refuses an event whose source is of another account, and with
// it all of its transaction.
func TestEventsOfAnotherAccountsSource(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	other := b
	other.account = b.newAccount(t, "other")
	good, bad := b.newEvent(b.newSource(t).ID, "1"), b.newEvent(other.newSource(t).ID, "2")
	err := b.InTx(t.Context(), func(tx store.Tx) error {
		return tx.InsertEvents(t.Context(), []store.NewEvent{good, bad})
	})
	if err == nil || !strings.Contains(err.Error(), "events_source_fkey") || errors.Is(err, gateway.ErrUnavailable) {
		t.Errorf("error %v, want the constraint's", err)
	}
	if n := b.count(t, `SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM event_bodies)`); n != 0 {
		t.Errorf("%d rows are left of a refused transaction", n)
	}
}
