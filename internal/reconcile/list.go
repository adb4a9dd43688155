package reconcile

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

// maxLine is, in bytes, the longest line of a list, and the longest row of a CSV.
const maxLine = 64 << 10

// ListError tells that a list cannot be read on, and why, as a sentence.
type ListError struct {
	Why string
	// TooLarge tells that it is only too much.
	TooLarge bool
}

// Error says why.
func (e *ListError) Error() string { return e.Why }

func listFault(format string, args ...any) error {
	return &ListError{Why: fmt.Sprintf(format, args...)}
}

// rowError tells that one row cannot be read; the next can.
type rowError struct {
	n   int
	why string
}

func (e *rowError) Error() string { return fmt.Sprintf("line %d: %s", e.n, e.why) }

// list reads a partner's list row by row. next returns io.EOF at its end, a
// *rowError for a row that cannot be read, and a *ListError when none can be any
// more.
type list interface {
	next() (gateway.PartnerRow, error)
}

var (
	_ list = (*csvList)(nil)
	_ list = (*jsonList)(nil)
)

// open begins to read a list, compressed or not.
func open(from io.Reader, layout Layout) (list, error) {
	in, err := plainText(from)
	if err != nil {
		return nil, err
	}
	if layout.Format == FormatNDJSON {
		return newJSONList(in, layout), nil
	}
	return newCSVList(in, layout)
}

// plainText is a list as text: without compression, and without the mark that
// some programs put before UTF-8.
func plainText(from io.Reader) (*bufio.Reader, error) {
	sent := &limited{from: from, left: gateway.MaxReconciliationBytes}
	in := bufio.NewReaderSize(sent, maxLine)
	begin, err := in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, readFault(err)
	}
	if bytes.Equal(begin, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, readFault(sent.cut(err))
		}
		in = bufio.NewReaderSize(&limited{from: &unpacker{unpacked, sent}, left: gateway.MaxReconciliationBytes}, maxLine)
	}
	if begin, err = in.Peek(3); err != nil && !errors.Is(err, io.EOF) {
		return nil, readFault(err)
	}
	switch {
	case bytes.HasPrefix(begin, []byte{0xff, 0xfe}), bytes.HasPrefix(begin, []byte{0xfe, 0xff}):
		return nil, listFault("The list is written in UTF-16: save it as UTF-8.")
	case bytes.Equal(begin, []byte("\uFEFF")):
		_, _ = in.Discard(len(begin))
	}
	return in, nil
}

// errTooLarge tells that a list is longer than one may be.
var errTooLarge = &ListError{
	Why: fmt.Sprintf("The list is larger than %d MiB: split it.", gateway.MaxReconciliationBytes>>20), TooLarge: true,
}

// limited reads no more than is left, and tells when there is more.
type limited struct {
	from io.Reader
	left int64
	// ended tells that there is no more.
	ended bool
}

// Read reads up to one byte more than is left.
func (l *limited) Read(into []byte) (int, error) {
	if l.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(into)) > l.left+1 {
		into = into[:l.left+1]
	}
	n, err := l.from.Read(into)
	l.ended = errors.Is(err, io.EOF)
	if l.left -= int64(n); l.left < 0 {
		return n - 1, errTooLarge
	}
	return n, err
}

// cut tells a compressed list that ends too early, of which all that was sent is
// there, from one whose sending broke off.
func (l *limited) cut(err error) error {
	if l.ended && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
		return listFault("The compressed list ends in the middle: compress it again, or send it as it is.")
	}
	return err
}

// unpacker reads what was compressed.
type unpacker struct {
	from *gzip.Reader
	sent *limited
}

// Read reads a part.
func (u *unpacker) Read(into []byte) (int, error) {
	n, err := u.from.Read(into)
	if errors.Is(err, io.EOF) {
		return n, err // the proper end
	}
	return n, u.sent.cut(err)
}

// readFault says why nothing more can be read.
func readFault(err error) error {
	var damaged flate.CorruptInputError
	if told, ok := errors.AsType[*ListError](err); ok {
		return told
	}
	if errors.As(err, &damaged) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return listFault("The compressed list is damaged: compress it again, or send it as it is.")
	}
	return fmt.Errorf("read the list: %w", err)
}

// row makes a row of what its columns hold, which it checks.
func (l Layout) row(n int, key, eventType string) (gateway.PartnerRow, error) {
	row := gateway.PartnerRow{N: n, Key: strings.TrimSpace(key), Type: strings.TrimSpace(eventType)}
	switch {
	case !isText(row.Key) || !isText(row.Type):
		return row, &rowError{n, "is not UTF-8 text"}
	case row.Key == "":
		return row, &rowError{n, "has no " + l.wanted()}
	case len(row.Key) > gateway.MaxRowKey:
		return row, &rowError{n, fmt.Sprintf("its %s is longer than %d bytes", l.wanted(), gateway.MaxRowKey)}
	case l.TypeColumn != "" && row.Type == "":
		return row, &rowError{n, "has no type"}
	case len(row.Type) > gateway.MaxRowKey:
		return row, &rowError{n, "its type is too long"}
	}
	if l.MatchBy == gateway.MatchByEvent && !isEventID(row.Key) {
		return row, &rowError{n, "holds no event id, which begins with evt_"}
	}
	return row, nil
}

func isEventID(text string) bool {
	_, err := gateway.ParseID[gateway.EventID](text)
	return err == nil
}

// wanted is what a row's key is called.
func (l Layout) wanted() string {
	if l.MatchBy == gateway.MatchByEvent {
		return "event id"
	}
	return string(l.MatchBy)
}

// usualNames are what the column is called that a list is compared by, if nobody
// says.
var usualNames = map[gateway.MatchBy][]string{
	gateway.MatchByEvent:   {"event_id", "webhook-id", "webhook_id", "event", "id"},
	gateway.MatchByKey:     {"key", "idempotency_key", "idempotency-key"},
	gateway.MatchBySubject: {"subject"},
}
