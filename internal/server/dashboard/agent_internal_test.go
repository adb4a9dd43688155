package dashboard

import (
	"testing"
	"unicode/utf8"
)

func TestReadAgent(t *testing.T) {
	t.Parallel()
	const (
		mac     = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) "
		windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"
		phone   = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
		pixel   = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
	)
	for header, want := range map[string]struct {
		words string
		phone bool
	}{
		mac + "Chrome/120.0.0.0 Safari/537.36": {"Chrome on macOS", false},
		mac + "Version/17.2 Safari/605.1.15":   {"Safari on macOS", false},
		windows:                                {"Chrome on Windows", false},
		windows + " Edg/120.0":                 {"Edge on Windows", false},
		windows + " OPR/106.0":                 {"Opera on Windows", false},
		"Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0":                                           {"Firefox on Linux", false},
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36":       {"Chrome on ChromeOS", false},
		phone + "Version/17.2 Mobile/15E148 Safari/604.1":                                                                  {"Safari on iPhone", true},
		phone + "CriOS/120.0 Mobile/15E148 Safari/604.1":                                                                   {"Chrome on iPhone", true},
		phone + "FxiOS/121.0 Mobile/15E148 Safari/605.1.15":                                                                {"Firefox on iPhone", true},
		pixel + "Chrome/120.0 Mobile Safari/537.36":                                                                        {"Chrome on Android", true},
		pixel + "SamsungBrowser/23.0 Chrome/115.0 Safari/537.36":                                                           {"Samsung Internet on Android", false},
		"Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Safari/604.1": {"Safari on iPad", false},
		"curl/8.5.0":                      {"curl", false},
		"Something/1.0 (Windows NT 10.0)": {"A browser on Windows", false},
		"":                                {"Unknown device", false},
		"<script>alert(1)</script>":       {"Unknown device", false},
		"Go-http-client/1.1":              {"Unknown device", false},
	} {
		if got := readAgent(header); got.words() != want.words || got.phone != want.phone {
			t.Errorf("%q is %q, a phone: %v", header, got.words(), got.phone)
		}
	}
}

// Whatever a client says of itself, what is shown is one of our own words.
func FuzzReadAgent(f *testing.F) {
	f.Add("Mozilla/5.0 (Windows NT 10.0) Chrome/120.0 Safari/537.36")
	f.Add("\x00\xff")
	f.Fuzz(func(t *testing.T, header string) {
		words := readAgent(header).words()
		if words == "" || len(words) > 40 || !utf8.ValidString(words) {
			t.Errorf("%q is %q", header, words)
		}
	})
}
