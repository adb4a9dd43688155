package load

import (
	"bytes"
	"fmt"
	"strconv"
)

// The data of an event is one of its burst's number and enough letters: the one
// who gets it knows from the number what every byte must be.
const (
	bodyHead = `{"n":"`
	bodyMid  = `","text":"`
	bodyTail = `"}`
	digits   = 12
	minBody  = len(bodyHead) + digits + len(bodyMid) + len(bodyTail)
)

// body is the data of the n-th event.
type body struct{ of []byte }

func newBody(size int) body {
	text := bytes.Repeat([]byte("all work and no play "), size/21+1)[:size-minBody]
	return body{fmt.Appendf(nil, "%s%0*d%s%s%s", bodyHead, digits, 0, bodyMid, text, bodyTail)}
}

// put makes what was put into the buffer before the n-th event's.
func (b body) put(buffer []byte, n int) []byte {
	at := len(buffer) + len(bodyHead)
	buffer = append(buffer, b.of...)
	for i := at + digits - 1; i >= at; i-- {
		buffer[i] = '0' + byte(n%10) //nolint:gosec // a digit
		n /= 10
	}
	return buffer
}

// number is which event's data this is; false when it is none, or when a byte of
// it is another.
func (b body) number(data []byte) (int, bool) {
	if len(data) != len(b.of) {
		return 0, false
	}
	const end = len(bodyHead) + digits
	n, err := strconv.Atoi(string(data[len(bodyHead):end]))
	if err != nil || n < 0 || data[len(bodyHead)] == '+' {
		return 0, false
	}
	return n, bytes.HasPrefix(data, b.of[:len(bodyHead)]) && bytes.Equal(data[end:], b.of[end:])
}
