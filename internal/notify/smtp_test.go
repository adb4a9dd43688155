package notify_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"sync"
	"testing"
)

// smtpServer is a mail server on this machine.
type smtpServer struct {
	listener net.Listener
	// tls, when set, is offered by STARTTLS; with implicit it is on from the
	// first byte.
	tls      *tls.Config
	implicit bool
	// user is who must log in; empty is nobody.
	user, password string
	// says replaces the reply to a command; "hang up" closes the connection.
	says map[string]string
	// parting, when set, is run when the client says that it goes.
	parting func()

	mu    sync.Mutex
	mails []received
	conns map[net.Conn]bool
	gone  sync.WaitGroup
}

// received is a mail as it came in.
type received struct {
	from, to  string
	text      string
	encrypted bool
	user      string
}

// certificate is one of a server's own making.
func certificate(t *testing.T) *tls.Config {
	t.Helper()
	https := httptest.NewTLSServer(nil)
	defer https.Close()
	return &tls.Config{Certificates: https.TLS.Certificates}
}

// start listens until the test is over.
func (s *smtpServer) start(t *testing.T) *smtpServer {
	t.Helper()
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.conns = map[net.Conn]bool{}
	s.gone.Go(s.accept)
	t.Cleanup(func() {
		_ = s.listener.Close()
		s.mu.Lock()
		for conn := range s.conns {
			_ = conn.Close()
		}
		s.mu.Unlock()
		s.gone.Wait()
	})
	return s
}

func (s *smtpServer) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[conn] = true
		s.mu.Unlock()
		s.gone.Go(func() {
			s.serve(conn)
			_ = conn.Close()
		})
	}
}

// url is where mails are handed in.
func (s *smtpServer) url() string {
	scheme, credentials := "smtp", ""
	if s.implicit {
		scheme = "smtps"
	}
	if s.user != "" {
		credentials = s.user + ":" + s.password + "@"
	}
	return scheme + "://" + credentials + s.listener.Addr().String()
}

func (s *smtpServer) got() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mails
}

// serve speaks with one client.
func (s *smtpServer) serve(conn net.Conn) {
	var m received
	if s.implicit {
		conn, m.encrypted = tls.Server(conn, s.tls), true
	}
	in := textproto.NewReader(bufio.NewReader(conn))
	say := func(reply string) { _, _ = io.WriteString(conn, reply+"\r\n") }
	say("220 mail.example.com ESMTP")
	for {
		line, err := in.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		verb = strings.ToUpper(verb)
		if reply, ok := s.says[verb]; ok {
			if reply == "hang up" {
				return
			}
			say(reply)
			continue
		}
		switch verb {
		case "STARTTLS":
			say("220 go")
			conn, m.encrypted = tls.Server(conn, s.tls), true
			in = textproto.NewReader(bufio.NewReader(conn))
		case "DATA":
			say("354 go")
			text, err := in.ReadDotBytes()
			if err != nil {
				return
			}
			m.text = string(text)
			say(s.take(m))
		case "QUIT":
			if s.parting != nil {
				s.parting()
			}
			say("221 bye")
			return
		default:
			say(s.reply(&m, verb, rest))
		}
	}
}

// reply answers a command about the mail to come.
func (s *smtpServer) reply(m *received, verb, rest string) string {
	switch verb {
	case "EHLO":
		return s.extensions(m.encrypted)
	case "AUTH":
		if rest != "PLAIN "+base64.StdEncoding.EncodeToString([]byte("\x00"+s.user+"\x00"+s.password)) {
			return "535 5.7.8 wrong"
		}
		m.user = s.user
		return "235 in"
	case "MAIL":
		m.from = rest
	case "RCPT":
		m.to = rest
	}
	return "250 ok"
}

// take keeps a mail, whatever it then says.
func (s *smtpServer) take(m received) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, m)
	if reply, ok := s.says["."]; ok {
		return reply
	}
	return "250 taken"
}

func (s *smtpServer) extensions(encrypted bool) string {
	lines := []string{"mail.example.com", "8BITMIME"}
	if s.tls != nil && !encrypted {
		lines = append(lines, "STARTTLS")
	}
	if s.user != "" {
		lines = append(lines, "AUTH PLAIN LOGIN")
	}
	var reply strings.Builder
	for i, line := range lines {
		separator := "-"
		if i == len(lines)-1 {
			separator = " "
		}
		fmt.Fprintf(&reply, "250%s%s\r\n", separator, line)
	}
	return strings.TrimSuffix(reply.String(), "\r\n")
}
