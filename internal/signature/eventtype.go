package signature

import "strings"

// maxTypeLen is the longest event type, in bytes.
const maxTypeLen = 256

// reservedPrefix begins the types of the gateway's own events. A sender that
// could use it would raise false alarms in its receiver's name.
const reservedPrefix = "rowlock."

// eventType returns a sender's type if it may be one, else "". What passes is
// safe in a header, a file name and a page.
func eventType(text string) string {
	if text == "" || len(text) > maxTypeLen || strings.HasPrefix(text, reservedPrefix) {
		return ""
	}
	for i := range len(text) {
		if text[i] == ' ' && i > 0 && i < len(text)-1 {
			continue // GitLab's types are words: "Push Hook"
		}
		if !isTypeByte(text[i], i == 0) {
			return ""
		}
	}
	return text
}

func isTypeByte(c byte, first bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
		return true
	default:
		return !first && strings.IndexByte(".:/-", c) >= 0
	}
}
