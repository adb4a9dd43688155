package signature

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestHubSpotWithoutIDs: a workflow's webhook has no ids, and two that look the
// same, or have no body at all, are two events.
func TestHubSpotWithoutIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, query, body string }{
		{http.MethodGet, "contact=1", ""},
		{http.MethodGet, "contact=2", ""},
		{http.MethodPost, "", `{"vid":7}`},
		{http.MethodPost, "", `[{"eventId":1,"portalId":2}]`},
	} {
		r := Request{Method: c.method, URL: "https://hooks.example.com/ingest/abc?" + c.query, Query: c.query, Header: http.Header{}, Body: []byte(c.body), Now: testNow}
		if err := hubspot.Sign(&r, Settings{}, "s3cret"); err != nil {
			t.Fatal(err)
		}
		verified, err := hubspot.Verify(r, Settings{}, liveSecrets("s3cret"))
		if err != nil || len(verified.Events) != 1 || verified.Events[0].Key != "" {
			t.Errorf("%+v: got %+v, %v", c, verified.Events, err)
		}
	}
}

// TestHubSpotProtects: who allows an older version is told what that opens.
func TestHubSpotProtects(t *testing.T) {
	t.Parallel()
	for raw, open := range map[string]bool{``: false, `{}`: false, `{"allow_versions":[]}`: false, `{"allow_versions":["v1"]}`: true, `{"allow_versions":["v2","v1"]}`: true} {
		if text := hubspot.Protects(json.RawMessage(raw)); strings.Contains(text, "without the secret") != open {
			t.Errorf("%s: %s", raw, text)
		}
	}
}
