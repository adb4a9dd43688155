package dashboard

import (
	"net/url"
	"testing"
	"time"
)

func TestPeriodOfAnAddress(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for query, want := range map[string]period{
		"":                          {preset: "24h", since: now.Add(-24 * time.Hour)},
		"range=1h":                  {preset: "1h", since: now.Add(-time.Hour)},
		"range=all":                 {preset: "all"},
		"range=forever":             {preset: "24h", since: now.Add(-24 * time.Hour)},
		"since=2026-06-30T10:00":    {since: at("2026-06-30T10:00:00Z")},
		"since=2026-06-30T10:00:30": {since: at("2026-06-30T10:00:30Z")},
		"until=2026-06-30T12:00%2B02:00&range=1h": {preset: "1h", since: now.Add(-time.Hour)}, // no seconds: neither form
		"until=2026-06-30T12:00:00%2B02:00":       {until: at("2026-06-30T10:00:00Z")},
		"since=0000-01-01T00:00":                  {preset: "24h", since: now.Add(-24 * time.Hour)},
		"since=9999-12-31T23:59:59-14:00":         {preset: "24h", since: now.Add(-24 * time.Hour)},
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := (listing{query: q, now: now}).period(usualRange); got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

// The period that holds is always said, and the next longer one is offered.
func TestPeriodIsSaid(t *testing.T) {
	t.Parallel()
	l := listing{path: "/a/acme/events", query: url.Values{"type": {"a b"}, "since": {"x"}, "after": {"evt_1"}}, now: time.Now()}
	for _, c := range []struct{ preset, text, wider string }{
		{"1h", "Last hour", "/a/acme/events?range=24h&type=a+b"},
		{"7d", "Last 7 days", "/a/acme/events?range=all&type=a+b"},
		{"all", "All time", ""},
	} {
		p := l.preset(c.preset)
		if p.text() != c.text || l.wider(p).Href != c.wider {
			t.Errorf("%s: %q, then %q", c.preset, p.text(), l.wider(p).Href)
		}
	}
	between := period{since: time.Date(2026, 6, 30, 10, 0, 0, 0, time.UTC), until: time.Date(2026, 7, 1, 9, 30, 0, 0, time.UTC)}
	if got := between.text(); got != "30 Jun, 10:00 – 1 Jul, 09:30" {
		t.Error(got)
	}
	if view := l.filter(between, "Received", usualRange); view.Since != "2026-06-30T10:00" || view.Until != "2026-07-01T09:30" || view.Name != "" {
		t.Errorf("%+v", view)
	}
}
