package dashboard

import (
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Nobody has more streams than their share, and all together no more than a
// process serves; what is left is there again.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	var s streams
	var mu sync.Mutex
	var leave []func()
	var all sync.WaitGroup
	for person := range byte(maxStreams/maxOwnStreams + 3) {
		for range maxOwnStreams + 5 {
			all.Go(func() {
				if done, ok := s.enter(gateway.UserID{person}); ok {
					mu.Lock()
					defer mu.Unlock()
					leave = append(leave, done)
				}
			})
		}
	}
	all.Wait()
	if len(leave) != maxStreams {
		t.Errorf("%d streams, want %d", len(leave), maxStreams)
	}
	for person, n := range s.of {
		if n > maxOwnStreams {
			t.Errorf("%s has %d", person, n)
		}
	}
	for _, done := range leave {
		done()
	}
	if s.all != 0 || len(s.of) != 0 {
		t.Errorf("%d are left, of %d people", s.all, len(s.of))
	}
	for n := range maxOwnStreams + 1 {
		if _, ok := s.enter(gateway.UserID{}); ok != (n < maxOwnStreams) {
			t.Errorf("stream %d of one: %v", n+1, ok)
		}
	}
}

// However old a page says that it is, no more than a day is counted for it, and
// what it makes up counts from now on.
func TestNewWatch(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(1_800_000_000_000_000)
	ago := func(by time.Duration) string { return strconv.FormatInt(now.Add(-by).UnixMicro(), 10) }
	for since, want := range map[string]struct {
		back   time.Duration
		before int64
	}{
		"": {}, "x": {}, ".7": {}, "-5.7": {}, "9223372036854775807.7": {}, ago(-time.Hour) + ".7": {},
		ago(time.Minute) + ".7": {time.Minute, -7}, ago(time.Hour): {time.Hour, 0},
		ago(2*watchedFor) + ".7": {watchedFor, 0}, "1.7": {watchedFor, 0},
	} {
		got, at := newWatch(url.Values{paramSince: {since}}, now), now.Add(-want.back)
		if !got.since.Equal(at) || !got.anchor.Equal(at) || got.before != want.before {
			t.Errorf("%q: %+v, want %s back", since, *got, want.back)
		}
	}
}
