package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/farside"
)

// documentedHost and documentedServer are what an operator replaces in the
// proxies' files.
const (
	documentedHost   = "hooks.example.com"
	documentedServer = "127.0.0.1:8080"
)

// proxies are those that deploy has a file for: how it is laid out for a test, and
// the program run.
var proxies = map[string]func(p *proxy, text string) []string{
	"nginx": (*proxy).nginx,
	"caddy": (*proxy).caddy,
}

// proxy is one before a server.
type proxy struct {
	t *testing.T
	// dir is its own, port where it speaks TLS, plain where it does not.
	dir         string
	port, plain int
	client      *http.Client
	url         string
}

// The documented proxies before a server: a webhook comes through as it was sent
// and is delivered, what Rowlock refuses is told by Rowlock, and forms are taken.
func TestProxies(t *testing.T) {
	t.Parallel()
	for name := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProxy(t, name)
			n := &node{t: t}
			var addresses []string
			n.url, addresses = ownAddresses(t)
			n.environ = slices.Concat(onDatabase(t, newDatabase(t, shared)), addresses,
				[]string{"ROWLOCK_TRUSTED_PROXIES=127.0.0.1/32", "ROWLOCK_BASE_URL=" + p.url})
			n.boot()
			p.start(name, strings.TrimPrefix(n.url, "http://"))
			a := newAccount(t, n)
			r := newReceiver(t, func() time.Duration { return 0 })
			want[endpointObject](t, a, http.StatusCreated, http.MethodPost, "/endpoints", fmt.Sprintf(`{"url":%q,"secret":%q}`, r.url+everything, r.secret))
			made := want[sourceObject](t, a, http.StatusCreated, http.MethodPost, "/sources", `{"name":"GitHub","kind":"github","secret":"shared"}`)
			if !strings.HasPrefix(made.IngestURL, p.url+"/ingest/") {
				t.Errorf("the ingest address is %s", made.IngestURL)
			}
			p.takesAWebhook(made.IngestURL, r)
			p.tellsOfALargeBody(made.IngestURL)
			p.takesAForm()
		})
	}
}

func (p *proxy) takesAWebhook(ingest string, r *receiver) {
	p.t.Helper()
	request := p.request(http.MethodPost, ingest, string(push))
	request.Header.Set("Content-Type", "application/json")
	signAsGitHub(request, "shared", pushDelivery, push)
	status, body := p.exchange(request)
	var event eventObject
	if status != http.StatusOK || json.Unmarshal(body, &event) != nil {
		p.t.Fatalf("the webhook is answered %d %s", status, body)
	}
	waitFor(p.t, patience, "the webhook is delivered", func() bool { return r.got(place{everything, event.ID}) })
	if got := r.all()[0].body; string(got) != string(push) {
		p.t.Error("the body has changed on the way")
	}
}

// tellsOfALargeBody: a body that the proxy lets pass and Rowlock does not.
func (p *proxy) tellsOfALargeBody(ingest string) {
	p.t.Helper()
	status, body := p.exchange(p.request(http.MethodPost, ingest, strings.Repeat("x", 2<<20)))
	var problem struct{ Code string }
	if status != http.StatusRequestEntityTooLarge || json.Unmarshal(body, &problem) != nil || problem.Code == "" {
		p.t.Errorf("a large body is answered %d %s", status, body)
	}
}

// takesAForm: the address of the page is the one that the form goes to.
func (p *proxy) takesAForm() {
	p.t.Helper()
	form := url.Values{"email": {"nobody@example.com"}, "password": {"a wrong password"}}
	request := p.request(http.MethodPost, p.url+"/login", form.Encode())
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", p.url)
	if status, body := p.exchange(request); status != http.StatusUnprocessableEntity {
		p.t.Errorf("a form is answered %d %.500s", status, body)
	}
}

// What the documented proxies send on: each request once, answers as they come, the
// address they see and not the one they are told, and headers of any name.
func TestProxiesPassOn(t *testing.T) {
	t.Parallel()
	for name := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProxy(t, name)
			far := newBehind(t)
			p.start(name, strings.TrimPrefix(far.URL, "http://"))
			p.sendsOnce(far)
			p.streams(far)
			p.passesHeaders()
			p.leadsToTLS()
		})
	}
}

// behind is a server behind a proxy.
type behind struct {
	*httptest.Server
	posts atomic.Int32
	// goOn is sent to when a stream may go on.
	goOn chan struct{}
}

func newBehind(t *testing.T) *behind {
	t.Helper()
	far := &behind{goOn: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/ingest/cut", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // whatever comes
		far.posts.Add(1)
		panic(http.ErrAbortHandler) // the connection ends without an answer
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			_ = http.NewResponseController(w).Flush() // the reader tells
			select {
			case <-far.goOn:
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"header": r.Header, "host": r.Host, "uri": r.RequestURI}) // the reader tells
	})
	far.Server = httptest.NewServer(mux)
	t.Cleanup(far.Close)
	return far
}

// sendsOnce: whatever the connection was, kept or new, an answer that was lost is
// told and not asked for a second time.
func (p *proxy) sendsOnce(far *behind) {
	p.t.Helper()
	for n := range int32(3) {
		if status, _ := p.exchange(p.request(http.MethodPost, p.url+"/ingest/cut", "x")); status != http.StatusBadGateway {
			p.t.Errorf("a request whose answer was lost is answered %d", status)
		}
		if got := far.posts.Load(); got != n+1 {
			p.t.Fatalf("%d requests came of %d", got, n+1)
		}
		p.exchange(p.request(http.MethodGet, p.url+"/readyz", "")) // leaves a connection that is kept
	}
}

