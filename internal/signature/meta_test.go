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
		"message":     {`{"id":"7","changes":[{"value":{"messages":[{"id":"wamid.A"}],"contacts":[{}]}}]}`, "7 wamid.A"},
		"status":      {`{"id":"7","changes":[{"value":{"statuses":[{"id":"wamid.A","status":"read"}]}}]}`, "7 wamid.A:read:::"},
		"to somebody": {`{"id":"7","changes":[{"value":{"statuses":[{"id":"A","status":"read","recipient_id":"42"}]}}]}`, "7 A:read:42::"},
		"in a group": {
			`{"id":"7","changes":[{"value":{"statuses":[{"id":"A","status":"read","recipient_id":"G","recipient_participant_id":"42","recipient_participant_user_id":"U:1"}]}}]}`,
			`7 A:read:G:42:U\:1`,
		},
		"two messages":       {`{"id":"7","changes":[{"value":{"messages":[{"id":"A"},{"id":"B"}]}}]}`, "7 A B"},
		"two changes":        {`{"id":"7","changes":[{"value":{"messages":[{"id":"A"}]}},{"value":{"statuses":[{"id":"B","status":"sent"}]}}]}`, "7 A B:sent:::"},
		"messenger":          {`{"id":"7","time":1,"messaging":[{"message":{"mid":"m_1","text":"hi"}}]}`, "7 m_1"},
		"of no page":         {`{"changes":[{"value":{"messages":[{"id":"A"}]}}]}`, ""},
		"no list":            {`{"id":"7"}`, ""},
		"messages and more":  {`{"id":"7","changes":[{"value":{"messages":[{"id":"A"}],"calls":[{"id":"C"}]}}]}`, ""},
		"one without an id":  {`{"id":"7","changes":[{"value":{"messages":[{"id":"A"},{}]}}]}`, ""},
		"status without one": {`{"id":"7","changes":[{"value":{"statuses":[{"id":"A"}]}}]}`, ""},
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
		"standby beside it":  `{"id":"7","time":1,"messaging":[{"message":{"mid":"m_1"}}],"standby":[{"message":{"mid":"m_2"}}]}`,
		"standby alone":      `{"id":"7","time":1,"standby":[{"message":{"mid":"m_1"}}]}`,
		"another list":       `{"id":"7","time":1,"messaging":[{"message":{"mid":"m_1"}}],"hop_context":[{"app_id":1}]}`,
		"read receipt":       `{"id":"7","time":1,"messaging":[{"read":{"watermark":1}}]}`,
		"message with it":    `{"id":"7","time":1,"messaging":[{"message":{"mid":"m_1"}},{"read":{"watermark":1}}]}`,
		"message taken back": `{"id":"7","time":1,"messaging":[{"message":{"mid":"m_1","is_deleted":true}}]}`,
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
