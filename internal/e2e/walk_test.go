package e2e

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// push is what GitHub sent of a real push.
//
//go:embed testdata/github_push.json
var push []byte

// pushDelivery is the id that came with it.
const pushDelivery = "72d3162e-cc78-11e3-81ab-4c9367dc0958"

// The README's first steps, on the embedded database; then the server is
// killed, and everything is there when it starts again.
func TestFirstSteps(t *testing.T) {
	t.Parallel()
	n := startNode(t, embeddedSettings(t))
	a := newAccount(t, n)
	r := newReceiver(t, func() time.Duration { return 0 })
	endpoint := want[endpointObject](t, a, http.StatusCreated, http.MethodPost, "/endpoints",
		fmt.Sprintf(`{"url":%q,"secret":%q}`, r.url+everything, r.secret))
	w := walk{t: t, node: n, account: a, receiver: r}
	w.send(`{"order":42}`, "order-42-created", "order.created")
	w.github()
	waitFor(t, patience, "both are delivered", func() bool {
		return len(list[deliveryObject](t, a, "/deliveries", "status=delivered")) == 2
	})
	before := w.rows(endpoint.ID)
	n.kill()
	n.boot()
	if diff := cmp.Diff(before, w.rows(endpoint.ID)); diff != "" {
		t.Errorf("what is kept has changed by a kill (-before +after):\n%s", diff)
	}
	w.send(`{"order":43}`, "order-43-created", "order.created")
	n.signal(syscall.SIGTERM)
	n.wantExit(endLimit)
}

// embeddedSettings are the settings of a first start: none but where to keep
// things. The database's account must be able to enter there.
func embeddedSettings(t *testing.T) []string {
	t.Helper()
	dir, err := openDir()
	if err != nil {
		t.Fatal(err)
	}
	removeAtEnd(t, dir)
	return settings(t, "ROWLOCK_DATA_DIR="+dir)
}

// removeAtEnd removes a directory when the test ends. A database in it may
// take a moment to see that its server was killed, and write until then.
func removeAtEnd(t *testing.T, dir string) {
	t.Helper()
	t.Cleanup(func() {
		waitFor(t, patience, "the directory is removed", func() bool { return os.RemoveAll(dir) == nil })
	})
}

// walk is who takes the first steps.
type walk struct {
	t        *testing.T
	node     *node
	account  *account
	receiver *receiver
}

// send publishes as a person does at a terminal, and checks what arrives.
func (w walk) send(data, key, kind string) {
	w.t.Helper()
	n := len(w.receiver.all())
	run(w.t, append(slices.Clip(w.node.environ), "ROWLOCK_SERVER="+w.node.url, "ROWLOCK_API_KEY="+w.account.Key),
		"send", kind, "--data", data, "--key", key)
	w.arrives(n, []byte(data), kind)
}

// github sends a real push three times: as it is, again, and changed.
func (w walk) github() {
	w.t.Helper()
	const secret = "It's a Secret to Everybody"
	made := want[sourceObject](w.t, w.account, http.StatusCreated, http.MethodPost, "/sources",
		fmt.Sprintf(`{"name":"GitHub","kind":"github","secret":%q}`, secret))
	n := len(w.receiver.all())
	first := w.push(made.IngestURL, secret, push, http.StatusOK)
	w.arrives(n, push, "push")
	if again := w.push(made.IngestURL, secret, push, http.StatusOK); !again.Duplicate || again.ID != first.ID || first.Duplicate {
		w.t.Errorf("the same push twice: %+v, then %+v", first, again)
	}
	changed := bytes.Replace(push, []byte(`"ref"`), []byte(`"rel"`), 1)
	if refused := w.push(made.IngestURL, secret, changed, http.StatusUnauthorized); refused.Code != "signature_mismatch" {
		w.t.Errorf("a changed push was refused with %q, want signature_mismatch", refused.Code)
	}
	if len(w.receiver.all()) != n+1 {
		w.t.Errorf("one push came %d times", len(w.receiver.all())-n)
	}
}

// pushAnswer is what a source answers: an event, or a problem.
type pushAnswer struct {
	ID        string `json:"id"`
	Duplicate bool   `json:"duplicate"`
	Code      string `json:"code"`
}

// push sends a body with the signature of the real push.
func (w walk) push(ingestURL, secret string, body []byte, status int) (answer pushAnswer) {
	w.t.Helper()
	address, err := url.Parse(ingestURL)
	if err != nil || "http://"+address.Host != w.node.url {
		w.t.Fatalf("the source's address is %q (%v), want it below %s", ingestURL, err, w.node.url)
	}
	request, err := http.NewRequest(http.MethodPost, ingestURL, bytes.NewReader(body))
	if err != nil {
		w.t.Fatalf("make a request: %v", err)
	}
	request.Header.Set("Content-Type", "application/json")
	signAsGitHub(request, secret, pushDelivery, push)
	got, text := exchange(w.t, request)
	if err := json.Unmarshal(text, &answer); err != nil || got != status {
		w.t.Fatalf("push: %d %s, want %d", got, text, status)
	}
	return answer
}

// arrives checks the request that comes after n others.
func (w walk) arrives(n int, body []byte, kind string) {
	w.t.Helper()
	waitFor(w.t, patience, kind+" arrives", func() bool { return len(w.receiver.all()) > n })
	h := w.receiver.all()[n]
	if !bytes.Equal(h.body, body) || !h.verified || h.kind != kind || h.attempt != 1 {
		w.t.Errorf("sent %.100q as %s, received %.100q as %s (verified: %t, attempt %d)", body, kind, h.body, h.kind, h.verified, h.attempt)
	}
}

// rows are all that the API shows of what is kept, secrets included.
func (w walk) rows(endpoint string) map[string]string {
	w.t.Helper()
	rows := map[string]string{}
	for _, path := range []string{
		"/events", "/deliveries", "/attempts", "/sources", "/endpoints", "/endpoints/" + endpoint + "/secrets",
	} {
		status, body := w.account.call(w.t, http.MethodGet, path, nil)
		if status != http.StatusOK {
			w.t.Fatalf("GET %s: %d %s", path, status, body)
		}
		rows[path] = string(body)
	}
	return rows
}
