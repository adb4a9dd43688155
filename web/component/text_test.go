package component_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rowlock/rowlock/web/component"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ give, want string }{
		"empty":           {"", ""},
		"plain":           {"order 88213, done", "order 88213, done"},
		"other scripts":   {"Łukasz 株式会社 עברית العربية", "Łukasz 株式会社 עברית العربية"},
		"NUL":             {"a\x00b", "a⟨U+0000⟩b"},
		"line ends":       {"a\r\nb\tc", "a⟨U+000D⟩⟨U+000A⟩b⟨U+0009⟩c"},
		"escape sequence": {"\x1b[31m", "⟨U+001B⟩[31m"},
		"delete":          {"\x7f", "⟨U+007F⟩"},
		"C1 control":      {"\u0085", "⟨U+0085⟩"},
		"bidi override":   {"invoice\u202egnp.exe", "invoice⟨U+202E⟩gnp.exe"},
		"bidi isolates":   {"\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"},
		"zero width":      {"pay\u200bpal\ufeff", "pay⟨U+200B⟩pal⟨U+FEFF⟩"},
		"soft hyphen":     {"a\u00adb", "a⟨U+00AD⟩b"},
		"line separator":  {"a\u2028b", "a⟨U+2028⟩b"},
		"Hangul filler":   {"a\u3164b", "a⟨U+3164⟩b"},
		"tags":            {"a\U000e0041b", "a⟨U+E0041⟩b"},
		"emoji style":     {"❤\ufe0f", "❤\ufe0f"},
		"Arabic sign":     {"\u0600", "\u0600"},
		"not UTF-8":       {"a\xffb\xc3", "a⟨0xFF⟩b⟨0xC3⟩"},
		"replacement":     {"a\ufffdb", "a\ufffdb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := component.Visible(tt.give); got != tt.want {
				t.Errorf("Visible(%q) = %q, want %q", tt.give, got, tt.want)
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range append(evil, "", "plain", "a\u200bb\x7f") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := component.Visible(s)
		if !utf8.ValidString(got) {
			t.Errorf("Visible(%q) = %q is not UTF-8", s, got)
		}
		if strings.ContainsFunc(got, unicode.IsControl) || strings.ContainsAny(got, "\u200b\u200e\u200f\u202a\u202e\u2066\u2069\ufeff") {
			t.Errorf("Visible(%q) = %q still hides something", s, got)
		}
		if again := component.Visible(got); again != got {
			t.Errorf("Visible is not settled: %q, then %q", got, again)
		}
	})
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		give string
		n    int
		want string
	}{
		{"", 5, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"abcd", 1, "…"},
		{"abcd", 0, ""},
		{"abcd", -1, ""},
		{"äöüß", 4, "äöüß"},
		{"äöüß", 3, "äö…"},
		{"\xff\xff\xff", 2, "\xff…"},
	} {
		if got := component.Shorten(tt.give, tt.n); got != tt.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", tt.give, tt.n, got, tt.want)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("äöü", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		got := component.Shorten(s, n)
		if utf8.RuneCountInString(got) > max(n, 0) {
			t.Errorf("Shorten(%q, %d) = %q is too long", s, n, got)
		}
		if !strings.HasPrefix(s, strings.TrimSuffix(got, "…")) {
			t.Errorf("Shorten(%q, %d) = %q is another text", s, n, got)
		}
	})
}
