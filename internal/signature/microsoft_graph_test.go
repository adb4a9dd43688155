package signature

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGraphKeys(t *testing.T) {
	t.Parallel()
	const parts = `"subscriptionId":"s","resource":"r","changeType":"updated"`
	cases := map[string]struct {
		notification string
		want         Identity
	}{
		"id":            {`{"id":"n1",` + parts + `}`, Identity{ID: "n1", Key: "n1", Type: "updated"}},
		"etag":          {`{` + parts + `,"resourceData":{"@odata.etag":"W/\"1\""}}`, Identity{Key: `s:r:updated:W/"1"`, Type: "updated"}},
		"neither":       {`{` + parts + `}`, Identity{Type: "updated"}},
		"its lifecycle": {`{"subscriptionId":"s","lifecycleEvent":"missed"}`, Identity{Type: "missed"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			event := takenBody(t, microsoftGraph, `{"value":[`+c.notification+`]}`).Events[0]
			event.Body = nil
			if diff := cmp.Diff(c.want, event); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGraphSign puts the client state into every notification, whatever the
// operator wrote in the test console.
func TestGraphSign(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"value":[{"clientState":"x","a":1} , {"b":2},{}],"c":3}`: `{"value":[{"clientState":"s","a":1},{"clientState":"s","b":2},{"clientState":"s"}],"c":3}`,
		`{"value":[7]}`: `{"value":[7]}`,
		`{"value":[]}`:  `{"value":[]}`,
		`hello`:         `hello`,
		``:              ``,
	} {
		r := Request{Header: http.Header{}, Body: []byte(body), Now: testNow}
		if err := microsoftGraph.Sign(&r, Settings{}, "s"); err != nil || string(r.Body) != want {
			t.Errorf("%s became %s, %v; want %s", body, r.Body, err, want)
		}
	}
}

// TestGraphValidation: only an empty request is the check of an address. A
// token in the query lets nothing in that has a body.
func TestGraphValidation(t *testing.T) {
	t.Parallel()
	r := Request{Method: http.MethodPost, Query: "validationToken=a%20b", Header: http.Header{}, Now: testNow}
	verified, err := microsoftGraph.Verify(r, Settings{}, nil)
	if err != nil || verified.Handshake == nil || verified.Handshake.Answer.Body != "a b" || len(verified.Events) > 0 {
		t.Errorf("got %+v, %v", verified, err)
	}
	r.Body = []byte(`{"value":[{"id":"1","clientState":"wrong"}]}`)
	_, err = microsoftGraph.Verify(r, Settings{}, liveSecrets("s3cret"))
	_ = wantRefusal(t, err, CodeMismatch, "s3cret")
}
