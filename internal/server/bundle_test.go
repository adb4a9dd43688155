package server_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/claim"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/eventtype"
	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	poolSize = 8
	// maxBody is small, so that what is too large is made quickly.
	maxBody = 64 << 10
	// waitLimit bounds waiting for what a test expects; it is far above what
	// that takes.
	waitLimit = 20 * time.Second
)

// object is a JSON object as a client reads it.
type object = map[string]any

// bundle is a server that listens, on a database of its own, with everything
// behind it.
type bundle struct {
	server  *server.Server
	url     string
	metrics string
	store   *store.Store
	pool    *pgxpool.Pool
	clock   *clock.Clock
	decide  *decide.Service
	operate *operate.Service
	compare *reconcile.Service
	account *account.Service
	log     *logBuffer
	client  *http.Client
	// stopAccepting ends the group commits.
	stopAccepting context.CancelFunc
	// cutDatabase takes the database away.
	cutDatabase func()
}

// cheapPasswords hashes at once: what a hash costs is tested where it is made.
var cheapPasswords = argon2id.Params{Memory: 8, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// newBundle starts everything; change may alter what the server is made of.
func newBundle(t testing.TB, change ...func(*server.Deps)) *bundle {
	t.Helper()
	b := &bundle{clock: clock.New(), log: &logBuffer{}}
	log := slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	wire, database := pgtest.NewWire(t, pgtest.URL(t))
	pool, err := store.Connect(t.Context(), database, poolSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b.cutDatabase, b.pool = wire.Cut, pool
	if b.store, err = store.New(pool, pgtest.Sealer(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	deps := b.deps(t, log)
	for _, c := range change {
		c(&deps)
	}
	b.start(t, deps)
	return b
}

// deps makes the use cases, and runs those that need to.
func (b *bundle) deps(t testing.TB, log *slog.Logger) server.Deps {
	t.Helper()
	out := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(out.CloseIdle)
	sending := deliver.New(deliver.Options{
		Store: b.store, Clock: b.clock, Log: log, Egress: out, Node: "n1", Workers: 4,
		Schedule: []time.Duration{time.Hour}, Timeout: 5 * time.Second, DisableAfter: 100, UserAgent: "Rowlock/test",
	})
	accepting := accept.New(accept.Options{Store: b.store, Clock: b.clock, Log: log})
	b.decide = decide.New(decide.Options{Store: b.store, Clock: b.clock, Log: log, Node: "n1"})
	b.operate = operate.New(operate.Options{Store: b.store, Clock: b.clock})
	b.compare = reconcile.New(reconcile.Options{Store: b.store, Clock: b.clock})
	b.account = account.NewService(account.Options{Store: b.store, Passwords: cheapPasswords, Clock: b.clock, Signup: config.SignupOpen})
	mails, err := notify.New(notify.Options{Store: b.store, Clock: b.clock, Log: log, Egress: out})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	running.Go(func() { accepting.Run(ctx) })
	b.stopAccepting = func() { cancel(); running.Wait() }
	t.Cleanup(b.stopAccepting)
	return server.Deps{
		ServeAPI: true, ServeIngest: true, Listen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0",
		MaxBody: maxBody, Version: "test", Store: b.store, Accounts: b.account,
		Accept: accepting, Decide: b.decide, Deliver: sending, Operate: b.operate, Explore: explore.New(explore.Options{Store: b.store, Clock: b.clock, Retention: 720 * time.Hour}), Reconcile: b.compare, Claims: claim.New(claim.Options{Store: b.store, Clock: b.clock}),
		Endpoints:  endpoint.New(endpoint.Options{Store: b.store, Clock: b.clock, CheckURL: out.CheckURLWith}),
		EventTypes: eventtype.New(eventtype.Options{Store: b.store, Clock: b.clock, Changed: accepting.ForgetEventTypes}),
		Sources:    source.New(source.Options{Store: b.store, Clock: b.clock, Changed: accepting.ForgetSources}),
		Notify:     mails, Retention: 720 * time.Hour,
		Now: b.clock.Now, Log: log,
	}
}

func (b *bundle) start(t testing.TB, deps server.Deps) {
	t.Helper()
	// The address is part of what the API says, so it is chosen before.
	deps.Listen = freeAddress(t)
	deps.BaseURL = cmp.Or(deps.BaseURL, "http://"+deps.Listen)
	if deps.MetricsListen != "" {
		deps.MetricsListen = freeAddress(t)
		b.metrics = "http://" + deps.MetricsListen
	}
	var err error
	if b.server, err = server.New(deps); err != nil {
		t.Fatal(err)
	}
	b.url = "http://" + deps.Listen
	if err := b.server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	b.client = &http.Client{Transport: transport, Timeout: waitLimit}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), waitLimit)
		defer cancel()
		if err := b.server.Shutdown(ctx); err != nil {
			t.Errorf("shut down: %v", err)
		}
	})
}

