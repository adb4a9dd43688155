package signature

import (
	"strings"
	"testing"
)

// TestZoomValidation: what would be answered is an HMAC with the secret, and so
// nothing but a token gets one.
func TestZoomValidation(t *testing.T) {
	t.Parallel()
	for body, answered := range map[string]bool{
		`{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"}}`:                      true,
		`{"event":"endpoint.url_validation","payload":{"plainToken":"v0:1760000000:{}"}}`:                            false,
		`{"event":"endpoint.url_validation","payload":{"plainToken":"a\"b"}}`:                                        false,
		`{"event":"endpoint.url_validation","payload":{"plainToken":""}}`:                                            false,
		`{"event":"endpoint.url_validation","payload":{"plainToken":7}}`:                                             false,
		`{"event":"endpoint.url_validation","payload":{"plainToken":"` + strings.Repeat("a", maxZoomToken+1) + `"}}`: false,
		`{"event":"meeting.ended","payload":{"plainToken":"abc"}}`:                                                   false,
	} {
		if verified := takenBody(t, zoom, body); (verified.Handshake != nil) != answered || (len(verified.Events) == 1) == answered {
			t.Errorf("%s: got %+v", body, verified)
		}
	}
}

// TestZoomKeys: two people who leave a meeting at once are two events, and a
// body that does not say when has no key.
func TestZoomKeys(t *testing.T) {
	t.Parallel()
	left := func(who string) string {
		return `{"event":"meeting.participant_left","event_ts":1,"payload":{"object":{"uuid":"u","participant":{"user_id":"` + who + `"}}}}`
	}
	key := func(body string) string { return takenBody(t, zoom, body).Events[0].Key }
	if a, b := key(left("a")), key(left("b")); a == b || a == "" || a != key(left("a")) {
		t.Errorf("keys %q and %q", a, b)
	}
	if got := key(`{"event":"meeting.ended"}`); got != "" {
		t.Errorf("key %q without a time", got)
	}
}
