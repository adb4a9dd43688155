package signature

import (
	"net/http"
	"testing"
)

// TestOktaChallenge: a GET is the check of an address or nothing, even with the
// secret, and what it shows comes back as the text of a JSON string.
func TestOktaChallenge(t *testing.T) {
	t.Parallel()
	r := Request{Method: http.MethodGet, Header: http.Header{"Authorization": {"s3cret"}}, Now: testNow}
	_, err := okta.Verify(r, Settings{}, liveSecrets("s3cret"))
	_ = wantRefusal(t, err, CodeMissing, "s3cret")

	r.Header.Set("X-Okta-Verification-Challenge", `"},"<b>`)
	verified, err := okta.Verify(r, Settings{}, liveSecrets("s3cret"))
	if err != nil || verified.Handshake == nil || len(verified.Events) > 0 {
		t.Fatalf("got %+v, %v", verified, err)
	}
	want := `{"verification":"\"},\"\u003cb\u003e"}`
	if answer := verified.Handshake.Answer; answer.Body != want || answer.ContentType != "application/json" {
		t.Errorf("answer %+v, want %s", answer, want)
	}

	r.Method = http.MethodPost
	r.Header.Set("Authorization", "other")
	_, err = okta.Verify(r, Settings{}, liveSecrets("s3cret"))
	_ = wantRefusal(t, err, CodeMismatch, "s3cret")
}