// tenant is an account with a key of every scope.
type tenant struct {
	*bundle
	t       testing.TB
	account gateway.AccountID
	key     string
}

var tenants = struct {
	sync.Mutex
	n int
}{}

func (b *bundle) newTenant(t testing.TB) *tenant {
	t.Helper()
	tenants.Lock()
	tenants.n++
	n := tenants.n
	tenants.Unlock()
	made, err := b.account.Create(t.Context(), account.New{
		Name: "acme", Email: fmt.Sprintf("owner-%d@example.com", n), Password: "correct horse battery staple",
	})
	if err != nil {
		t.Fatal(err)
	}
	return &tenant{b, t, made.AccountID, made.APIKey}
}

// keyWith makes another key of the account, with these scopes alone.
func (n *tenant) keyWith(scopes ...gateway.Scope) *tenant {
	n.t.Helper()
	return n.newKey(gateway.APIKey{Scopes: scopes})
}

func (n *tenant) newKey(key gateway.APIKey) *tenant {
	n.t.Helper()
	text := secret.NewToken("rk_")
	key.ID, key.AccountID = gateway.KeyID(n.clock.NewID()), n.account
	key.Name, key.Hint = "test", text[len(text)-4:]
	err := n.store.InTx(n.t.Context(), func(tx store.Tx) error {
		return tx.CreateAPIKey(n.t.Context(), n.account, key, secret.HashToken(text))
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return &tenant{n.bundle, n.t, n.account, text}
}

// answer is what came back.
type answer struct {
	*http.Response
	text []byte
}

// object decodes the answer; a text that is no object fails the test.
func (a answer) object(t testing.TB) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(a.text, &o); err != nil {
		t.Fatalf("%d %q is no object: %v", a.StatusCode, a.text, err)
	}
	return o
}

// send makes one request. A body that is neither text nor bytes is encoded.
func (b *bundle) send(t testing.TB, method, url string, body any, header ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, bodyReader(t, body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	response, err := b.client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response, text}
}

func bodyReader(t testing.TB, body any) io.Reader {
	t.Helper()
	switch v := body.(type) {
	case nil:
		return nil
	case string:
		return strings.NewReader(v)
	case []byte:
		return bytes.NewReader(v)
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(text)
}

// call makes one call of the API.
func (n *tenant) call(method, path string, body any, header ...string) answer {
	n.t.Helper()
	header = append([]string{"Authorization", "Bearer " + n.key, "Content-Type", "application/json"}, header...)
	return n.send(n.t, method, n.url+"/api/v1"+path, body, header...)
}

// must makes a call that has to be answered with a status, and returns the
// object of the answer.
func (n *tenant) must(status int, method, path string, body any, header ...string) object {
	n.t.Helper()
	got := n.call(method, path, body, header...)
	if got.StatusCode != status {
		n.t.Fatalf("%s %s: %d %s, want %d", method, path, got.StatusCode, got.text, status)
	}
	if len(got.text) == 0 {
		return nil
	}
	return got.object(n.t)
}

// refused makes a call that has to be refused with a status and code, and
// returns the problem.
func (n *tenant) refused(status int, code, method, path string, body any, header ...string) object {
	n.t.Helper()
	got := n.call(method, path, body, header...)
	return checkProblem(n.t, got, status, code)
}

// checkProblem checks everything that every problem has.
func checkProblem(t testing.TB, got answer, status int, code string) object {
	t.Helper()
	if got.StatusCode != status {
		t.Fatalf("%s: %d %s, want %d %s", got.Request.URL.Path, got.StatusCode, got.text, status, code)
	}
	if kind := got.Header.Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("content type %q", kind)
	}
	p := got.object(t)
	if p["code"] != code || p["status"] != float64(status) || p["title"] == "" || p["type"] == nil || p["detail"] == "" {
		t.Errorf("problem %s, want code %s and status %d", got.text, code, status)
	}
	return p
}

func text(o object, field string) string {
	s, _ := o[field].(string)
	return s
}

// entries are the objects of a list.
func entries(o object) []object {
	list, _ := o["data"].([]any)
	out := make([]object, len(list))
	for i := range list {
		out[i], _ = list[i].(object)
	}
	return out
}

// process decides every event that waits for it.
func (b *bundle) process(t testing.TB, ids ...string) {
	t.Helper()
	events := make([]gateway.EventID, len(ids))
	for i, id := range ids {
		var err error
		if events[i], err = gateway.ParseID[gateway.EventID](id); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.decide.Process(t.Context(), events); err != nil {
		t.Fatal(err)
	}
}

// logBuffer keeps log lines for tests to read.
type logBuffer struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
