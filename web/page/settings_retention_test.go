package page_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

func TestRetentionPage(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	v := page.Retention{Frame: framed(), Now: noon, Events: 30 * day, Keys: 3 * day, Claims: 90 * day, Limits: []page.AccountLimit{
		{Name: "Endpoints", Used: 79, Most: 100},
		{Name: "Near", Used: 80, Most: 100},
		{Name: "Full", Used: 120, Most: 100},
		{Name: "Payloads", Used: 5e6, Write: component.Bytes[int64]},
		{Name: "Speed", Most: 50, Rate: true},
		{Name: "Free", Rate: true},
	}}
	d := drawn(t, page.RetentionPage(v))
	wantWords(t, d, "#kept", "30 d")
	wantWords(t, d, "#kept", "3 d")
	for i, want := range []string{"Endpoints 79 of 100", "Near 80 of 100", "Full 120 of 100", "Payloads 5 MB, no limit", "Speed 50", "Free no limit"} {
		if got := words(d.Find("#limits li").Eq(i)); got != want {
			t.Errorf("limit %d says %q, want %q", i, got, want)
		}
	}
	for selector, n := range map[string]int{".meter": 3, ".meter .v[width='79']": 1, ".meter .v-warn": 1, ".meter .v-bad[width='100']": 1} {
		wantNumber(t, d, "#limits "+selector, n)
	}
}
