package component

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns a text in which nothing hides: control characters, what turns
// the direction of text around, has no width or is not UTF-8 become their
// numbers ("⟨U+0000⟩", "⟨U+202E⟩", "⟨0xFF⟩"). Line ends and tabs count as control
// characters.
func Visible(s string) string { return visible(s, false) }

// visibleLine is Visible for one line of code, in which tabs stay.
func visibleLine(s string) string { return visible(s, true) }

func visible(s string, tabs bool) string {
	first := strings.IndexFunc(s, func(r rune) bool { return hides(r) || r == utf8.RuneError })
	if first < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:first])
	for i := first; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨0x%02X⟩", s[i])
		case r == '\t' && tabs, !hides(r):
			b.WriteString(s[i : i+size])
		default:
			b.WriteString(spell(r))
		}
		i += size
	}
	return b.String()
}

// spell writes a character that hides in characters that do not.
func spell(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }

// hides tells whether a character could deceive a reader because it has no
// shape of its own.
func hides(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7F && r < 0xA0: // control characters
		return true
	case r < 0xA0:
		return false
	case unicode.Is(unicode.Cf, r): // bidi, zero width, soft hyphen, tags
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r) // Arabic signs that have a shape
	default:
		return unicode.Is(blank, r)
	}
}

// blank are characters outside of category Cf that show nothing. The selectors
// of text and emoji style, U+FE0E and U+FE0F, are left alone.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034F, Hi: 0x034F, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115F, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17B4, Hi: 0x17B5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180B, Hi: 0x180D, Stride: 1}, // Mongolian selectors
		{Lo: 0x2028, Hi: 0x2029, Stride: 1}, // line and paragraph separators
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xFE00, Hi: 0xFE0D, Stride: 1}, // variation selectors
		{Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1}, // halfwidth Hangul filler
	},
	R32: []unicode.Range32{
		{Lo: 0xE0000, Hi: 0xE0FFF, Stride: 1}, // tags and more selectors
	},
}

// Shorten cuts a text to at most n characters, the last of them "…" when
// something was cut. An n below one gives nothing.
func Shorten(s string, n int) string {
	if n < 1 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	count, end := 0, 0
	for i := range s {
		if count == n-1 {
			end = i
		}
		if count == n {
			return s[:end] + "…"
		}
		count++
	}
	return s
}
