package accept_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// wantLimited fails unless the error is of a rate, or of the storage when
// limit is zero.
func wantLimited(t *testing.T, err error, limit int, retry time.Duration) {
	t.Helper()
	var limited *accept.RateLimitedError
	if !errors.As(err, &limited) || !errors.Is(err, gateway.ErrRateLimited) || !accept.IsTemporary(err) {
		t.Fatalf("error %v, want a RateLimitedError", err)
	}
	if limited.Limit != limit || limited.Retry != retry || limited.Detail == "" || err.Error() != limited.Detail {
		t.Errorf("%+v, want the limit %d and to come back after %s", limited, limit, retry)
	}
}

// untilLimited calls do until it fails, and returns how often it did not. A
// bucket is filled again while it is emptied, so that more may fit than it
// holds.
func untilLimited(t *testing.T, do func() error) (fit int, err error) {
	t.Helper()
	for ; err == nil; fit++ {
		err = do()
	}
	return fit - 1, err
}

func TestKeyRates(t *testing.T) {
	t.Parallel()
	own, none := 2, 0
	for name, test := range map[string]struct {
		server int
		own    *int
		limit  int // zero is none
	}{
		"the server's":        {3, nil, 3},
		"its own":             {3, &own, 2},
		"its own, none other": {0, &own, 2},
		"its own is no limit": {3, &none, 0},
		"neither has a limit": {0, nil, 0},
		"a negative one":      {-1, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, accept.Limits{KeyEventsPerSecond: test.server})
			key := gateway.APIKey{ID: gateway.KeyID(b.clock.NewID()), AccountID: b.account, EventsPerSecond: test.own}
			in := accept.PublishInput{Type: "a.b", Data: []byte("1")}
			if test.limit == 0 {
				results := b.PublishBatch(t.Context(), b.account, key, fifty(in))
				for _, r := range results {
					if r.Err != nil {
						t.Error(r.Err)
					}
				}
				return
			}
			fit, limited := 0, error(nil)
			for _, r := range b.PublishBatch(t.Context(), b.account, key, fifty(in)) {
				if r.Err == nil {
					fit++
				} else {
					limited = r.Err
				}
			}
			wantLimited(t, limited, test.limit, time.Second)
			if fit < test.limit || b.count(t, `SELECT count(*) FROM events`) != fit {
				t.Errorf("%d fit, want at least %d and as many stored", fit, test.limit)
			}
			// Another key has a rate of its own.
			key.ID = gateway.KeyID(b.clock.NewID())
			if _, err := b.Publish(t.Context(), b.account, key, in); err != nil {
				t.Errorf("another key: %v", err)
			}
		})
	}
}

// What the account's rate refuses uses up nothing of the key's: all fifty are
// refused by the one that is spent, and the key's ten are still there.
func TestARefusalOfOneRateSpendsNothingOfAnother(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{KeyEventsPerSecond: 10, AccountEventsPerSecond: 1})
	key := gateway.APIKey{ID: gateway.KeyID(b.clock.NewID()), AccountID: b.account}
	refused := 0
	for _, r := range b.PublishBatch(t.Context(), b.account, key, fifty(accept.PublishInput{Type: "a.b", Data: []byte("1")})) {
		if r.Err != nil {
			refused++
			wantLimited(t, r.Err, 1, time.Second)
		}
	}
	if refused < 40 {
		t.Errorf("%d of 50 were refused", refused)
	}
}

func fifty(in accept.PublishInput) []accept.PublishInput {
	all := make([]accept.PublishInput, 50)
	for i := range all {
		all[i] = in
	}
	return all
}

// A rate goes on: after a moment there is room again. A change of the key's
// limit counts at once.
func TestRatesGoOn(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	limit := 1
	key := gateway.APIKey{ID: gateway.KeyID{7}, AccountID: b.account, EventsPerSecond: &limit}
	publish := func() error {
		_, err := b.Publish(t.Context(), b.account, key, accept.PublishInput{Type: "a.b", Data: []byte("1")})
		return err
	}
	_, err := untilLimited(t, publish)
	wantLimited(t, err, 1, time.Second)
	limit = 100
	if err := publish(); err != nil {
		t.Errorf("with a higher limit: %v", err)
	}
	limit = 20
	if _, err = untilLimited(t, publish); err == nil {
		t.Error("never limited")
	}
	for errors.Is(err, gateway.ErrRateLimited) {
		err = publish()
	}
	if err != nil {
		t.Errorf("after a moment: %v", err)
	}
}

// What is wrong in itself takes nothing of the rate.
func TestInvalidEventsTakeNoToken(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{KeyEventsPerSecond: 1})
	for range 20 {
		var invalid *gateway.InvalidError
		if _, err := b.publish(t.Context(), accept.PublishInput{Type: "a.b"}); !errors.As(err, &invalid) {
			t.Fatalf("error %v, want an InvalidError", err)
		}
	}
	if _, err := b.publish(t.Context(), keyed("k", "1")); err != nil {
		t.Errorf("the first valid one: %v", err)
	}
}

// All keys and all sources of an account share its rate; another account has
// its own.
func TestAccountRate(t *testing.T) {
	t.Parallel()
	const limit = 2
	b := newBundle(t, accept.Limits{AccountEventsPerSecond: limit})
	source := b.newSource(t, "none", "")
	n := 0
	_, err := untilLimited(t, func() error {
		n++
		if n%2 == 0 {
			_, err := b.Receive(t.Context(), accept.Incoming{Token: source.Token, Method: "POST", Body: []byte("1")})
			return err
		}
		_, err := b.Publish(t.Context(), b.account, gateway.APIKey{ID: gateway.KeyID{byte(n)}}, accept.PublishInput{Type: "a.b", Data: []byte("1")})
		return err
	})
	wantLimited(t, err, limit, time.Second)
	if !strings.Contains(err.Error(), "account") {
		t.Errorf("%q does not say whose rate it is", err)
	}
	other := b
	other.account, other.api = b.newAccount(t, "other")
	if _, err := other.publish(t.Context(), keyed("k", "1")); err != nil {
		t.Errorf("another account: %v", err)
	}
}

