package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/bench/served"
	"github.com/rowlock/rowlock/internal/migrate"
	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestControlIsMeasured(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	if err := migrate.Up(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	server, key := served.ForTest(t, url, "control")
	var out strings.Builder
	api := &caller{base: server.URL + "/api/v1", key: key}
	if err := measureRate(t.Context(), api, 15, &out); err != nil {
		t.Fatal(err)
	}
	if err := measureOverlap(t.Context(), api, 15, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"limit of 10 a second", "max_in_flight 1, backlog of 15: 1 at once"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestProbing(t *testing.T) {
	t.Parallel()
	fell := time.Now()
	at := func(seconds ...float64) (began []time.Time) {
		for _, s := range seconds {
			began = append(began, fell.Add(time.Duration(s*float64(time.Second))))
		}
		return began
	}
	for name, test := range map[string]struct {
		began []time.Time
		want  time.Duration
	}{
		"one at a time at once":     {at(-1, 0.1, 0.2, 2.5, 5, 9), 0},
		"two at a time for a while": {at(0.1, 2.5, 3, 6, 9), time.Second},
	} {
		if got := probing(test.began, fell); got.Round(time.Millisecond) != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
