package page

import (
	"net/http"
	"strconv"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// causeWords is how a cause of failures is told.
type causeWords struct {
	// icon is a drawing for it, name what it is called, note what that means.
	icon, name, note string
}

// kindWords are the words about attempts to which no answer came.
var kindWords = map[gateway.ErrorKind]causeWords{
	gateway.ErrorDNS:      {"globe", "No address", "DNS knows no such name"},
	gateway.ErrorConnect:  {"unplug", "Refused", "Nobody accepted the connection"},
	gateway.ErrorTLS:      {"shield-alert", "TLS", "The handshake or the certificate"},
	gateway.ErrorTimeout:  {"hourglass", "Timeout", "No answer in time"},
	gateway.ErrorReset:    {"unplug", "Reset", "The connection broke before the answer"},
	gateway.ErrorBlocked:  {"ban", "Blocked", "The address must not be reached"},
	gateway.ErrorTooLarge: {"circle-alert", "Too large", "The answer’s headers"},
	gateway.ErrorProtocol: {"circle-alert", "Not HTTP", "What came back is no answer"},
	gateway.ErrorDisabled: {"ban", "Not sent", "The endpoint was disabled: its failover got it"},
}

// wordsOf says what a cause is.
func wordsOf(c gateway.Cause) causeWords {
	if words, ok := kindWords[c.ErrorKind]; ok {
		return words
	}
	if c.StatusCode != 0 {
		note := http.StatusText(c.StatusCode)
		if note == "" {
			note = "The receiver said no"
		}
		return causeWords{"circle-alert", "HTTP " + strconv.Itoa(c.StatusCode), note}
	}
	if c.ErrorKind != "" {
		return causeWords{"circle-alert", component.Word(c.ErrorKind), "No answer came"}
	}
	return causeWords{"circle-help", "Unknown", "The answer was never recorded"}
}

// CauseName is what a cause is called on every page: "HTTP 503", "Timeout".
func CauseName(c gateway.Cause) string { return wordsOf(c).name }
