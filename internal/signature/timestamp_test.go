package signature

import (
	"errors"
	"net/http"
	"testing"
	"time"
)

func TestParseUnix(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "1760000000": 1760000000, "01760000000": 1760000000, "999999999999999999": 999999999999999999} {
		if at, ok := parseUnix(text); !ok || at.Unix() != want {
			t.Errorf("%q: %v, %v", text, at, ok)
		}
	}
	for _, text := range []string{"", " 1", "1 ", "+1", "-1", "1.0", "1e3", "0x1", "1_000", "١", "1000000000000000000", "now"} {
		if at, ok := parseUnix(text); ok {
			t.Errorf("%q is read as %v", text, at)
		}
	}
}

func TestTimeHeader(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		values []string
		ok     bool
	}{
		"one":       {[]string{"1760000000"}, true},
		"absent":    {nil, false},
		"empty":     {[]string{""}, false},
		"two":       {[]string{"1760000000", "1760000000"}, false},
		"no number": {[]string{"Thu, 09 Oct 2025 08:53:20 GMT"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, at, err := timeHeader(http.Header{"X-Time": c.values}, "X-Time", inSeconds)
			if !c.ok {
				if refusal := wantRefusal(t, err, CodeMalformed); refusal.Header != "X-Time" {
					t.Errorf("header is %q", refusal.Header)
				}
				return
			}
			if err != nil || text != c.values[0] || !at.Equal(testNow) {
				t.Errorf("%q, %v, %v", text, at, err)
			}
		})
	}
}

// TestCheckTimeExtremes: no time, however far, comes round to now.
func TestCheckTimeExtremes(t *testing.T) {
	t.Parallel()
	far, ok := parseUnix("999999999999999999")
	if !ok {
		t.Fatal("the furthest time is not read")
	}
	for _, at := range []time.Time{far, time.Unix(0, 0), {}} {
		_, err := checkTime("X-Time", at, Request{Now: testNow}, Settings{})
		_ = wantRefusal(t, err, CodeTimestamp)
	}
}

// TestToleranceBelowZero: a tolerance that makes no sense is the default, not
// a source that refuses everything or nothing.
func TestToleranceBelowZero(t *testing.T) {
	t.Parallel()
	for skew, accepted := range map[time.Duration]bool{0: true, DefaultTolerance: true, DefaultTolerance + 1: false, -DefaultTolerance - 1: false} {
		_, err := checkTime("X-Time", testNow.Add(-skew), Request{Now: testNow}, Settings{Tolerance: -time.Second})
		if (err == nil) != accepted {
			t.Errorf("skew %v: %v", skew, err)
		}
	}
}

// TestOutOfRangeWords: the sentence tells which clock to look at.
func TestOutOfRangeWords(t *testing.T) {
	t.Parallel()
	for skew, want := range map[time.Duration]string{
		10 * time.Minute:                      "The signature is right, but its time is 10m in the past; 5m is allowed.",
		-6*time.Minute - time.Second:          "The signature is right, but its time is 6m1s ahead of this server’s clock; 5m is allowed.",
		5*time.Minute + 1400*time.Millisecond: "The signature is right, but its time is 5m1s in the past; 5m is allowed.",
	} {
		_, err := checkTime("X-Time", testNow.Add(-skew), Request{Now: testNow}, Settings{})
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Detail != want || refusal.Skew != skew || refusal.Header != "X-Time" {
			t.Errorf("got %+v, want %q", refusal, want)
		}
	}
}
