package api

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/resource"
)

func TestTimestampForm(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("x", 2*60*60)
	for at, want := range map[time.Time]string{
		time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC):         `"2026-01-02T03:04:05.000000Z"`,
		time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC): `"2026-01-02T03:04:05.678901Z"`,
		time.Date(2026, 1, 2, 3, 4, 5, 0, zone):             `"2026-01-02T01:04:05.000000Z"`,
	} {
		if got, err := json.Marshal(timestamp(at)); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

func TestHeadersShowWhatWasStored(t *testing.T) {
	t.Parallel()
	got := headers([]byte("X-A: 1\r\nX-A: 2\r\nX-B: \xff\r\n"))
	if diff := cmp.Diff(headerView{"X-A": {"1", "2"}, "X-B": {"\ufffd"}}, got); diff != "" {
		t.Error(diff)
	}
	if text, err := json.Marshal(headers(nil)); err != nil || string(text) != "{}" {
		t.Errorf("none: %s, %v", text, err)
	}
}

func TestDurationTexts(t *testing.T) {
	t.Parallel()
	if got := durationTexts(nil); got != nil {
		t.Errorf("no schedule: %v", *got)
	}
	if got := durationTexts([]time.Duration{}); got == nil || len(*got) != 0 {
		t.Errorf("a schedule without waits: %v", got)
	}
	if got := durationTexts([]time.Duration{time.Second, 90 * time.Second, time.Minute, 24 * time.Hour, 90 * time.Minute, 0}); !cmp.Equal(*got, []string{"1s", "1m30s", "1m", "24h", "1h30m", "0s"}) {
		t.Errorf("%v", *got)
	}
	for _, bad := range []string{"", "10", "1d", "-1s", "hunter2", "1e9s", "9999999h", "1us", "721h"} {
		if d, err := (resource.Span{Least: 0, Most: gateway.MaxOverlap}).Read(bad, "body.x"); err == nil {
			t.Errorf("%q is %s", bad, d)
		}
	}
}

func TestWholeQuery(t *testing.T) {
	t.Parallel()
	for query, ok := range map[string]bool{
		"": true, "a=1&b=2": true, "a=%00": true, "a=1&a=1": false, "a=%zz": false, "a=1;b=2": false,
	} {
		if err := wholeQuery(query); (err == nil) != ok {
			t.Errorf("%q: %v", query, err)
		}
	}
}
