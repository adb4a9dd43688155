package config_test

import (
	"testing"

	"github.com/rowlock/rowlock/internal/config"
)

func TestSizeRoundTrip(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		bytes config.Size
		text  string
	}{
		"0": {0, "0"}, "1": {1, "1"}, "512B": {512, "512"}, "1024": {1024, "1KiB"}, "1 MiB": {1 << 20, "1MiB"},
		"1536KiB": {1536 << 10, "1536KiB"}, "10GiB": {10 << 30, "10GiB"}, "3TiB": {3 << 40, "3TiB"},
	} {
		var s config.Size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want.bytes || s.String() != want.text {
			t.Errorf("%q = %d %q, %v; want %d %q", text, s, s, err, want.bytes, want.text)
		}
	}
}

func FuzzSize(f *testing.F) {
	for _, seed := range []string{"0", "1MiB", "9223372036854775807", "8388608TiB", "1KiB ", "+1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s, again config.Size
		if s.UnmarshalText([]byte(text)) != nil {
			return
		}
		if s < 0 {
			t.Errorf("%q is negative: %d", text, s)
		}
		if err := again.UnmarshalText([]byte(s.String())); err != nil || again != s {
			t.Errorf("%q = %d writes %q, which reads %d, %v", text, s, s.String(), again, err)
		}
	})
}

func FuzzLists(f *testing.F) {
	for _, seed := range []string{"10.0.0.0/8,::1", "5s,5m", "1.2.3.4/0", "fe80::1%eth0/64", "1ns"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var networks config.Networks
		if networks.UnmarshalText([]byte(text)) == nil {
			var again config.Networks
			if err := again.UnmarshalText([]byte(networks.String())); err != nil || again.String() != networks.String() {
				t.Errorf("networks %q do not round trip: %v", text, err)
			}
		}
		var schedule config.Schedule
		if schedule.UnmarshalText([]byte(text)) == nil {
			var again config.Schedule
			if err := again.UnmarshalText([]byte(schedule.String())); err != nil || again.String() != schedule.String() {
				t.Errorf("schedule %q does not round trip: %v", text, err)
			}
		}
	})
}
