package app

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"
)

// What a receiver sends unasked, net/http quotes: that is not for the log.
func TestLibraryLogQuotesNobody(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	said := log.New(libraryLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))), "", 0)
	said.Printf("Unsolicited response received on idle HTTP channel starting with %q; err=%v", "HTTP/1.1 200 OK\r\nSet-Cookie: session=abc", nil)
	if text := out.String(); strings.Contains(text, "session") || !strings.Contains(text, "level=DEBUG") || !strings.Contains(text, "sent more than its answer") {
		t.Error(text)
	}
	out.Reset()
	said.Print("something else")
	if text := out.String(); !strings.Contains(text, `level=WARN msg="a library says" text="something else"`) {
		t.Error(text)
	}
}
