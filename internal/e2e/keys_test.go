package e2e

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The keys are rotated under load as an operator does it: refused while a node
// has not got the new master key, then killed on the way, then run again. What
// comes in is verified and what goes out is signed all the while, and in the
// end the old master key opens nothing.
func TestKeysRotatedUnderLoad(t *testing.T) {
	t.Parallel()
	randomly(t, func(t *testing.T, rng *mathrand.Rand) {
		w := newWorld(t, rng, shared, 2)
		former := setting(w.nodes[0].environ, "ROWLOCK_MASTER_KEY")
		next := newMasterKey()
		both := []string{"ROWLOCK_MASTER_KEY=" + next, "ROWLOCK_MASTER_KEY_PREVIOUS=" + former}
		operator := append(slices.Clone(w.nodes[0].environ), both...)
		w.publish()
		if _, err := command(t, operator, "keys", "rotate"); err == nil || !strings.Contains(err.Error(), "have not got the new master key") {
			t.Errorf("with nodes that have not got the key: %v", err)
		}
		w.roll(both...)
		rotation := start(t, operator, "keys", "rotate")
		delay := time.NewTimer(time.Duration(rng.Int64N(int64(time.Second))))
		select {
		case <-delay.C:
			rotation.kill()
		case <-rotation.ended:
		}
		w.load.flow(t, between(rng, 50, 100))
		if out := string(run(t, operator, "keys", "rotate")); !strings.Contains(out, "nothing is sealed with an older key") || !strings.Contains(out, "2 of 2 running") {
			t.Errorf("keys rotate says:\n%s", out)
		}
		w.load.flow(t, between(rng, 50, 100))
		w.roll("ROWLOCK_MASTER_KEY="+next, "ROWLOCK_MASTER_KEY_PREVIOUS=")
		w.load.flow(t, between(rng, 50, 100))
		w.settle()
		old := append(slices.Clone(operator), "ROWLOCK_MASTER_KEY="+former, "ROWLOCK_MASTER_KEY_PREVIOUS=")
		if out, err := command(t, old, "doctor"); err == nil || !strings.Contains(string(out), "FAULT  keyset") {
			t.Errorf("the former key still opens the keyset: %v\n%s", err, out)
		}
	})
}

// roll restarts one node after the other with other settings.
func (w *world) roll(environ ...string) {
	w.t.Helper()
	for _, n := range w.nodes {
		w.load.use(w.other(n))
		w.account.node = w.other(n)
		n.signal(syscall.SIGTERM)
		n.wantExit(endLimit)
		n.environ = append(slices.Clone(n.environ), environ...)
		n.boot()
	}
	w.load.use(w.nodes...)
}

// setting is the value of one of the settings, NAME=value; the last one counts.
func setting(environ []string, name string) (value string) {
	for _, one := range environ {
		if text, ok := strings.CutPrefix(one, name+"="); ok {
			value = text
		}
	}
	return value
}

func newMasterKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return base64.StdEncoding.EncodeToString(key)
}

// With the embedded database, the command makes the new master key itself, and
// the server that runs goes on with it, also after its next start.
func TestKeysRotatedOnTheEmbeddedDatabase(t *testing.T) {
	t.Parallel()
	n := startNode(t, embeddedSettings(t))
	dir := setting(n.environ, "ROWLOCK_DATA_DIR")
	a := newAccount(t, n)
	r := newReceiver(t, func() time.Duration { return 0 })
	want[endpointObject](t, a, http.StatusCreated, http.MethodPost, "/endpoints", fmt.Sprintf(`{"url":%q,"secret":%q}`, r.url+everything, r.secret))
	w := walk{t: t, node: n, account: a, receiver: r}
	w.send(`{"order":1}`, "before", "order.created")
	before := masterKeyOf(t, dir)
	if out := string(run(t, n.environ, "keys", "rotate")); !strings.Contains(out, "master key   replaced") || !strings.Contains(out, "1 of 1 running") {
		t.Errorf("keys rotate says:\n%s", out)
	}
	if masterKeyOf(t, dir) == before {
		t.Error("the master key is the same")
	}
	if _, err := os.Stat(filepath.Join(dir, "master.key.previous")); !os.IsNotExist(err) {
		t.Errorf("the former master key is still there: %v", err)
	}
	w.send(`{"order":2}`, "after", "order.created")
	w.github()
	// What is in the air at a kill would be sent again.
	waitFor(t, patience, "everything is recorded", func() bool {
		return none(t, a, "/deliveries", "status=sending") && none(t, a, "/deliveries", "status=pending")
	})
	n.kill()
	n.boot()
	w.send(`{"order":3}`, "after a start", "order.created")
}

func masterKeyOf(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
