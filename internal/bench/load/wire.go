package load

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// answerWithin bounds one exchange. It is far above what is measured, so that a
// slow answer is a figure rather than an error.
const answerWithin = 30 * time.Second

// wire is one connection that requests are sent over, one after the other. It
// does less than an http.Client, which would take from the server, on the same
// machine, a good part of what it is measured with.
type wire struct {
	conn   net.Conn
	reader *bufio.Reader
	buffer []byte
}

// dial connects to a server by its address.
func dial(ctx context.Context, server *url.URL) (*wire, error) {
	port := server.Port()
	var conn net.Conn
	var err error
	if server.Scheme == "https" {
		conn, err = (&tls.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(server.Hostname(), orElse(port, "443")))
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(server.Hostname(), orElse(port, "80")))
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	return &wire{conn: conn, reader: bufio.NewReader(conn)}, nil
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (w *wire) close() { _ = w.conn.Close() } // nothing is written any more

// dialAll makes so many connections.
func dialAll(ctx context.Context, server *url.URL, n int) (wires []*wire, hangUp func(), err error) {
	hangUp = func() {
		for _, w := range wires {
			w.close()
		}
	}
	for range n {
		w, err := dial(ctx, server)
		if err != nil {
			hangUp()
			return nil, nil, err
		}
		wires = append(wires, w)
	}
	return wires, hangUp, nil
}

// head is what every request of a kind begins with.
func head(server *url.URL, path, key string) []byte {
	text := "POST " + path + " HTTP/1.1\r\nHost: " + server.Host + "\r\nContent-Type: application/json\r\n"
	if key != "" {
		text += "Authorization: Bearer " + key + "\r\n"
	}
	return []byte(text + "Content-Length: ")
}

// send makes a request of a head and parts of a body, and returns the status and
// the beginning of the answer.
func (w *wire) send(head []byte, size int, put func([]byte) []byte) (int, []byte, error) {
	w.buffer = append(w.buffer[:0], head...)
	w.buffer = strconv.AppendInt(w.buffer, int64(size), 10)
	w.buffer = put(append(w.buffer, "\r\n\r\n"...))
	if err := w.conn.SetDeadline(time.Now().Add(answerWithin)); err != nil {
		return 0, nil, fmt.Errorf("send a request: %w", err)
	}
	if _, err := w.conn.Write(w.buffer); err != nil {
		return 0, nil, fmt.Errorf("send a request: %w", err)
	}
	answer, err := http.ReadResponse(w.reader, nil)
	if err != nil {
		return 0, nil, fmt.Errorf("read an answer: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // what was to be read was
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxShown))
	if err != nil {
		return 0, nil, fmt.Errorf("read an answer: %w", err)
	}
	if answer.Close {
		return 0, nil, errors.New("the server ends the connection after each answer: it cannot be measured so")
	}
	return answer.StatusCode, text, nil
}

// maxShown is how many bytes of an answer are read; the server's are shorter.
const maxShown = 16 << 10
