package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestIngestIsMeasured(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), []string{"-url", pgtest.Empty(t), "-runs", "200"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"200 pushes of 7324 bytes over 64 connections", "fsync off", "read and verified alone", "committed alone", "rowlock"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestFlagsAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-runs", "many"}, {"-runs", "0"}} {
		if err := run(t.Context(), args, nil); err == nil {
			t.Errorf("%v: a number that is none was taken", args)
		}
	}
}

// Every number comes once, warm-ups included, and only those after them count.
func TestBurstDoesEachOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var numbers []int
	b, err := newBurst(t.Context(), 100, func(_ context.Context, n int) error {
		mu.Lock()
		defer mu.Unlock()
		numbers = append(numbers, n)
		return nil
	})
	if err != nil || len(b.each) != 100 || !slices.IsSorted(b.each) {
		t.Fatalf("%v, %d times", err, len(b.each))
	}
	slices.Sort(numbers)
	if all := slices.Compact(slices.Clone(numbers)); len(all) != len(numbers) || len(all) != 100+connections*warmUps {
		t.Errorf("%d numbers, %d of them different", len(numbers), len(all))
	}
}

func TestBurstEndsWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := newBurst(t.Context(), 1, func(ctx context.Context, n int) error {
		if n == 5 {
			return broken
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	ms := func(n int) (each []time.Duration) {
		for i := range n {
			each = append(each, time.Duration(i+1)*time.Millisecond)
		}
		return each
	}
	for _, test := range []struct{ of, percent, want int }{{1, 50, 1}, {1, 100, 1}, {2, 50, 1}, {200, 50, 100}, {200, 99, 198}, {150, 99, 149}, {150, 100, 150}} {
		if got := (burst{each: ms(test.of)}).within(test.percent); got != time.Duration(test.want)*time.Millisecond {
			t.Errorf("%d%% of %d: %s, want %d ms", test.percent, test.of, got, test.want)
		}
	}
}

// The floor verifies: what is signed with another secret, or altered, is none.
func TestFloorVerifies(t *testing.T) {
	t.Parallel()
	good, err := newPush()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(verifier(good.scheme))
	t.Cleanup(server.Close)
	altered, unsigned := good, good
	altered.body = append(slices.Clone(good.body), ' ')
	unsigned.header = http.Header{}
	for name, test := range map[string]struct {
		push  push
		taken bool
	}{"signed": {good, true}, "altered": {altered, false}, "unsigned": {unsigned, false}} {
		if _, err := test.push.post(t.Context(), server.Client(), server.URL, 1); (err == nil) != test.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyNewEventsCount(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{
		`{"id":"evt_1","duplicate":false}`: true,
		`{"id":"evt_1","duplicate":true}`:  false,
		`{"id":"evt_1"}`:                   false,
		`{"duplicate":false}`:              false,
		``:                                 false,
	} {
		if err := isNew([]byte(answer)); (err == nil) != want {
			t.Errorf("%q: %v", answer, err)
		}
	}
}
