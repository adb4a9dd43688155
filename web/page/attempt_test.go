package page_test

import (
	"strings"
	"testing"

	"github.com/rowlock/rowlock/web/page"
)

// Who may have a command signed is offered that instead of an unsigned copy;
// what was just signed comes first, and stays while the page is live.
func TestAttemptAsACommand(t *testing.T) {
	t.Parallel()
	const command = "curl -X POST 'https://h' -H 'X-Token: [redacted]'"
	for name, c := range map[string]struct {
		attempt            page.Attempt
		tabs, says         string
		forms, copies, raw int
	}{
		"an operator's": {page.Attempt{Curl: command, Sign: "/a/acme/deliveries/dlv_1/sign"}, "Response Request cURL", "“Sign as cURL” makes it", 1, 0, 0},
		"just signed":   {page.Attempt{Curl: command, Sign: "/a/acme/deliveries/dlv_1/sign", Signed: true}, "cURL Response Request", "Signed just now: receivers accept it for about 5 minutes. It is shown once. Put the secret in place of [redacted]", 0, 1, 0},
		"a member's":    {page.Attempt{Curl: command}, "Response Request cURL", "An operator, an admin or an owner can have it signed.", 0, 1, 0},
		"from a file":   {page.Attempt{Curl: "curl", File: "evt_1.bin", FileHref: "/a/acme/events/evt_1/raw"}, "Response Request cURL", "download evt_1.bin first", 0, 1, 1},
		"nothing there": {page.Attempt{Sign: "/a/acme/deliveries/dlv_1/sign"}, "Response Request", "", 0, 0, 0},
	} {
		a := c.attempt
		a.ID, a.N, a.Answered, a.Open = "att_1", 2, true, true
		doc := drawn(t, page.DeliveryPage(page.Delivery{Frame: framed(), Now: noon, Open: true, Signed: a.Signed, Attempts: []page.Attempt{a}}))
		if got := words(doc.Find("#attempts [role=tab]")); got != c.tabs {
			t.Errorf("%s: tabs %q, want %q", name, got, c.tabs)
		}
		if said := words(doc.Find("#attempts")); !strings.Contains(said, c.says) {
			t.Errorf("%s: %q, want %q", name, said, c.says)
		}
		wantNumber(t, doc, "#attempts form[method=post][action$='/sign'] input[name=attempt][value='2']", c.forms)
		wantNumber(t, doc, "#attempts [data-copy^=curl]", c.copies)
		wantNumber(t, doc, "#attempts a[href$='/raw']", c.raw)
		if refreshed := doc.Find("#attempts[data-live-refresh]").Length() == 1; refreshed == a.Signed {
			t.Errorf("%s: refreshed %t", name, refreshed)
		}
	}
}