// streams: each part of an answer is here before the next is sent.
func (p *proxy) streams(far *behind) {
	p.t.Helper()
	answer, err := p.client.Do(p.request(http.MethodGet, p.url+"/stream", ""))
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	for i := range 3 {
		part := fmt.Sprintf("data: %d\n\n", i)
		got := make([]byte, len(part))
		if _, err := io.ReadFull(answer.Body, got); err != nil || string(got) != part {
			p.t.Fatalf("part %d is %q, %v", i, got, err)
		}
		far.goOn <- struct{}{}
	}
}

func (p *proxy) passesHeaders() {
	p.t.Helper()
	uri := "/echo?a=%2F&b=c+d"
	request := p.request(http.MethodPost, p.url+uri, "x")
	request.Header.Set("X-Forwarded-For", "203.0.113.9")
	request.Header["x_signature"] = []string{strings.Repeat("s", 10<<10)}
	status, body := p.exchange(request)
	var got struct {
		Header http.Header
		Host   string
		URI    string
	}
	if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK {
		p.t.Fatalf("%d %.300s, %v", status, body, err)
	}
	if from := got.Header.Values("X-Forwarded-For"); len(from) != 1 || from[0] != "127.0.0.1" {
		p.t.Errorf("X-Forwarded-For is %q, want the address that the proxy sees", from)
	}
	if got.URI != uri || got.Host != strings.TrimPrefix(p.url, "https://") {
		p.t.Errorf("the request is for %s at %s", got.URI, got.Host)
	}
	if len(got.Header.Get("X_signature")) != 10<<10 {
		p.t.Errorf("a long header with an underscore in its name is gone from %v", got.Header)
	}
}

// leadsToTLS: who comes without encryption is sent to where it is.
func (p *proxy) leadsToTLS() {
	p.t.Helper()
	answer, err := p.client.Do(p.request(http.MethodPost, "http://"+net.JoinHostPort("localhost", strconv.Itoa(p.plain))+"/ingest/x", "x"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // nothing is read
	if answer.StatusCode != http.StatusPermanentRedirect || !strings.HasPrefix(answer.Header.Get("Location"), "https://localhost") {
		p.t.Errorf("without TLS the answer is %d %s", answer.StatusCode, answer.Header.Get("Location"))
	}
}

func newProxy(t *testing.T, name string) *proxy {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("this machine has no %s: apt-get install %s", name, name)
	}
	dir, err := openDir() // nginx's workers are another user's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &proxy{t: t, dir: dir}
	for _, port := range []*int{&p.port, &p.plain} {
		if *port, err = freePort(); err != nil {
			t.Fatal(err)
		}
	}
	p.url = "https://" + net.JoinHostPort("localhost", strconv.Itoa(p.port))
	p.client = &http.Client{
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // its own certificate
	}
	t.Cleanup(p.client.CloseIdleConnections)
	return p
}

// start runs the proxy before a server, and returns when it passes requests on.
func (p *proxy) start(name, server string) {
	p.t.Helper()
	file := map[string]string{"nginx": "nginx.conf", "caddy": "Caddyfile"}[name]
	text, err := os.ReadFile(filepath.Join("../../deploy/proxy", file))
	if err != nil {
		p.t.Fatal(err)
	}
	laidOut := strings.NewReplacer(documentedHost, "localhost", documentedServer, server).Replace(string(text))
	if strings.Count(string(text), documentedServer) == 0 {
		p.t.Fatalf("%s names no server", file)
	}
	args := proxies[name](p, laidOut)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr, cmd.Env = childAttributes(), append(os.Environ(), "HOME="+p.dir)
	running := startCommand(p.t, cmd)
	waitFor(p.t, patience, name+" passes requests on", func() bool {
		if !running.running() {
			p.t.Fatalf("%s has ended, exit code %d", name, running.exitCode())
		}
		answer, err := p.client.Get(p.url + "/readyz")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// nginx puts the file where http { } reads it, on free ports and with a certificate.
func (p *proxy) nginx(text string) []string {
	p.t.Helper()
	certificate := farside.NewAuthority(p.t, "proxy").Issue(farside.Certificate{Names: []string{"localhost"}})
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		p.t.Fatal(err)
	}
	text = strings.NewReplacer(
		"listen 80;", fmt.Sprintf("listen 127.0.0.1:%d;", p.plain), "listen 443 ssl http2;", fmt.Sprintf("listen 127.0.0.1:%d ssl http2;", p.port),
		"listen [::]:80;", "", "listen [::]:443 ssl http2;", "",
		"/etc/ssl/localhost/fullchain.pem", p.write("fullchain.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}))),
		"/etc/ssl/localhost/privkey.pem", p.write("privkey.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))),
	).Replace(text)
	var places strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&places, "\t%s_temp_path %s/%s;\n", kind, p.dir, kind)
	}
	main := p.write("main.conf", fmt.Sprintf("worker_processes 1;\ndaemon off;\npid %s/pid;\nerror_log stderr;\nevents { }\nhttp {\n\taccess_log off;\n%s\tinclude %s;\n}\n",
		p.dir, places.String(), p.write("rowlock.conf", text)))
	return []string{"nginx", "-e", "stderr", "-p", p.dir, "-c", main}
}

// caddy puts the file under what has it make its own certificate.
func (p *proxy) caddy(text string) []string {
	p.t.Helper()
	options := fmt.Sprintf("{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\thttp_port %d\n\thttps_port %d\n\tstorage file_system %s\n}\n", p.plain, p.port, p.dir)
	return []string{"caddy", "run", "--adapter", "caddyfile", "--config", p.write("Caddyfile", options+text)}
}

func (p *proxy) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *proxy) request(method, address, body string) *http.Request {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	return request
}

func (p *proxy) exchange(request *http.Request) (status int, body []byte) {
	p.t.Helper()
	answer, err := p.client.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	body, err = io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer.StatusCode, body
}
