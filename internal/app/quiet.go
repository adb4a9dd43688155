package app

import (
	"bytes"
	"io"
	"log"
	"log/slog"
)

// CatchLibraryLog has what libraries print by package log said by ours. net/http
// prints there the first bytes of what a receiver sends without having been
// asked: of such a line the text is left out, since answers can hold secrets.
// It is for the whole process.
func CatchLibraryLog(to *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(libraryLog(to))
}

// unsolicited is how net/http begins a line that quotes a receiver.
var unsolicited = []byte("Unsolicited response received on idle HTTP channel")

func libraryLog(to *slog.Logger) io.Writer {
	return lines(func(line []byte) {
		if bytes.HasPrefix(line, unsolicited) {
			to.Debug("a receiver sent more than its answer; its connection was closed")
			return
		}
		to.Warn("a library says", "text", string(bytes.TrimSpace(line)))
	})
}

// lines takes what package log writes: a line at a time.
type lines func([]byte)

// Write never fails.
func (l lines) Write(line []byte) (int, error) {
	l(line)
	return len(line), nil
}
