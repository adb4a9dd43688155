package e2e

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// withinAMinute is when every page of a demo has something to show; a machine that
	// runs all the other tests meanwhile may take longer.
	withinAMinute = patience + time.Minute
	// demoEnds bounds how long a demo may take to end.
	demoEnds = 30 * time.Second
)

// showing is a demo that runs, and what it said.
type showing struct {
	*program

	t                          testing.TB
	dashboard, email, password string
}

var greeting = regexp.MustCompile(`dashboard +http://[^/]+(/a/\S+)\n +log in +(\S+)\n +password +(\S+)`)

// startDemo starts a demo, and returns when it has said where to look.
func startDemo(t testing.TB, environ []string) showing {
	t.Helper()
	s := showing{program: start(t, environ, "demo"), t: t}
	waitFor(t, withinAMinute, "the demo runs", func() bool {
		if !s.running() {
			t.Fatalf("the demo has ended, exit code %d", s.exitCode())
		}
		said := greeting.FindSubmatch(s.said())
		if said != nil {
			s.dashboard, s.email, s.password = string(said[1]), string(said[2]), string(said[3])
		}
		return said != nil
	})
	return s
}

// said is what it printed so far.
func (s showing) said() []byte {
	s.t.Helper()
	text, err := os.ReadFile(s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// wantEnd asks for the end as Ctrl-C does, and waits for it.
func (s showing) wantEnd() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	waitFor(s.t, demoEnds, "the demo has ended", func() bool { return !s.running() })
	if code := s.exitCode(); code != 0 {
		s.t.Errorf("the demo ended with exit code %d, want 0", code)
	}
	if text := string(s.said()); strings.Contains(text, "Trouble") {
		s.t.Errorf("it met trouble: %s", text)
	}
	if !regexp.MustCompile(`Stopped\. Sent [1-9]\d* events`).Match(s.said()) {
		s.t.Error("it does not say what it did")
	}
}

// sharesNothing are settings of a server on addresses of its own, that no address of
// this machine may be reached from.
func sharesNothing(t testing.TB, environ []string) (url string, all []string) {
	t.Helper()
	url, addresses := ownAddresses(t)
	return url, slices.Concat(environ, addresses, []string{"ROWLOCK_ALLOW_NETWORKS="})
}

// A demo runs a server where there is none, and each page has something to show soon.
func TestDemoFillsEveryPage(t *testing.T) {
	t.Parallel()
	db := newDatabase(t, shared)
	url, environ := sharesNothing(t, onDatabase(t, db))
	demo := startDemo(t, environ)
	b := newTab(t, url)
	b.open("/login")
	b.fill("#email", demo.email)
	b.fill("#password", demo.password)
	b.press("Log in")
	b.await("the overview", fmt.Sprintf(`location.pathname === %q`, demo.dashboard))
	begun := time.Now()
	const rows = `document.querySelectorAll('main tbody tr').length > 0`
	for _, c := range []struct{ path, shows string }{
		{"", `/Stuck claims/.test(document.body.innerText) && /Endpoints that need attention/.test(document.body.innerText)`},
		{"/events", rows},
		{"/events?status=duplicate_fact", rows},
		{"/events?status=stale_fact", rows},
		{"/events?status=rule_error", rows},
		{"/events?status=no_endpoints", rows},
		{"/events?status=ignored", rows},
		{"/deliveries?status=delivered", rows},
		{"/deliveries?status=failed", rows},
		{"/deliveries?status=suppressed", rows},
		{"/deliveries?status=held", rows},
		{"/attempts?outcome=rejected", rows},
		{"/attempts?outcome=unreachable", rows},
		{"/failures", `document.querySelectorAll('main section').length > 0 && /deliver/.test(document.querySelector('main').innerText) && /422/.test(document.body.innerText)`},
		{"/endpoints", `['Paused', 'Disabled', 'Failing', 'Active'].every((s) => document.querySelector('main').innerText.includes(s))`},
		{"/sources", `/no signature|wrong signature|rejected/.test(document.querySelector('#sources').innerText)`},
		{"/event-types", rows},
		{"/facts", rows},
		{"/claims?state=lease_ended", rows},
		{"/claims?state=done", rows},
		{"/operations", rows},
		{"/reconcile", `/Done/.test(document.querySelector('main tbody')?.innerText)`},
		{"/usage", `document.querySelectorAll('#days tbody tr').length > 0`},
		{"/settings/keys", rows},
		{"/settings/members", rows},
	} {
		waitFor(t, withinAMinute, demo.dashboard+c.path+" has something to show", func() bool {
			b.open(demo.dashboard + c.path)
			return eval[bool](b, c.shows)
		})
	}
	t.Logf("every page had something after %s", time.Since(begun).Round(time.Second))
	for cause, query := range map[string]string{
		"repeats":                  `SELECT count(*) FROM requests WHERE cause = 'duplicate'`,
		"repeats of another body":  `SELECT count(*) FROM requests WHERE cause = 'duplicate' AND body_differs`,
		"forgeries":                `SELECT count(*) FROM requests WHERE cause LIKE 'signature%'`,
		"what was signed long ago": `SELECT count(*) FROM requests WHERE cause = 'timestamp_out_of_range'`,
		"repeated publishing":      `SELECT count(*) FROM requests r JOIN sources s ON s.id = r.source_id WHERE s.kind = 'api' AND r.cause = 'duplicate'`,
	} {
		waitFor(t, withinAMinute, cause, func() bool { return counted(t, db, query) > 0 })
	}
	demo.wantEnd()
}

// counted is a number that a query tells.
func counted(t testing.TB, db database, sql string) int {
	t.Helper()
	return query[struct{ N int }](t, db.url(), sql)[0].N
}

// lentTo is the address that is lent to the demo's account.
func lentTo(t testing.TB, db database) string {
	t.Helper()
	all := query[struct{ Address string }](t, db.url(), `SELECT lent_address FROM accounts WHERE lent_until > now()`)
	if len(all) != 1 {
		t.Fatalf("lent: %v", all)
	}
	return all[0].Address
}

// A demo on a server that runs uses that one. Its receiver is reached by its account
// alone, and by nobody when it has ended, however it ended.
func TestDemoLendsItsReceiverToOneAccount(t *testing.T) {
	t.Parallel()
	db := newDatabase(t, shared)
	environ := append(onDatabase(t, db), "ROWLOCK_ALLOW_NETWORKS=")
	n := startNode(t, environ)
	other := newAccount(t, n)
	demo := startDemo(t, n.environ)
	lent := lentTo(t, db)
	waitFor(t, withinAMinute, "the receiver confirms", func() bool {
		return counted(t, db, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`) > 0
	})
	status, answer := other.call(t, http.MethodPost, "/endpoints", fmt.Appendf(nil, `{"url":"http://%s/billing"}`, lent))
	if status != http.StatusUnprocessableEntity {
		t.Errorf("another account may send there: %d %s", status, answer)
	}
	demo.wantEnd()
	wantNobody(t, lent)
	if n := counted(t, db, `SELECT count(*) FROM accounts WHERE lent_until > clock_timestamp()`); n != 0 {
		t.Errorf("%d addresses are lent after the end", n)
	}
	if n := counted(t, db, `SELECT count(*) FROM endpoints WHERE state = 'active'`); n != 0 {
		t.Errorf("%d endpoints are active after the end", n)
	}
	again := startDemo(t, n.environ)
	lent = lentTo(t, db)
	if err := again.cmd.Process.Kill(); err != nil { // the receiver is not told
		t.Fatal(err)
	}
	wantNobody(t, lent)
	waitFor(t, withinAMinute, "the loan has ended by itself", func() bool {
		return counted(t, db, `SELECT count(*) FROM accounts WHERE lent_until > clock_timestamp()`) == 0
	})
	if !n.running() {
		t.Error("the server has ended with the demo")
	}
}

// wantNobody waits until nobody listens at an address.
func wantNobody(t testing.TB, address string) {
	t.Helper()
	waitFor(t, patience, "nobody listens at "+address, func() bool {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
}

// What keeps a demo from running is said in words.
func TestDemoSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	db := newDatabase(t, shared)
	url, environ := sharesNothing(t, onDatabase(t, db))
	n := &node{t: t, url: url, environ: environ}
	n.boot()
	stranger := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(stranger.Close)
	nobody, elsewhere := sharesNothing(t, onDatabase(t, newDatabase(t, shared)))
	closed, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		environ []string
		args    []string
		code    int
		says    string
	}{
		"something else is there": {append(slices.Clip(environ), "ROWLOCK_LISTEN="+stranger.Listener.Addr().String()), nil, 1, "is not Rowlock"},
		"no such server":          {append(slices.Clip(environ), "ROWLOCK_SERVER="+nobody), nil, 1, "unset ROWLOCK_SERVER"},
		"no server's address":     {append(slices.Clip(environ), "ROWLOCK_SERVER=nowhere"), nil, 2, "not an http or https address"},
		"another database":        {append(slices.Clip(elsewhere), "ROWLOCK_SERVER="+url), nil, 1, "another database"},
		"no database":             {append(slices.Clip(elsewhere), "ROWLOCK_DATABASE_URL=postgres://x@"+loopback(closed)+"/x"), nil, 1, "connect to the database"},
		"another master key":      {append(slices.Clip(environ), "ROWLOCK_MASTER_KEY=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="), nil, 1, "ROWLOCK_MASTER_KEY"},
		"no address":              {environ, []string{"--email", "nobody"}, 2, "email"},
		"an argument":             {environ, []string{"now"}, 2, "not a command"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := command(t, c.environ, append([]string{"demo"}, c.args...)...)
			ended, ok := errors.AsType[*exec.ExitError](err)
			if !ok || ended.ExitCode() != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want exit code %d and %q", err, c.code, c.says)
			}
		})
	}
}