// Refused requests take nothing of an account's rate: whoever knows the
// address could use it up.
func TestRefusedRequestsTakeNoToken(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{AccountEventsPerSecond: 1})
	source := b.newSource(t, "github", proof)
	for range 20 {
		if b.receives(t, source, "wrong") {
			t.Fatal("taken")
		}
	}
	b.wantReceives(t, source, proof, true, "the first real one")
}

func (b bundle) used(t *testing.T, bytes int64, hoursAgo int) {
	t.Helper()
	b.exec(t, `INSERT INTO usage (account_id, hour, node, events, bytes) VALUES ($1, date_trunc('hour', now()) - $2 * interval '1 h', 'node', 1, $3)`,
		b.account, hoursAgo, bytes)
}

// An account's bodies within the retention are bounded: what was stored, and
// what has come in since that was added up.
func TestStoredBytes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{AccountStoredBytes: 100, Retention: 24 * time.Hour})
	b.used(t, 90, 2)
	b.used(t, 1000, 30) // its day is over
	publish := func(size int) error {
		_, err := b.publish(t.Context(), accept.PublishInput{Type: "a.b", Data: []byte(strings.Repeat("1", size))})
		return err
	}
	wantLimited(t, publish(11), 0, time.Hour)
	if err := publish(10); err != nil {
		t.Errorf("what just fits: %v", err)
	}
	wantLimited(t, publish(1), 0, time.Hour)
	source := b.newSource(t, "none", "")
	_, err := b.Receive(t.Context(), accept.Incoming{Token: source.Token, Method: "POST", Body: []byte("1")})
	wantLimited(t, err, 0, time.Hour)
	other := b
	other.account, other.api = b.newAccount(t, "other")
	if _, err := other.publish(t.Context(), accept.PublishInput{Type: "a.b", Data: []byte(strings.Repeat("1", 100))}); err != nil {
		t.Errorf("another account: %v", err)
	}
	b.exec(t, `DELETE FROM usage`)
	wantLimited(t, publish(1), 0, time.Hour) // believed for a moment
	b.Age(accept.StoredTTL)
	if err := publish(100); err != nil {
		t.Errorf("after room was made: %v", err)
	}
}

// Calls at the same time do not all fit into the same room.
func TestStoredBytesAtOnce(t *testing.T) {
	t.Parallel()
	const calls, fit = 40, 5
	b := newBundle(t, accept.Limits{AccountStoredBytes: fit * 10, Retention: time.Hour})
	var stored atomic.Int32
	pgtest.AtOnce(calls, func(int) {
		_, err := b.publish(t.Context(), accept.PublishInput{Type: "a.b", Data: []byte(strings.Repeat("1", 10))})
		switch {
		case err == nil:
			stored.Add(1)
		case !errors.Is(err, gateway.ErrRateLimited):
			t.Error(err)
		}
	})
	if n := stored.Load(); n != fit {
		t.Errorf("%d events were taken, want %d", n, fit)
	}
	b.wantRows(t, rows{events: fit})
}

// Without a retention the sum is of what is very new.
func TestStoredBytesWithoutARetention(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{AccountStoredBytes: 100})
	b.used(t, 1000, 2)
	if _, err := b.publish(t.Context(), keyed("k", "1")); err != nil {
		t.Error(err)
	}
}

// A sum that cannot be read lets nothing through.
func TestStoredBytesWithoutADatabase(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{AccountStoredBytes: 100})
	if _, err := b.publish(t.Context(), keyed("k", "1")); err != nil {
		t.Fatal(err)
	}
	b.pool.Close()
	b.Age(accept.StoredTTL)
	if _, err := b.publish(t.Context(), keyed("l", "1")); !errors.Is(err, gateway.ErrUnavailable) {
		t.Errorf("error %v, want ErrUnavailable", err)
	}
}

// The memory of rates is bounded.
func TestRatesAreBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{KeyEventsPerSecond: 1})
	b.KeepRates(accept.MaxLimiters)
	if _, err := b.publish(t.Context(), keyed("k", "1")); err != nil {
		t.Fatal(err)
	}
	if n := b.Rates(); n != 1 {
		t.Errorf("%d rates are kept", n)
	}
}

// Many at once share one rate.
func TestRateUnderLoad(t *testing.T) {
	t.Parallel()
	const limit, n = 5, 200
	b := newBundle(t, accept.Limits{KeyEventsPerSecond: limit})
	errs := make([]error, n)
	started := b.clock.Now()
	pgtest.AtOnce(n, func(i int) { _, errs[i] = b.publish(t.Context(), accept.PublishInput{Type: "a.b", Data: []byte("1")}) })
	seconds := b.clock.Now().Sub(started).Seconds()
	fit := 0
	for _, err := range errs {
		switch {
		case err == nil:
			fit++
		case !errors.Is(err, gateway.ErrRateLimited):
			t.Error(err)
		}
	}
	if most := limit + int(seconds*limit) + 1; fit < limit || fit > most {
		t.Errorf("%d fit within %.2f s, want %d to %d", fit, seconds, limit, most)
	}
}
