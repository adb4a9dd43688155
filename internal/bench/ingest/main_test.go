package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

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
