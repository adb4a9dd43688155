package reconcile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

// csvList reads a CSV as programs write it: commas, semicolons or tabs between,
// quotes around, any end of line. No row is in memory beyond maxLine: a quote
// that nobody closed does not take the rest of the list with it.
type csvList struct {
	Layout

	in *bufio.Reader
	// between is what stands between fields.
	between byte
	// line is how many lines were begun.
	line int
	// text holds a row's fields one after the other, ends where each ends.
	text []byte
	ends []int
	// keyAt and typeAt are the columns, from 0; a typeAt below 0 is none.
	keyAt, typeAt int
	// unread is the line of a first row that was read for the columns' names and
	// is one like the others; zero for none.
	unread int
}

// newCSVList finds out where the columns are.
func newCSVList(in *bufio.Reader, layout Layout) (*csvList, error) {
	c := &csvList{Layout: layout, in: in, typeAt: -1}
	begin, err := firstLine(in)
	if err != nil {
		return nil, err
	}
	c.between = separator(begin)
	var names []string
	line := 0
	if !c.NoHeader {
		if line, names, err = c.header(); err != nil {
			return nil, err
		}
	}
	if c.keyAt, err = c.column(c.KeyColumn, names, usualNames[c.MatchBy]); err != nil {
		return nil, err
	}
	if names != nil && c.MatchBy == gateway.MatchByEvent && isEventID(names[c.keyAt]) {
		c.unread = line // no column is called so
	}
	if c.TypeColumn != "" {
		c.typeAt, err = c.column(c.TypeColumn, names, nil)
	}
	return c, err
}

// firstLine looks at a list up to the end of its first line, and waits for no
// more of it than that.
func firstLine(in *bufio.Reader) ([]byte, error) {
	for n := 1; ; n = max(in.Buffered(), n+1) {
		begin, err := in.Peek(min(n, maxLine))
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return nil, readFault(err)
		case err != nil, n >= maxLine, bytes.ContainsAny(begin, "\r\n"):
			return begin, nil
		}
	}
}

// separator is what stands between the fields of the first line: whatever comes
// most often outside of quotes.
func separator(begin []byte) byte {
	counts, quoted := map[byte]int{}, false
	for _, b := range begin {
		if b == '"' {
			quoted = !quoted
		}
		if !quoted && (b == '\n' || b == '\r') {
			break
		}
		if !quoted {
			counts[b]++
		}
	}
	best := byte(',')
	for _, b := range []byte{';', '\t'} {
		if counts[b] > counts[best] {
			best = b
		}
	}
	return best
}

// header reads the names of the columns, and tells in which line they stand.
func (c *csvList) header() (line int, names []string, err error) {
	line, err = c.record()
	if errors.Is(err, io.EOF) {
		return line, nil, listFault("The list is empty.")
	}
	if faulty, ok := errors.AsType[*rowError](err); ok {
		return line, nil, listFault("The first row, which names the columns, cannot be read: it %s.", faulty.why)
	}
	if err != nil {
		return line, nil, err
	}
	names = make([]string, len(c.ends))
	for i := range names {
		names[i] = strings.TrimSpace(c.field(i))
	}
	return line, names, nil
}

// column finds a column by its name, its number, or a usual name. A first row of
// one column that is called otherwise may be a row like the others: nobody is to
// miss it without a word, so that it is asked for.
func (c *csvList) column(asked string, names, usual []string) (int, error) {
	if at := slices.Index(names, asked); asked != "" && at >= 0 {
		return at, nil
	}
	if n, err := strconv.Atoi(asked); err == nil && n >= 1 {
		if names != nil && n > len(names) {
			return 0, listFault("There is no column %d: the first row names %d.", n, len(names))
		}
		return n - 1, nil
	}
	switch {
	case names == nil && asked == "":
		return 0, nil
	case names == nil:
		return 0, listFault("There is no column “%s”: without a first row that names the columns, give its number.", asked)
	case asked != "":
		return 0, listFault("There is no column “%s”: the first row names %s.", asked, listed(names))
	case len(names) == 1 && c.MatchBy == gateway.MatchByEvent:
		return 0, nil // an event id, or surely a name
	}
	for _, name := range usual {
		if at := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) }); at >= 0 {
			return at, nil
		}
	}
	return 0, listFault("Say which column holds the %s: the first row names %s. If it is a row like the others, say that the list has no header.", c.wanted(), listed(names))
}

// maxListed is how many columns are named in a message.
const maxListed = 20

