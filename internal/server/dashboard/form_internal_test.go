package dashboard

import "testing"

// What programs are told that is wanted, people are told to use.
func TestAdvice(t *testing.T) {
	t.Parallel()
	for detail, want := range map[string]string{
		"want at least 12 characters":            "Use at least 12 characters.",
		"want 1s to 1m0s in whole milliseconds":  "Use 1s to 1m in whole milliseconds.",
		"want 0s to 168h0m0s":                    "Use 0s to 168h.",
		"want waits of up to 1h30m0s, 20m0s, 5s": "Use waits of up to 1h30m, 20m, 5s.",
		"The secret is empty.":                   "The secret is empty.",
		"":                                       "This is not right.",
	} {
		if got := advice(detail); got != want {
			t.Errorf("advice(%q) = %q, want %q", detail, got, want)
		}
	}
}
