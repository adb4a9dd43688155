package gateway

import "strings"

// PlainCell returns a text for a cell of a table that programs for tables open:
// one that they would take for a formula is marked as text, with a quote before
// it.
func PlainCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
