package signature

import (
	"net/http"
	"strings"
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
		{"MessageSid=SM1&MessageStatus=sent", "message:SM1:sent", `message\:SM1\:sent`},
		{"MessageSid=SM1&MessageStatus=sent", "", "message:SM1:sent"},
		{"MessageSid=SM1&SmsStatus=received", "", "message:SM1:received"},
		{"CallSid=CA1&CallStatus=ringing&SequenceNumber=0", "", "call:CA1:ringing:0"},
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
		`[{"specversion":"1.0","id":"EZ1"},{"specversion":"1.0","id":"EZ2"}]`: {"event:EZ1", "event:EZ2"},
		`[{"id":"EZ1"}]`:       {"event:EZ1"},
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
			if id := strings.TrimPrefix(keys[i], "event:"); event.Key != keys[i] || event.ID != id {
				t.Errorf("%s: event %d is %+v, want %q", body, i, event, keys[i])
			}
		}
	}
}

// TestTwilioSignedQuery: the hash of a body counts where it is signed, which is
// the address of the source, and not the query that a request came with.
func TestTwilioSignedQuery(t *testing.T) {
	t.Parallel()
	r := Request{Method: http.MethodPost, URL: twilioURL + "?a=1", Header: http.Header{}, Body: []byte(`{"a":1}`), Now: testNow}
	if err := twilio.Sign(&r, Settings{}, "s3cret"); err != nil {
		t.Fatal(err)
	}
	if _, err := twilio.Verify(r, Settings{}, liveSecrets("s3cret")); err != nil {
		t.Error(err)
	}
	forged := Request{Method: http.MethodPost, URL: twilioURL + "?a=1", Header: http.Header{}, Now: testNow}
	if err := twilio.Sign(&forged, Settings{}, "s3cret"); err != nil {
		t.Fatal(err)
	}
	forged.Body = r.Body
	_, forged.Query, _ = strings.Cut(r.URL, "?")
	_, err := twilio.Verify(forged, Settings{}, liveSecrets("s3cret"))
	_ = wantRefusal(t, err, CodeMismatch, "s3cret")
}

// TestTwilioFields: a form of more fields than Twilio ever sends is not sorted
// for whoever sends it.
func TestTwilioFields(t *testing.T) {
	t.Parallel()
	for fields, ok := range map[int]bool{maxTwilioFields: true, maxTwilioFields + 1: false} {
		r := Request{Method: http.MethodPost, URL: twilioURL, Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, Now: testNow}
		r.Body = []byte(strings.TrimSuffix(strings.Repeat("a=1&", fields), "&"))
		err := twilio.Sign(&r, Settings{}, "s3cret")
		if ok {
			_, err = twilio.Verify(r, Settings{}, liveSecrets("s3cret"))
		}
		if (err == nil) != ok {
			t.Errorf("%d fields: %v", fields, err)
		}
		r.Header.Set(twilioSignature, inBase64.encode(make([]byte, hashSHA1.size)))
		_, err = twilio.Verify(r, Settings{}, liveSecrets("s3cret"))
		_ = wantRefusal(t, err, map[bool]string{true: CodeMismatch, false: CodeMalformed}[ok], "s3cret")
	}
}
