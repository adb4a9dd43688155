package server_test

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/farside"
	"github.com/rowlock/rowlock/internal/server"
)

// farTimeout is how long a request may take that is to take too long. It is
// far above what the others take.
const farTimeout = 2 * time.Second

// sendingBy has everything sent by a client of these options.
func sendingBy(t testing.TB, o egress.Options) func(*server.Deps) {
	t.Helper()
	client := egress.New(o)
	t.Cleanup(client.CloseIdle)
	return func(d *server.Deps) {
		own := clock.New()
		d.Deliver = deliver.New(deliver.Options{
			Store: d.Store, Clock: own, Log: slog.New(slog.DiscardHandler), Egress: client, Node: "n1", Workers: 4,
			Timeout: farTimeout, DisableAfter: 100, UserAgent: "Rowlock/test",
		})
		d.Endpoints = endpoint.New(endpoint.Options{Store: d.Store, Clock: own, CheckURL: client.CheckURLWith})
	}
}

// farSide is a receiver, and what is told of an attempt to reach it.
type farSide struct {
	url string
	// kind is why no answer came, and status the answer's.
	kind   string
	status int
	// badge is the word beside the attempt, words what its detail says; {at} is
	// the far side.
	badge, words string
}

// farSides are receivers that fail, each in its own way, and some that are odd
// and right.
func farSides(t testing.TB, authority *farside.Authority) map[string]farSide {
	t.Helper()
	plain := func(handle farside.Handle) string { return "http://" + farside.Serve(t, handle) }
	secure := func(c tls.Certificate) string {
		_, port, _ := net.SplitHostPort(farside.ServeTLS(t, c, farside.Answer("HTTP/1.1 200 OK\r\n\r\n")))
		return "https://hooks.test:" + port
	}
	hooks := []string{"hooks.test"}
	expired := time.Date(2024, 5, 6, 7, 8, 0, 0, time.UTC)
	const ok = "HTTP/1.1 200 OK\r\n"
	return map[string]farSide{
		"closed port":        {"http://" + farside.Closed(t), "connect", 0, "Refused", "{at} refused the connection. Start the receiver there"},
		"black hole":         {"http://" + farside.BlackHole(t), "timeout", 0, "Timeout", "No answer in 2 s. {at} accepted no connection. Check that it is up"},
		"no such name":       {"https://missing.test", "dns", 0, "No address", "DNS has no address for missing.test. Check the host in the URL"},
		"blocked":            {"https://inside.test", "blocked", 0, "Blocked", "the address that inside.test resolves to: private addresses (10.0.0.0/8) are reached only inside ROWLOCK_ALLOW_NETWORKS. Give"},
		"expired":            {secure(authority.Issue(farside.Certificate{Names: hooks, From: expired.AddDate(-1, 0, 0), Until: expired})), "tls", 0, "TLS", "The certificate of {at} expired on 6 May 2024, 07:08 UTC. Renew it."},
		"self-signed":        {secure(farside.SelfSigned(t, farside.Certificate{Names: hooks})), "tls", 0, "TLS", "The certificate of {at} is self-signed. It is valid until "},
		"wrong host name":    {secure(authority.Issue(farside.Certificate{Names: []string{"other.test"}})), "tls", 0, "TLS", "The certificate of {at} is for other.test, not for hooks.test."},
		"no TLS":             {strings.Replace(plain(farside.Greet("220 mail ready\r\n")), "http:", "https:", 1), "tls", 0, "TLS", "{at} does not speak TLS."},
		"TLS on plain http":  {plain(farside.Answer("\x15\x03\x01\x00\x02\x02\x46")), "protocol", 0, "Not HTTP", "{at} speaks TLS, and was sent plain http."},
		"no answer":          {plain(farside.Hang), "timeout", 0, "Timeout", "No answer in 2 s. Rowlock connected to {at} and then waited. Raise the timeout, or answer before doing the work."},
		"slow body":          {plain(farside.AnswerThenHang(ok + "Content-Length: 9\r\n\r\nabc")), "timeout", 0, "Timeout", "No complete answer in 2 s from {at}. The answer had begun, with status 200."},
		"reset":              {plain(farside.Reset), "reset", 0, "Reset", "{at} closed the connection before its answer was complete."},
		"cut off":            {plain(farside.Answer(ok + "Content-Length: 9\r\n\r\nabc")), "reset", 0, "Reset", "The answer had begun, with status 200. Look for this moment"},
		"100 KiB of headers": {plain(farside.Answer(ok + "X-A: " + strings.Repeat("x", 100<<10) + "\r\n\r\n")), "too_large", 0, "Too large", "The headers of the answer are larger than 64 KiB. Answer with fewer"},
		"not HTTP":           {plain(farside.Answer("220 mail \u202e<b>ready</b>\r\n")), "protocol", 0, "Not HTTP", "What {at} sent is not valid HTTP: "},
		"redirect":           {plain(farside.Answer("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: https://new.test/in\r\n\r\n")), "", 302, "", "The answer 302 leads to https://new.test/in. Redirects are not followed"},
		"huge body":          {plain(farside.Answer(ok + "Content-Length: 1048576\r\n\r\n" + strings.Repeat("x", 1<<20))), "", 200, "", ""},
		"HTTP/1.0":           {plain(farside.Answer("HTTP/1.0 200 OK\r\n\r\nok")), "", 200, "", ""},
		"trailers":           {plain(farside.Answer(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n")), "", 200, "", ""},
		"gzip":               {plain(farside.Answer(ok + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00")), "", 200, "", ""},
		"1xx":                {plain(farside.Answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + ok + "Content-Length: 0\r\n\r\n")), "", 200, "", ""},
		"204 with a body":    {plain(farside.Answer("HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok")), "", 204, "", ""},
	}
}

// Every way to fail is told in its own words by the API and on the pages, and
// the attempts can be listed by it.
func TestFarSidesAreToldInTheirOwnWords(t *testing.T) {
	t.Parallel()
	authority := farside.NewAuthority(t, "Known")
	client := sendingBy(t, egress.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: authority.Roots(),
		Resolver: farside.Names(t, map[string]string{"hooks.test": "127.0.0.1", "inside.test": "10.1.2.3"}),
	})
	w := newBundle(t, withPages, client).signedUp(t, "Acme")
	n := w.tenant()
	byKind := map[string][]string{}
	for name, far := range farSides(t, authority) {
		id := text(n.must(201, http.MethodPost, "/endpoints", object{"url": far.url}), "id")
		sent := n.must(200, http.MethodPost, "/endpoints/"+id+"/test", nil)
		far.words = strings.ReplaceAll(far.words, "{at}", far.url[strings.Index(far.url, "//")+2:])
		n.wantTold(name, far, n.must(200, http.MethodGet, "/attempts/"+text(sent, "id"), nil))
		w.wantShown(name, far, text(sent, "delivery_id"))
		byKind[far.kind] = append(byKind[far.kind], text(sent, "id"))
	}
	for _, kind := range []string{"dns", "connect", "tls", "timeout", "reset", "blocked", "too_large", "protocol"} {
		want := len(byKind[kind])
		if got := len(entries(n.must(200, http.MethodGet, "/attempts?error_kind="+kind, nil))); want == 0 || got != want {
			t.Errorf("the API lists %d attempts of %s, want %d", got, kind, want)
		}
		listed := w.get(w.home + "/attempts?cause=" + kind).attemptsListed()
		if len(listed) != want {
			t.Errorf("the page lists %v of %s, want %v", listed, kind, byKind[kind])
		}
	}
}

// wantTold checks what the API says of an attempt and its delivery.
func (n *tenant) wantTold(name string, far farSide, a object) {
	n.t.Helper()
	d := n.must(200, http.MethodGet, "/deliveries/"+text(a, "delivery_id"), nil)
	detail := text(a, "detail")
	if text(a, "error_kind") != far.kind || text(d, "last_error_kind") != far.kind || !strings.Contains(detail, far.words) || far.words == "" && detail != "" {
		n.t.Errorf("%s: %q %q, delivery %q, want %q %q", name, a["error_kind"], detail, d["last_error_kind"], far.kind, far.words)
	}
	want := map[bool]any{true: float64(far.status), false: nil}[far.status != 0]
	if a["status_code"] != want || d["last_status_code"] != want {
		n.t.Errorf("%s: answered %v, delivery %v, want %v", name, a["status_code"], d["last_status_code"], want)
	}
}

// wantShown checks what the delivery's page says of its attempt.
func (w *browser) wantShown(name string, far farSide, delivery string) {
	w.t.Helper()
	p := w.get(w.home + "/deliveries/" + delivery)
	shown := strings.Join(strings.Fields(p.Find("#attempts details").Text()), " ")
	if words := cmp.Or(far.badge, fmt.Sprint(far.status)); !strings.Contains(shown, words) || !strings.Contains(shown, far.words) {
		w.t.Errorf("%s: the page shows %q, want %q and %q", name, shown, words, far.words)
	}
	if p.Find("#attempts .timing svg[role=img]").AttrOr("aria-label", "") == "" {
		w.t.Errorf("%s: no timing", name)
	}
}
