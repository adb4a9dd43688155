package page_test

import (
	"strings"
	"testing"

	"github.com/rowlock/rowlock/web/page"
)

func TestFilterTried(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0:  "There is no recent event of these types to try it on.",
		1:  "1 of 1 recent event would be sent.",
		20: "7 of 20 recent events would be sent.",
	} {
		trial := page.FilterTrial{Now: noon}
		for i := range n {
			e := page.TriedEvent{Type: hostile, Href: "/a/acme/events/evt_1", At: noon, Matches: i%3 == 0}
			if i%3 == 1 {
				e.Reason = hostile
			}
			trial.Events = append(trial.Events, e)
		}
		d := drawn(t, page.FilterTried(trial))
		if got := strings.TrimSpace(d.Find("p").First().Text()); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
		wantNumber(t, d, "tbody tr", n)
		wantNumber(t, d, "tbody tr small", (n+1)/3)
		wantNumber(t, d, `tbody tr[data-matches="true"]`, (n+2)/3)
	}
	d := drawn(t, page.FilterTried(page.FilterTrial{Error: hostile}))
	wantNumber(t, d, `[role="alert"]`, 1)
	wantNumber(t, d, "table", 0)
}

// The button that tries a filter is not the one that Enter presses.
func TestEnterSavesTheEndpoint(t *testing.T) {
	t.Parallel()
	f := endpointForm()
	f.TryFilter = "/a/acme/endpoints/new/filter"
	d := drawn(t, page.EndpointFormPage(f))
	buttons := d.Find("#endpoint [type=submit]")
	if _, elsewhere := buttons.First().Attr("formaction"); elsewhere {
		t.Error("Enter tries the filter")
	}
	wantNumber(t, d, `#endpoint button[formaction="/a/acme/endpoints/new/filter#filter-part"][hx-post="/a/acme/endpoints/new/filter"][hx-target="#filter-tried"]`, 1)
	wantNumber(t, d, "#filter-help tbody tr", 6)
	wantNumber(t, d, "#filter-help dt", 6)
	wantNumber(t, d, "#filter-part[open]", 0)
	f.Tried = &page.FilterTrial{Now: noon}
	wantNumber(t, drawn(t, page.EndpointFormPage(f)), "#filter-part[open] #filter-tried p", 1)
}

func TestUnsentLines(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 100} {
		v := event(1, "order.created")
		for range n {
			v.Unsent = append(v.Unsent, page.Unsent{Endpoint: hostile, Href: "/a/acme/endpoints/ep_1", Text: hostile, Ask: "/a/acme/events/evt_1/redeliver?endpoint=ep_1"})
		}
		d := drawn(t, page.EventPage(v))
		wantNumber(t, d, "#unsent > li", n)
		wantNumber(t, d, "#unsent a[hx-get]", n)
		v.Manages = false
		wantNumber(t, drawn(t, page.EventPage(v)), "#unsent a[hx-get]", 0)
	}
}
