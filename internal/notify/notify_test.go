package notify_test

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

func TestSend(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		server    *smtpServer
		query     string
		from      string
		encrypted bool
	}{
		"plain":         {&smtpServer{}, "", "Rowlock <rowlock@hooks.example.com>", false},
		"STARTTLS":      {&smtpServer{tls: certificate(t)}, "?from=hooks@example.org", "hooks@example.org", true},
		"TLS":           {&smtpServer{tls: certificate(t), implicit: true}, "?from=" + url.QueryEscape("Höks <h@example.org>"), "Höks <h@example.org>", true},
		"password":      {&smtpServer{user: "ada", password: "se%25cret"}, "", "Rowlock <rowlock@hooks.example.com>", false},
		"TLS, password": {&smtpServer{tls: certificate(t), implicit: true, user: "ada", password: "secret"}, "", "Rowlock <rowlock@hooks.example.com>", true},
		"rude parting":  {&smtpServer{says: map[string]string{"QUIT": "hang up"}}, "", "Rowlock <rowlock@hooks.example.com>", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := tt.server.start(t)
			b := newBundle(t, server.url()+tt.query)
			server.password, _ = url.PathUnescape(server.password)
			id := b.write(t, true)
			for range 2 {
				if err := b.Send(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
			got := server.got()
			if len(got) != 1 || got[0].encrypted != tt.encrypted || got[0].user != server.user || !strings.Contains(got[0].to, "<ada@example.com>") {
				t.Fatalf("the server got %+v", got)
			}
			wantText(t, got[0].text, tt.from)
			if m := b.kept(t, id); m.SentAt == nil || m.Body != "" || m.DueAt != nil || m.Tries != 1 || m.Failure != "" {
				t.Errorf("the mail afterwards: %+v", m)
			}
			b.wantQuiet(t, "token", "secret")
		})
	}
}

// wantText fails unless a mail says what was written, to one person alone.
func wantText(t *testing.T, text, from string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	decoded := func(header string) string {
		value, err := (&mime.WordDecoder{}).DecodeHeader(m.Header.Get(header))
		if err != nil {
			t.Error(err)
		}
		return value
	}
	wantFrom, _ := mail.ParseAddress(from)
	if got, err := mail.ParseAddress(m.Header.Get("From")); err != nil || *got != *wantFrom {
		t.Errorf("from %v, %v; want %s", got, err, from)
	}
	if m.Header.Get("To") != "<ada@example.com>" || m.Header.Get("Bcc") != "" || m.Header.Get("Auto-Submitted") != "auto-generated" {
		t.Errorf("headers %v", m.Header)
	}
	if got := decoded("Subject"); !strings.HasPrefix(got, "Grüße") {
		t.Errorf("subject %q", got)
	}
	if at, err := m.Header.Date(); err != nil || time.Since(at).Abs() > time.Hour {
		t.Errorf("date %s, %v", at, err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if got := strings.ReplaceAll(string(body), "\r\n", "\n"); err != nil || strings.TrimSpace(got) != "Hello, Ädä.\n\n.\nhttps://hooks.example.com/reset/token" {
		t.Errorf("body %q, %v", body, err)
	}
}

// wantQuiet fails when the log says what it must not.
func (b bundle) wantQuiet(t *testing.T, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if strings.Contains(b.log.String(), secret) {
			t.Errorf("the log says %q:\n%s", secret, b.log.String())
		}
	}
	if !strings.Contains(b.log.String(), "recipient=ada@example.com") {
		t.Errorf("the log does not name the recipient:\n%s", b.log.String())
	}
}

// A server that refuses for now is tried again; one that refuses for good is
// not. Either way it can be seen why.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		server  *smtpServer
		final   bool
		failure string
	}{
		"recipient unknown": {&smtpServer{says: map[string]string{"RCPT": "550 5.1.1 nobody here"}}, true, "nobody here"},
		"sender refused":    {&smtpServer{says: map[string]string{"MAIL": "553 not you"}}, true, "not you"},
		"text refused":      {&smtpServer{says: map[string]string{".": "554 5.7.1 spam"}}, true, "spam"},
		"grey list":         {&smtpServer{says: map[string]string{"RCPT": "451 4.7.1 later"}}, false, "later"},
		"busy":              {&smtpServer{says: map[string]string{"DATA": "421 busy"}}, false, "busy"},
		"hangs up":          {&smtpServer{says: map[string]string{"EHLO": "hang up", "HELO": "hang up"}}, false, "EOF"},
		"wrong password":    {&smtpServer{user: "ada", password: "secret", says: map[string]string{"AUTH": "535 5.7.8 no"}}, false, "no"},
		"long and strange":  {&smtpServer{says: map[string]string{"RCPT": "450 " + strings.Repeat("é\x00\xff", 400)}}, false, "é"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, tt.server.start(t).url())
			id := b.write(t, true)
			if err := b.Send(t.Context(), id); (err == nil) != tt.final {
				t.Errorf("%v, want an error unless it is final", err)
			}
			m := b.kept(t, id)
			if m.SentAt != nil || m.Body == "" || m.Tries != 1 || (m.DueAt == nil) != tt.final {
				t.Errorf("the mail afterwards: %+v", m)
			}
			if !strings.Contains(m.Failure, tt.failure) || len(m.Failure) > 500 {
				t.Errorf("failure %q", m.Failure)
			}
			b.wantQuiet(t, "token", "secret")
			// It is not due: another job finds nothing to do.
			if err := b.Send(t.Context(), id); err != nil || b.kept(t, id).Tries != 1 {
				t.Errorf("at once again: %v, %d tries", err, b.kept(t, id).Tries)
			}
		})
	}
}

