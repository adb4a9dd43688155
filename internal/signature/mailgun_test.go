package signature

import (
	"net/http"
	"strings"
	"testing"
)

// TestMailgunKeys: an event's id is one for a day, and a mail's is one for all of
// its recipients.
func TestMailgunKeys(t *testing.T) {
	t.Parallel()
	const form, parts = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
	part := func(name, value string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	for _, c := range []struct{ media, body, id, key string }{
		{"application/json", `{"event-data":{"id":"A","timestamp":1760000000.927636}}`, "A", "A:1760000000.927636"},
		{"application/json", `{"event-data":{"id":"A","timestamp":1760086400.927636}}`, "A", "A:1760086400.927636"},
		{"application/json", `{"event-data":{"id":"A","timestamp":1760000000}}`, "A", "A:1760000000"},
		{"application/json", `{"event-data":{"id":"A","timestamp":"1760000000.5"}}`, "A", "A:1760000000.5"},
		{"application/json", `{"event-data":{"id":"A","timestamp":null}}`, "A", ""},
		{"application/json", `{"event-data":{"id":"A"}}`, "A", ""},
		{form, "Message-Id=%3C1%40a%3E&recipient=bob%40example.com", "<1@a>", "<1@a>:bob@example.com"},
		{form, "Message-Id=%3C1%40a%3E&recipient=eve%40example.com", "<1@a>", "<1@a>:eve@example.com"},
		{form, "Message-Id=%3C1%40a%3E", "<1@a>", ""},
		{form, "recipient=bob%40example.com", "", ""},
		{parts, part("Message-Id", "<1@a>") + part("recipient", "bob@example.com") + "--x--\r\n", "<1@a>", "<1@a>:bob@example.com"},
		{parts, part("Message-Id", "<1@a>") + part("recipient", "bob") + part("recipient", "eve") + "--x--\r\n", "<1@a>", ""},
	} {
		r := Request{Header: http.Header{"Content-Type": {c.media}}, Body: []byte(c.body)}
		if events := mailgun.Unproven(r, Settings{}); len(events) != 1 || events[0].ID != c.id || events[0].Key != c.key {
			t.Errorf("%s: %+v, want %q under %q", strings.ReplaceAll(c.body, "\r\n", " "), events, c.id, c.key)
		}
	}
}
