package signature

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
)

// A request that asks for an answer or offers a secret is known as such, also
// where it is refused; one that could be an event is not.
func TestGreets(t *testing.T) {
	t.Parallel()
	body := func(method, query, body string, headers ...string) Request {
		r := Request{Method: method, Query: query, Header: http.Header{}, Body: []byte(body), Now: testNow}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return r
	}
	token := json.RawMessage(`{"verify_token":"mine"}`)
	for name, c := range map[string]struct {
		scheme Scheme
		raw    json.RawMessage
		r      Request
		want   bool
	}{
		"a wrong verify token":     {meta, token, body(http.MethodGet, "hub.mode=subscribe&hub.verify_token=other&hub.challenge=1", ""), true},
		"a browser":                {meta, token, body(http.MethodGet, "", ""), true},
		"events of Meta":           {meta, token, body(http.MethodPost, "", `{"entry":[]}`), false},
		"an offer of Asana's":      {asana, nil, body(http.MethodPost, "", "", "X-Hook-Secret", "s"), true},
		"what was kept of it":      {asana, nil, body(http.MethodPost, "", "", "X-Hook-Secret", "[redacted]"), true},
		"events of Asana":          {asana, nil, body(http.MethodPost, "", `{"events":[]}`, "X-Hook-Secret", "s"), false},
		"a token of Notion's":      {notion, nil, body(http.MethodPost, "", `{"verification_token":"t"}`), true},
		"an event of Notion's":     {notion, nil, body(http.MethodPost, "", `{"id":"1"}`), false},
		"a signed check":           {slack, nil, body(http.MethodPost, "", `{"type":"url_verification","challenge":"x"}`), true},
		"an event of Slack's":      {slack, nil, body(http.MethodPost, "", `{"type":"event_callback"}`), false},
		"an event that is a GET":   {twilio, nil, body(http.MethodGet, "MessageSid=1", ""), false},
		"a kind without greetings": {stripe, nil, body(http.MethodPost, "", `{}`), false},
	} {
		if got := c.scheme.Greets(c.r, Settings{Raw: c.raw}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A secret that a source does not wait for is refused in words of its own.
func TestUninvitedSecret(t *testing.T) {
	t.Parallel()
	offer := Request{Method: http.MethodPost, Header: http.Header{"X-Hook-Secret": {"another"}}, Now: testNow}
	_, err := asana.Verify(offer, Settings{}, liveSecrets("first"))
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok || refusal.Code != CodeMissing || !strings.HasPrefix(refusal.Detail, "Asana offered the secret of another webhook.") {
		t.Errorf("%v", err)
	}
	if verified, err := asana.Verify(offer, Settings{Capturing: true}, liveSecrets("first")); err != nil || verified.Handshake == nil || verified.Handshake.Secret != "another" {
		t.Errorf("told to take it: %+v, %v", verified, err)
	}
	if verified, err := asana.Verify(offer, Settings{}, liveSecrets("another")); err != nil || verified.Handshake == nil || verified.Handshake.Secret != "" {
		t.Errorf("the secret that it has: %+v, %v", verified, err)
	}
}
