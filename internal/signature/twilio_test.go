package signature

import (
	"net/http"
	"testing"
)

const twilioURL = "https://hooks.example.com/ingest/abc"

// twilioTaken signs a request with a body of that type and has it taken.
func twilioTaken(t *testing.T, media, body string, header map[string]string) []Identity {
	t.Helper()
	r := Request{Method: http.MethodPost, URL: twilioURL, Header: http.Header{"Content-Type": {media}}, Body: []byte(body), Now: testNow}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	if err := twilio.Sign(&r, Settings{}, "s3cret"); err != nil {
		t.Fatal(err)
	}
	verified, err := twilio.Verify(r, Settings{}, liveSecrets("s3cret"))
	if err != nil {
		t.Fatal(err)
	}
	return verified.Events
}

// TestTwilioBodyOfGet: a GET's signature is over its address alone, so that a
// body put to it is nobody's, whatever it says that it is.
func TestTwilioBodyOfGet(t *testing.T) {
	t.Parallel()
	for _, media := range []string{"application/x-www-form-urlencoded", "application/json", ""} {
		r := Request{Method: http.MethodGet, URL: twilioURL, Header: http.Header{"Content-Type": {media}}, Now: testNow}
		if err := twilio.Sign(&r, Settings{}, "s3cret"); err != nil {
			t.Fatal(err)
		}
		if _, err := twilio.Verify(r, Settings{}, liveSecrets("s3cret")); err != nil {
			t.Errorf("%q without a body: %v", media, err)
		}
		r.Body = []byte("MessageSid=SM1&MessageStatus=failed")
		_, err := twilio.Verify(r, Settings{}, liveSecrets("s3cret"))
		_ = wantRefusal(t, err, CodeMismatch, "s3cret")
	}
}

// TestTwilioKeys: without a token, what is told many times with the same words
// has no key.
func TestTwilioKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, token, key string }{
		{"MessageSid=SM1&MessageStatus=sent", "tok", "tok"},
		{"MessageSid=SM1&MessageStatus=sent", "", "SM1:sent"},
		{"MessageSid=SM1&SmsStatus=received", "", "SM1:received"},
		{"CallSid=CA1&CallStatus=ringing&SequenceNumber=0", "", "CA1:ringing:0"},
		{"CallSid=CA1&CallStatus=in-progress&Digits=1", "", ""},
		{"CallSid=CA1&CallStatus=in-progress&Digits=1", "tok", "tok"},
		{"Digits=1", "", ""},
	} {
		header := map[string]string{}
		if c.token != "" {
			header["I-Twilio-Idempotency-Token"] = c.token
		}
		if events := twilioTaken(t, "application/x-www-form-urlencoded", c.body, header); len(events) != 1 || events[0].Key != c.key {
			t.Errorf("%s: got %+v, want the key %q", c.body, events, c.key)
		}
	}
}

// TestTwilioLists: the token of a list is not the name of each of its events.
func TestTwilioLists(t *testing.T) {
	t.Parallel()
	token := map[string]string{"I-Twilio-Idempotency-Token": "tok"}
	for body, keys := range map[string][]string{
		`[{"specversion":"1.0","id":"EZ1"},{"specversion":"1.0","id":"EZ2"}]`: {"EZ1", "EZ2"},
		`[{"id":"EZ1"}]`:       {"EZ1"},
		`[{"a":1},{"a":1}]`:    {"", ""},
		`{"a":1,"id":"EZ1"}`:   {"tok"},
		`{"a":[{"id":"EZ1"}]}`: {"tok"},
	} {
		events := twilioTaken(t, "application/json", body, token)
		if len(events) != len(keys) {
			t.Errorf("%s: %d events, want %d", body, len(events), len(keys))
			continue
		}
		for i, event := range events {
			if event.Key != keys[i] || event.ID != keys[i] {
				t.Errorf("%s: event %d is %+v, want %q", body, i, event, keys[i])
			}
		}
	}
}