// listed names columns within a sentence.
func listed(names []string) string {
	more := ""
	if len(names) > maxListed {
		names, more = names[:maxListed], ", …"
	}
	told := make([]string, len(names))
	for i, name := range names {
		told[i] = "“" + shortened(name) + "”"
	}
	return strings.Join(told, ", ") + more
}

// shortened is a column's name as messages show it.
func shortened(name string) string {
	const most = 40
	name = strings.ReplaceAll(strings.ToValidUTF8(name, "\uFFFD"), "\x00", "\uFFFD")
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return name
}

// next reads a row; empty lines are passed over.
func (c *csvList) next() (gateway.PartnerRow, error) {
	for {
		n, err := c.unread, error(nil)
		if c.unread = 0; n == 0 {
			n, err = c.record()
		}
		if err != nil {
			return gateway.PartnerRow{N: n}, err
		}
		if len(c.ends) == 1 && len(c.text) == 0 {
			continue
		}
		if c.keyAt >= len(c.ends) || c.typeAt >= len(c.ends) {
			return gateway.PartnerRow{N: n}, &rowError{n, "has too few columns"}
		}
		eventType := ""
		if c.typeAt >= 0 {
			eventType = c.field(c.typeAt)
		}
		return c.row(n, c.field(c.keyAt), eventType)
	}
}

// field is one field of the row that was read last.
func (c *csvList) field(i int) string {
	begin := 0
	if i > 0 {
		begin = c.ends[i-1]
	}
	return string(c.text[begin:c.ends[i]])
}

// Where in a field a reader is.
type csvState int

const (
	// atStart is before its first character.
	atStart csvState = iota
	// inPlain is in a field without quotes.
	inPlain
	// inQuotes is between quotes.
	inQuotes
	// behindQuote is behind a quote that ends the field, or begins a doubled one.
	behindQuote
)

// record reads one row into text and ends, and returns the line where it begins.
func (c *csvList) record() (n int, err error) {
	c.text, c.ends = c.text[:0], c.ends[:0]
	c.line++
	n = c.line
	state := atStart
	for read := 0; ; read++ {
		b, err := c.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return n, c.atEnd(n, state, read)
		}
		if err != nil {
			return n, readFault(err)
		}
		if b == '\r' && state != inQuotes {
			b = c.lineEnd()
		}
		if b == '\n' && state != inQuotes {
			c.ends = append(c.ends, len(c.text))
			return n, nil
		}
		if state, err = c.take(n, state, b); err != nil {
			return n, err
		}
	}
}

// atEnd is what the end of the list means for a row that was begun.
func (c *csvList) atEnd(n int, state csvState, read int) error {
	switch {
	case state == inQuotes:
		return listFault("The quote that opens in line %d is never closed.", n)
	case read == 0:
		return io.EOF
	}
	c.ends = append(c.ends, len(c.text))
	return nil
}

// lineEnd takes what follows a carriage return with it.
func (c *csvList) lineEnd() byte {
	if after, err := c.in.Peek(1); err == nil && after[0] == '\n' {
		_, _ = c.in.Discard(1)
	}
	return '\n'
}

// take takes a character that ends no row.
func (c *csvList) take(n int, state csvState, b byte) (csvState, error) {
	switch {
	case len(c.text)+len(c.ends) > maxLine && state == inQuotes:
		return state, listFault("The row that begins in line %d is longer than %d KiB: is a quote left open there?", n, maxLine>>10)
	case len(c.text)+len(c.ends) > maxLine:
		return state, c.skip(n, "is longer than 64 KiB")
	case state == inQuotes && b == '"':
		return behindQuote, nil
	case state == inQuotes:
		if b == '\n' {
			c.line++
		}
		c.text = append(c.text, b)
		return inQuotes, nil
	case b == c.between:
		c.ends = append(c.ends, len(c.text))
		return atStart, nil
	case state == atStart && b == '"':
		return inQuotes, nil
	case state == behindQuote && b == '"':
		c.text = append(c.text, b)
		return inQuotes, nil
	case state == behindQuote && b != ' ':
		return state, c.skip(n, "has text behind a closing quote")
	case state == behindQuote:
		return behindQuote, nil
	}
	c.text = append(c.text, b)
	return inPlain, nil
}

// skip passes over the rest of a line that cannot be read, whatever ends it.
func (c *csvList) skip(n int, why string) error {
	for {
		b, err := c.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return &rowError{n, why}
		case err != nil:
			return readFault(err)
		case b == '\r':
			b = c.lineEnd()
		}
		if b == '\n' {
			return &rowError{n, why}
		}
	}
}
