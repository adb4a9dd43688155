package body

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// Outflow is an answer that is written while it is read, and takes as long as it
// takes, as long as its reader does not stand still. What is written goes out at
// once.
func Outflow(w http.ResponseWriter) io.Writer {
	return &outflow{w, http.NewResponseController(w)}
}

type outflow struct {
	to      io.Writer
	control *http.ResponseController
}

// Write writes a part within its time.
func (o *outflow) Write(text []byte) (int, error) {
	// A connection that knows no deadlines, as in tests, has none to move.
	_ = o.control.SetWriteDeadline(time.Now().Add(stall))
	n, err := o.to.Write(text)
	if err == nil {
		err = o.control.Flush()
	}
	if err != nil {
		return n, fmt.Errorf("write a part of the answer: %w", err)
	}
	return n, nil
}
