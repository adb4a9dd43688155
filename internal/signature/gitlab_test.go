package signature

import (
	"net/http"
	"strings"
	"testing"
)

// TestGitLabKeys: of older versions, a repeat has the event's UUID and the same
// body; what a webhook's own doing causes has the UUID, and another body.
func TestGitLabKeys(t *testing.T) {
	t.Parallel()
	key := func(body string, names ...string) string {
		r := Request{Method: http.MethodPost, Header: http.Header{"X-Gitlab-Token": {"s3cret"}}, Body: []byte(body), Now: testNow}
		for _, name := range names {
			r.Header.Set(name, name)
		}
		verified, err := gitlab.Verify(r, Settings{}, liveSecrets("s3cret"))
		if err != nil || len(verified.Events) != 1 {
			t.Fatalf("got %+v, %v", verified, err)
		}
		return verified.Events[0].Key
	}
	first, caused := key(`{"a":1}`, "X-Gitlab-Event-UUID"), key(`{"a":2}`, "X-Gitlab-Event-UUID")
	if first == "" || first == caused || first != key(`{"a":1}`, "X-Gitlab-Event-UUID") {
		t.Errorf("keys %q and %q", first, caused)
	}
	if got := key(`{"a":1}`, "Idempotency-Key", "X-Gitlab-Event-UUID"); got != "Idempotency-Key" {
		t.Errorf("key %q, want the delivery's", got)
	}
	if got := key(`{"a":1}`); got != "" {
		t.Errorf("key %q of nothing but a body", got)
	}
}

// TestGitLabSignedWithoutToken: a request that is signed does not pass by its
// token, and who has stored the token alone is told why.
func TestGitLabSignedWithoutToken(t *testing.T) {
	t.Parallel()
	r := gitlab.Sample("https://hooks.example.com/ingest/abc", "0001", testNow)
	if err := gitlab.Sign(&r, Settings{}, keyA); err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Gitlab-Token", "s3cret")
	for _, c := range []struct{ secrets, says string }{
		{"s3cret", "has no signing token"}, {keyB, "another secret"}, {"", "no live secret"},
	} {
		var live []Secret
		if c.secrets != "" {
			live = liveSecrets(c.secrets)
		}
		_, err := gitlab.Verify(r, Settings{}, live)
		if refusal := wantRefusal(t, err, CodeMismatch, keyA); !strings.Contains(refusal.Detail, c.says) {
			t.Errorf("%q: %s", c.secrets, refusal.Detail)
		}
	}
}
