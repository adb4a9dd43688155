package signature

import (
	"encoding/hex"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGitHubIdentity(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		header http.Header
		want   Identity
	}{
		"both":                {http.Header{"X-Github-Delivery": {"guid"}, "X-Github-Event": {"push"}}, Identity{ID: "guid", Key: "guid", Type: "push"}},
		"neither":             {http.Header{}, Identity{}},
		"empty":               {http.Header{"X-Github-Delivery": {""}, "X-Github-Event": {""}}, Identity{}},
		"delivery id twice":   {http.Header{"X-Github-Delivery": {"a", "b"}, "X-Github-Event": {"push"}}, Identity{Type: "push"}},
		"event twice":         {http.Header{"X-Github-Delivery": {"a"}, "X-Github-Event": {"push", "ping"}}, Identity{ID: "a", Key: "a"}},
		"bytes of the sender": {http.Header{"X-Github-Delivery": {"\xffé"}, "X-Github-Event": {"push "}}, Identity{ID: "\xffé", Key: "\xffé"}},
		"reserved type":       {http.Header{"X-Github-Event": {"rowlock.endpoint.disabled"}}, Identity{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Request{Header: http.Header{}, Now: testNow}
			signGitHub(&r, "s")
			for _, name := range []string{"X-Github-Delivery", "X-Github-Event"} {
				r.Header[name] = c.header[name]
			}
			verified, err := github.Verify(r, Settings{}, liveSecrets("s"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Identity{c.want}, verified.Events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGitHubNeverFallsBack: the right SHA-1 is no way around a missing or
// wrong SHA-256.
func TestGitHubNeverFallsBack(t *testing.T) {
	t.Parallel()
	sha1Header := "sha1=" + hex.EncodeToString(plainMAC(hashSHA1.newHash, "s", "{}"))
	for sha256Header, code := range map[string]string{
		"":         CodeMissing,
		sha1Header: CodeMalformed,
		"sha256=" + hex.EncodeToString(make([]byte, 32)): CodeMismatch,
	} {
		r := Request{Header: http.Header{}, Body: []byte("{}"), Now: testNow}
		r.Header.Set("X-Hub-Signature", sha1Header)
		r.Header.Set("X-Hub-Signature-256", sha256Header)
		_, err := github.Verify(r, Settings{}, liveSecrets("s"))
		_ = wantRefusal(t, err, code)
	}
}
