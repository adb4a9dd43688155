package signature

import (
	"net/http"
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
