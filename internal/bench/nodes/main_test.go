package main

import (
	"os"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// Nothing is lost when a node is killed, and nobody notices when each is started
// anew.
func TestNodesAreKilledAndStartedAnew(t *testing.T) {
	t.Parallel()
	seen, err := measure(t.Context(), options{url: pgtest.Empty(t), perSecond: 30, steady: time.Second, pause: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + seen.String())
	if seen.acknowledged < 100 {
		t.Errorf("%d events were acknowledged, want some hundreds", seen.acknowledged)
	}
	if seen.lost() > 0 || seen.rollFailed > 0 {
		t.Error(seen.fault())
	}
}

func TestFaultsOfNodes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		seen result
		want string
	}{
		"none":    {result{acknowledged: 2, delivered: 2, killFailed: 3, repeats: 1}, ""},
		"lost":    {result{acknowledged: 2, delivered: 1}, "1 events were lost"},
		"noticed": {result{rollFailed: 2}, "the rolling restart was noticed by 2 requests"},
		"slow":    {result{recovered: 20 * time.Second}, "it took 20s to recover from a node that was killed, want 15s"},
	} {
		got := ""
		if err := test.seen.fault(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