// Each try is due a while after the one before; after the last nothing comes.
func TestTriesEnd(t *testing.T) {
	t.Parallel()
	server := (&smtpServer{says: map[string]string{"RCPT": "451 later"}}).start(t)
	b := newBundle(t, server.url())
	id := b.write(t, true)
	tries, waited := 0, time.Duration(0)
	for {
		err := b.Send(t.Context(), id)
		m := b.kept(t, id)
		tries++
		if m.Tries != tries || (err == nil) != (m.DueAt == nil) {
			t.Fatalf("try %d: %v, %+v", tries, err, m)
		}
		if m.DueAt == nil {
			break
		}
		wait := notify.Wait(tries)
		if d := m.DueAt.Sub(b.clock.Now()) - wait; d.Abs() > 20*time.Second {
			t.Errorf("try %d is followed after %s more than %s", tries, d, wait)
		}
		waited += wait
		b.later(t, wait)
	}
	if tries != 8 || waited >= 24*time.Hour {
		t.Errorf("%d tries in %s", tries, waited)
	}
	if notify.Wait(0) != notify.Wait(1) || notify.Wait(99) != notify.Wait(7) {
		t.Error("waits beyond their ends")
	}
}

// However many jobs there are, a mail is sent by one.
func TestAMailIsSentByOne(t *testing.T) {
	t.Parallel()
	server := (&smtpServer{}).start(t)
	b := newBundle(t, server.url())
	id := b.write(t, true)
	pgtest.AtOnce(6, func(int) {
		if err := b.Send(t.Context(), id); err != nil {
			t.Error(err)
		}
	})
	if n := len(server.got()); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	server := (&smtpServer{}).start(t)
	_ = server.listener.Close()
	b := newBundle(t, server.url())
	id := b.write(t, true)
	if err := b.Send(t.Context(), id); err == nil {
		t.Error("no error")
	}
	if m := b.kept(t, id); m.Failure == "" || m.DueAt == nil {
		t.Errorf("%+v", m)
	}
	if err := b.Send(t.Context(), gateway.MailID{}); err != nil {
		t.Errorf("an unknown mail: %v", err)
	}
}

