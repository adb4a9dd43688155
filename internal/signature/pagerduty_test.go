package signature

import (
	"net/http"
	"testing"
)

// TestPagerDutyKeys: a webhook's id, which anybody may write, is never that of an
// event.
func TestPagerDutyKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ webhook, body, key string }{
		{"W1", `{"event":{"id":"E1"}}`, "W1"},
		{"", `{"event":{"id":"E1"}}`, "event:E1"},
		{"E1", `{"event":{"id":"E2"}}`, "E1"},
		{"event:E1", `{"event":{"id":"E2"}}`, `event\:E1`},
		{"", `{}`, ""},
	} {
		r := Request{Header: http.Header{"X-Webhook-Id": {c.webhook}}, Body: []byte(c.body)}
		if got := pagerDuty.Unproven(r, Settings{})[0].Key; got != c.key {
			t.Errorf("%q and %s: key %q, want %q", c.webhook, c.body, got, c.key)
		}
	}
}
