package notify

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"
)

const (
	// smtpPort and smtpsPort are where mails are handed in unless the URL says
	// otherwise (RFC 6409, RFC 8314).
	smtpPort, smtpsPort = 587, 465
	// sendTimeout bounds one try, from connecting to the server's last word.
	sendTimeout = 20 * time.Second
	// sender is the mailbox that mails come from unless the URL says otherwise.
	sender = "rowlock"
	// refused is the first reply code by which a server says no for good.
	refused = 500
)

// server is where mails are handed in.
type server struct {
	host           string
	port           int
	implicitTLS    bool // from the first byte, rather than by STARTTLS
	user, password string
	from           *netmail.Address
}

// parseServer reads the address of a server.
func parseServer(text, baseURL string) (*server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("want a URL such as smtp://user:password@mail.example.com:587") // the cause would quote the password
	}
	s := &server{host: u.Hostname(), port: smtpPort, user: u.User.Username()}
	s.password, _ = u.User.Password()
	switch u.Scheme {
	case "smtp":
	case "smtps":
		s.implicitTLS, s.port = true, smtpsPort
	default:
		return nil, errors.New("want a URL that begins with smtp:// or smtps://")
	}
	if u.Port() != "" {
		if s.port, err = strconv.Atoi(u.Port()); err != nil || s.port < 1 || s.port > 65535 {
			return nil, errors.New("want a port from 1 to 65535")
		}
	}
	s.from, err = parseFrom(u.Query().Get("from"), baseURL)
	return s, err
}

// parseFrom reads the sender's address, with or without a name.
func parseFrom(text, baseURL string) (*netmail.Address, error) {
	if text == "" {
		base, err := url.Parse(baseURL)
		if err != nil {
			return nil, fmt.Errorf("parse the public address: %w", err)
		}
		return &netmail.Address{Name: "Rowlock", Address: sender + "@" + cmp.Or(base.Hostname(), "localhost")}, nil
	}
	from, err := netmail.ParseAddress(text)
	if err != nil {
		return nil, errors.New("want from= with one mail address")
	}
	return from, nil
}

// send hands a mail in. The connection is closed however it ends.
func (s *server) send(ctx context.Context, m Mail, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	message, err := s.message(m, now)
	if err != nil {
		return err
	}
	client, leave, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := client.Send(message); err != nil {
		return err
	}
	_ = client.Close() // a server that is rude in parting has taken the mail
	return nil
}

// connect greets the server, encrypts and logs in. leave closes the connection,
// which the end of ctx does, too.
func (s *server) connect(ctx context.Context) (_ *mail.Client, leave func(), _ error) {
	var conn net.Conn
	client, err := s.client(func(ctx context.Context, network, address string) (_ net.Conn, err error) {
		conn, err = s.dial(ctx, network, address)
		return conn, err
	})
	if err != nil {
		return nil, nil, err
	}
	err = client.DialWithContext(ctx)
	if conn == nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	leave = func() {
		stop()
		_ = conn.Close() // the server's last word was heard, or nothing came
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return client, leave, nil
}

// Reach connects to the server that a URL of Options names as a mail does, with
// encryption and log-in, and hands nothing in. It returns the address that mails
// come from.
func Reach(ctx context.Context, serverURL, baseURL string) (from string, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	s, err := parseServer(serverURL, baseURL)
	if err != nil {
		return "", err
	}
	client, leave, err := s.connect(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	_ = client.Close() // it let us in, which is what was asked
	return s.from.Address, nil
}

func (s *server) message(m Mail, now time.Time) (*mail.Msg, error) {
	message := mail.NewMsg(mail.WithNoDefaultUserAgent())
	message.FromMailAddress(s.from)
	if err := message.To(m.To); err != nil {
		return nil, fmt.Errorf("write mail: %w", err)
	}
	message.Subject(m.Subject)
	message.SetDateWithValue(now)
	message.SetMessageIDWithValue(m.ID.String() + "@" + s.domain())
	// No out-of-office note answers a machine (RFC 3834).
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetBodyString(mail.TypeTextPlain, m.Body)
	return message, nil
}

// domain is what follows the @ of the sender's address.
func (s *server) domain() string {
	for i := len(s.from.Address) - 1; i >= 0; i-- {
		if s.from.Address[i] == '@' {
			return s.from.Address[i+1:]
		}
	}
	return "localhost"
}

func (s *server) client(dial mail.DialContextFunc) (*mail.Client, error) {
	options := []mail.Option{
		mail.WithPort(s.port), mail.WithTimeout(sendTimeout), mail.WithDialContextFunc(dial),
		mail.WithTLSConfig(s.tls()), mail.WithTLSPolicy(s.startTLS()),
	}
	if s.user != "" {
		// Whatever is sent is encrypted, or stays in this machine.
		options = append(options, mail.WithUsername(s.user), mail.WithPassword(s.password), mail.WithOpportunisticSMTPAuth(
			mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlainNoEnc, mail.SMTPAuthLoginNoEnc))
	}
	client, err := mail.NewClient(s.host, options...)
	if err != nil {
		return nil, fmt.Errorf("make mail client: %w", err)
	}
	return client, nil
}

func (s *server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.implicitTLS {
		return (&tls.Dialer{Config: s.tls()}).DialContext(ctx, network, address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// startTLS is mandatory, save on this machine, where it is used when offered.
func (s *server) startTLS() mail.TLSPolicy {
	switch {
	case s.implicitTLS:
		return mail.NoTLS // it is on already
	case s.local():
		return mail.TLSOpportunistic
	}
	return mail.TLSMandatory
}

func (s *server) tls() *tls.Config {
	return &tls.Config{
		ServerName: s.host,
		MinVersion: tls.VersionTLS12,
		// A relay on this machine has a certificate of its own making, and
		// nobody is in between.
		InsecureSkipVerify: s.local(), //nolint:gosec // on loopback alone
	}
}

// local tells whether the server is on this machine.
func (s *server) local() bool {
	if s.host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(s.host)
	return err == nil && ip.Unmap().IsLoopback()
}

// isRefusal tells whether a server has said no for good.
func isRefusal(err error) bool {
	if answer, ok := errors.AsType[*channelError](err); ok {
		return answer.final()
	}
	refusal, ok := errors.AsType[*mail.SendError](err)
	return ok && refusal.ErrorCode() >= refused
}