// Without a server a mail is kept for a day, for the owner to read.
func TestWithoutServer(t *testing.T) {
	t.Parallel()
	b := newBundle(t, "")
	id := b.write(t, false)
	if err := errors.Join(b.Send(t.Context(), id), b.WakeLate(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after time.Duration
		body  bool
	}{{0, true}, {23 * time.Hour, true}, {2 * time.Hour, false}} {
		b.later(t, tt.after)
		if err := b.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m := b.kept(t, id); m.SentAt != nil || strings.Contains(m.Body, "/reset/token") != tt.body {
			t.Errorf("after %s more: %+v", tt.after, m)
		}
	}
	b.later(t, 30*24*time.Hour)
	if err := b.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := pgtest.Count(t, b.pool, `SELECT count(*) FROM mails`); n != 0 {
		t.Errorf("%d mails are left after a month", n)
	}
}

func TestBodiesAreSealed(t *testing.T) {
	t.Parallel()
	b := newBundle(t, "")
	b.write(t, false)
	if n := pgtest.Count(t, b.pool, `SELECT count(*) FROM mails WHERE position('token'::bytea IN body) > 0`); n != 0 {
		t.Error("the body lies open in the database")
	}
}

// A mail whose job was lost gets another one, once in a while.
func TestWakeLate(t *testing.T) {
	t.Parallel()
	b := newBundle(t, (&smtpServer{}).start(t).url())
	late := b.write(t, true)
	b.later(t, 6*time.Minute)
	b.write(t, true)
	b.write(t, false)
	pgtest.AtOnce(4, func(int) {
		if err := b.WakeLate(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if n := pgtest.Count(t, b.pool, `SELECT count(*) FROM river_job WHERE kind = 'mail'`); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
	if n := pgtest.Count(t, b.pool, `SELECT count(*) FROM river_job WHERE args->>'mail_id' = $1`, late.String()); n != 1 {
		t.Errorf("the job is for another mail")
	}
}

func TestMails(t *testing.T) {
	t.Parallel()
	b := newBundle(t, "")
	var want []gateway.MailID
	for range 3 {
		want = append(want, b.write(t, false))
	}
	slices.Reverse(want)
	var got []gateway.MailID
	page := store.Page[gateway.MailID]{Limit: 2}
	for range 3 {
		part, err := b.Mails(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range part {
			got = append(got, m.ID)
		}
		if len(part) > 0 {
			page.Before = &part[len(part)-1].ID
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{
		"smtp://mail.example.com":                      true,
		"smtps://u:p@mail.example.com:465?from=a@b.c":  true,
		"smtp://[::1]:2525":                            true,
		"smtp://":                                      false,
		"mail.example.com:25":                          false,
		"http://mail.example.com":                      false,
		"smtp://u:hunter2@mail.example.com:0":          false,
		"smtp://u:hunter2@mail.example.com:70000":      false,
		"smtp://u:hunter2@mail.example.com?from=x":     false,
		"smtp://u:hunter2@mail.example.com?from=a,b@c": false,
		"smtp://u:hunter2@mail.example.com\x7f":        false,
	} {
		_, err := notify.New(notify.Options{URL: url, BaseURL: "http://localhost:8080"})
		if (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error repeats the password: %v", url, err)
		}
	}
}

// A mail that the server has taken is noted as sent, even if whoever asked for
// it is gone by then: else it would be sent again.
func TestASentMailIsNotedInAnyCase(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := (&smtpServer{parting: cancel}).start(t)
	b := newBundle(t, server.url())
	id := b.write(t, true)
	if err := b.Send(ctx, id); err != nil {
		t.Fatal(err)
	}
	if m := b.kept(t, id); ctx.Err() == nil || m.SentAt == nil || m.DueAt != nil {
		t.Errorf("the mail afterwards: %+v", m)
	}
}

// A server is reached as a mail would be, and gets none.
func TestReach(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server *smtpServer
		wrong  string // in place of the address
		fails  bool
	}{
		"plain":          {&smtpServer{}, "", false},
		"TLS, password":  {&smtpServer{tls: certificate(t), implicit: true, user: "ada", password: "secret"}, "", false},
		"rude parting":   {&smtpServer{says: map[string]string{"QUIT": "hang up"}}, "", false},
		"wrong password": {&smtpServer{user: "ada", password: "secret"}, "smtp://ada:wrong@", true},
		"hangs up":       {&smtpServer{says: map[string]string{"EHLO": "hang up"}}, "", true},
		"nobody there":   {&smtpServer{}, "smtp://127.0.0.1:1", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := c.server.start(t)
			address := server.url()
			switch {
			case strings.HasSuffix(c.wrong, "@"):
				address = c.wrong + server.listener.Addr().String()
			case c.wrong != "":
				address = c.wrong
			}
			from, err := notify.Reach(t.Context(), address, "https://hooks.example.com")
			if (err != nil) != c.fails || err == nil && from != "rowlock@hooks.example.com" {
				t.Errorf("%q, %v", from, err)
			}
			if len(server.got()) > 0 {
				t.Error("a mail was handed in")
			}
		})
	}
}
