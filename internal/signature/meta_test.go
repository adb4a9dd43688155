package signature

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// takenBody signs a body as the provider's sample is, and returns the verdict.
func takenBody(t *testing.T, p *provider, body string) Verified {
	t.Helper()
	r := p.Sample("https://hooks.example.com/ingest/abc", "0001", testNow)
	r.Body = []byte(body)
	if err := p.Sign(&r, Settings{}, "s3cret"); err != nil {
		t.Fatal(err)
	}
	verified, err := p.Verify(r, Settings{}, liveSecrets("s3cret"))
	if err != nil {
		t.Fatal(err)
	}
	return verified
}

// TestMetaKeys: repeats are known by the ids in an entry, however many there
// are, and by nothing where equal entries can be two events.
func TestMetaKeys(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ entry, want string }{
		"message":            {`{"changes":[{"value":{"messages":[{"id":"wamid.A"}]}}]}`, "wamid.A"},
		"status":             {`{"changes":[{"value":{"statuses":[{"id":"wamid.A","status":"read"}]}}]}`, "wamid.A:read"},
		"two messages":       {`{"changes":[{"value":{"messages":[{"id":"A"},{"id":"B"}]}}]}`, "A B"},
		"two changes":        {`{"changes":[{"value":{"messages":[{"id":"A"}]}},{"value":{"statuses":[{"id":"B","status":"sent"}]}}]}`, "A B:sent"},
		"messenger":          {`{"time":1,"messaging":[{"message":{"mid":"m_1","text":"hi"}}]}`, "m_1"},
		"one without an id":  {`{"changes":[{"value":{"messages":[{"id":"A"},{}]}}]}`, ""},
		"status without one": {`{"changes":[{"value":{"statuses":[{"id":"A"}]}}]}`, ""},
		"no time":            {`{"changes":[{"field":"account_update","value":{"event":"X"}}]}`, ""},
		"nothing":            {`{}`, ""},
		"not an object":      {`7`, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := takenBody(t, meta, `{"object":"page","entry":[`+c.entry+`]}`).Events[0].Key; got != c.want {
				t.Errorf("key is %q, want %q", got, c.want)
			}
		})
	}
	for name, entry := range map[string]string{
		"read receipt":       `{"time":1,"messaging":[{"read":{"watermark":1}}]}`,
		"message with it":    `{"time":1,"messaging":[{"message":{"mid":"m_1"}},{"read":{"watermark":1}}]}`,
		"message taken back": `{"time":1,"messaging":[{"message":{"mid":"m_1","is_deleted":true}}]}`,
		"change of a page":   `{"time":1,"changes":[{"field":"feed","value":{"item":"like"}}]}`,
	} {
		first := takenBody(t, meta, `{"entry":[`+entry+`]}`).Events[0].Key
		later := takenBody(t, meta, `{"entry":[`+strings.Replace(entry, `"time":1`, `"time":2`, 1)+`]}`).Events[0].Key
		if !strings.HasPrefix(first, `1:sha256`) || first == later {
			t.Errorf("%s: keys %q and %q", name, first, later)
		}
	}
}

// TestMetaEntries: each entry is an event, with the request as it would be with
// that entry alone.
func TestMetaEntries(t *testing.T) {
	t.Parallel()
	events := takenBody(t, meta, `{"object":"page","entry":[{"id":"1"} , {"id":"2"}]}`).Events
	if len(events) != 2 || string(events[1].Body) != `{"object":"page","entry":[{"id":"2"}]}` || events[1].Type != "page" {
		t.Errorf("got %+v", events)
	}
}

func TestMetaSubscribe(t *testing.T) {
	t.Parallel()
	const token = `{"verify_token":"s3cret"}`
	cases := map[string]struct {
		settings, query string
		code            string
		status          int
	}{
		"right":           {token, "hub.mode=subscribe&hub.verify_token=s3cret&hub.challenge=7", "", 0},
		"wrong token":     {token, "hub.mode=subscribe&hub.verify_token=other&hub.challenge=7", CodeMismatch, http.StatusForbidden},
		"no token":        {token, "hub.mode=subscribe&hub.challenge=7", CodeMissing, http.StatusForbidden},
		"another mode":    {token, "hub.mode=x&hub.verify_token=s3cret", CodeMissing, http.StatusForbidden},
		"nothing":         {token, "", CodeMissing, http.StatusForbidden},
		"none to compare": {``, "hub.mode=subscribe&hub.verify_token=s3cret", CodeMismatch, http.StatusUnauthorized},
		"unreadable":      {`{"verify_token":7}`, "hub.mode=subscribe&hub.verify_token=7", CodeMismatch, http.StatusUnauthorized},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Request{Method: http.MethodGet, Query: c.query, Header: http.Header{}, Now: testNow}
			verified, err := meta.Verify(r, Settings{Raw: json.RawMessage(c.settings)}, nil)
			if c.code == "" {
				if err != nil || verified.Handshake == nil || verified.Handshake.Answer.Body != "7" || len(verified.Events) > 0 {
					t.Errorf("got %+v, %v", verified, err)
				}
				return
			}
			if refusal := wantRefusal(t, err, c.code, "s3cret"); refusal.Answer() != c.status {
				t.Errorf("status is %d, want %d", refusal.Answer(), c.status)
			}
		})
	}
}

func TestMetaSettings(t *testing.T) {
	t.Parallel()
	for raw, message := range map[string]string{
		`{"verify_token":"a b"}`:      "",
		`{"verify_token":null}`:       "",
		`{"verify_token":" a"}`:       "verify_token",
		`{"verify_token":"a\n"}`:      "verify_token",
		`{"verify_token":"a\u0000b"}`: "verify_token",
		`{"verify_token":7}`:          "wrong type",
		`{"verify_token":"` + strings.Repeat("a", maxVerifyToken) + `"}`:   "",
		`{"verify_token":"` + strings.Repeat("a", maxVerifyToken+1) + `"}`: "longer",
	} {
		wantError(t, meta.CheckSettings(json.RawMessage(raw)), message)
	}
}
