package body

import (
	"fmt"
	"io"
	"net/http"
	"slices"
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

// pieceBytes is how much is written within the time of one stall: so little that
// whoever reads at all has read it by then.
const pieceBytes = 64 << 10

// Write writes a part, each piece of it within a time of its own.
func (o *outflow) Write(text []byte) (written int, err error) {
	for piece := range slices.Chunk(text, pieceBytes) {
		n, err := o.writePiece(piece)
		if written += n; err != nil {
			return written, fmt.Errorf("write a part of the answer: %w", err)
		}
	}
	return written, nil
}

func (o *outflow) writePiece(piece []byte) (int, error) {
	// A connection that knows no deadlines, as in tests, has none to move.
	_ = o.control.SetWriteDeadline(time.Now().Add(stall))
	n, err := o.to.Write(piece)
	if err == nil {
		err = o.control.Flush()
	}
	return n, err
}
