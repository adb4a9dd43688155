package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

func endpointRow(n byte) page.EndpointRow {
	return page.EndpointRow{
		ID: endpointID(n), Name: "ERP sync", Address: "erp.example.com/hooks", State: page.StateFailing,
		Types: []string{"order.*", "invoice.*", "a", "b"}, Recent: []gateway.Outcome{gateway.OutcomeSucceeded, gateway.OutcomeRejected, gateway.OutcomeUnknown},
		Attempts: 100_000, Succeeded: 99_999, P95: 212 * time.Millisecond, Waiting: 1000, WaitingMore: true,
	}
}

func TestEndpointsPageWithoutAny(t *testing.T) {
	t.Parallel()
	doc := drawn(t, page.EndpointsPage(page.Endpoints{Frame: framed(), Manages: true}))
	wantWords(t, doc, "#endpoints .empty", "No endpoints yet")
	wantNumber(t, doc, `main a[href="/a/acme/endpoints/new"]`, 1)
	doc = drawn(t, page.EndpointsPage(page.Endpoints{Frame: framed()}))
	wantNumber(t, doc, `main a[href="/a/acme/endpoints/new"]`, 0)
	wantWords(t, doc, "#endpoints .empty", "An admin or an owner")
}

func TestEndpointsPageShowsEach(t *testing.T) {
	t.Parallel()
	doc := drawn(t, page.EndpointsPage(page.Endpoints{Frame: framed(), Manages: true, DisableAfter: 100, Rows: []page.EndpointRow{endpointRow(1)}}))
	row := "#" + endpointID(1).String()
	for _, want := range []string{"ERP sync", "erp.example.com/hooks", "Failing", "99.99%", "212 ms", "1,000+ waiting", "order.*, invoice.* +2"} {
		wantWords(t, doc, row, want)
	}
	wantNumber(t, doc, row+` a.cell[href="/a/acme/endpoints/`+endpointID(1).String()+`"]`, 1)
	wantNumber(t, doc, row+" .ticks .t-ok", 1)
	wantNumber(t, doc, row+" .ticks .t-bad", 1)
	wantNumber(t, doc, row+" .ticks .t-none", 17)
	if label := doc.Find(row+" .ticks").AttrOr("aria-label", ""); !strings.Contains(label, "2 of the last 3 attempts to ERP sync failed") {
		t.Errorf("ticks say %q", label)
	}
	wantWords(t, doc, "#endpoints .card-foot", "1 endpoint An endpoint is disabled after 100 failures")
	wantNumber(t, doc, "#endpoints .pager", 0)
}

func TestEndpointsPageOfMany(t *testing.T) {
	t.Parallel()
	v := page.Endpoints{Frame: framed(), Newest: "/a/acme/endpoints", Older: "/a/acme/endpoints?after=x"}
	for n := range byte(50) {
		v.Rows = append(v.Rows, endpointRow(n))
	}
	v.Rows[0] = page.EndpointRow{ID: endpointID(0), Name: "host/path", Address: "host/path", State: "paused", Waiting: 3}
	doc := drawn(t, page.EndpointsPage(v))
	wantNumber(t, doc, "#endpoints tbody tr", 50)
	wantNumber(t, doc, `#endpoints .pager a[href="/a/acme/endpoints"]`, 1)
	wantNumber(t, doc, `#endpoints .pager a[rel="next"]`, 1)
	row := "#" + endpointID(0).String()
	wantWords(t, doc, row, "3 held")
	wantWords(t, doc, row, "All types")
	wantNumber(t, doc, row+" small", 0) // its name is its address
}

func TestEndpointNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100)
	for _, c := range []struct{ url, description, want string }{
		{"https://a.example/hooks/", "", "a.example/hooks"},
		{"https://a.example:8443", "", "a.example:8443"},
		{"https://a.example/h?token=s3cret", " \n ", "a.example/h"},
		{"https://a.example", " Billing \nowned by Mara", "Billing"},
		{"https://a.example", long, strings.Repeat("é", 59) + "…"},
		{"", "", "rowlock listen"},
	} {
		if got := page.EndpointName(c.url, c.description); got != c.want {
			t.Errorf("%q, %q is called %q, want %q", c.url, c.description, got, c.want)
		}
	}
}
