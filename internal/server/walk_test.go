package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/store"
)

// operation is one operation as the OpenAPI document tells it.
type operation struct {
	method, path string
	id           string
	scope        gateway.Scope
	document     object
}

// operations reads them from the running server, so that no new one is left
// out of the walks below.
func (b *bundle) operations(t *testing.T) []operation {
	t.Helper()
	document := b.send(t, http.MethodGet, b.url+"/api/openapi.json", nil).object(t)
	var all []operation
	for path, item := range document["paths"].(object) {
		for method, described := range item.(object) {
			o := described.(object)
			all = append(all, operation{strings.ToUpper(method), path, text(o, "operationId"), gateway.Scope(text(o, "x-scope")), o})
		}
	}
	if len(all) == 0 {
		t.Fatal("the document has no operation")
	}
	return all
}

func TestEveryRouteIsDocumentedAndHasAScope(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	documented := map[string]bool{}
	for _, o := range b.operations(t) {
		if !slices.Contains(gateway.Scopes, o.scope) {
			t.Errorf("%s %s has no scope", o.method, o.path)
		}
		if o.id == "" || text(o.document, "summary") == "" || len(o.document["tags"].([]any)) != 1 {
			t.Errorf("%s %s is not described", o.method, o.path)
		}
		path := strings.NewReplacer("{", ":", "}", "").Replace(o.path)
		documented[o.method+" /api/v1"+path] = true
	}
	found := 0
	for _, r := range b.server.Routes() {
		if !strings.HasPrefix(r.Path, "/api/v1") {
			continue
		}
		found++
		if !documented[r.Method+" "+r.Path] {
			t.Errorf("%s %s is not in the OpenAPI document", r.Method, r.Path)
		}
	}
	if found != len(documented) {
		t.Errorf("%d routes, %d documented operations", found, len(documented))
	}
}

// world is one object of every kind, by the part of the path that names the
// kind.
type world struct {
	owner *tenant
	ids   map[string]string
}

func (b *bundle) newWorld(t *testing.T) world {
	t.Helper()
	return b.newWorldOf(t, b.newTenant(t))
}

// newWorldOf makes the objects in an account.
func (b *bundle) newWorldOf(t *testing.T, n *tenant) world {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	ep := n.must(201, http.MethodPost, "/endpoints", object{"url": receiver.URL, "uid": "billing"})
	secrets := entries(n.must(200, http.MethodGet, "/endpoints/billing/secrets", nil))
	src := n.must(201, http.MethodPost, "/sources", object{"name": "hooks", "kind": "none", "uid": "hooks"})
	attempt := n.must(200, http.MethodPost, "/endpoints/billing/test", nil)
	key := text(n.must(201, http.MethodPost, "/api-keys", object{"name": "ci", "scopes": []string{"publish"}}), "id")
	operation := n.must(202, http.MethodPost, "/endpoints/billing/recover", object{"since": "2026-01-01T00:00:00Z"})
	compared := n.must(202, http.MethodPost, "/reconciliations"+queries["createReconciliation"], bodies["createReconciliation"])
	claim := n.must(201, http.MethodPost, "/claims", object{"scope": "mails", "key": "k", "lease": "1h"})
	declared := text(n.must(201, http.MethodPost, "/event-types", object{"name": "theirs/alone:v1"}), "name")
	invitation := text(n.must(201, http.MethodPost, "/invitations", object{"role": "viewer"}), "id")
	return world{n, map[string]string{
		"members": n.aMember(), "invitations": invitation,
		"claims":          text(claim, "id"),
		"reconciliations": text(compared, "id"), "reconcile": text(compared, "id"),
		"event-types": declared,
		"operations":  text(operation, "id"),
		"endpoints":   text(ep, "id"), "sources": text(src, "id"), "secrets": text(secrets[0], "id"), "api-keys": key,
		"failures": text(ep, "id"), "keys": key, "requests": n.keepRequest(text(src, "id")),
		"facts":    n.keepFact(text(src, "id"), text(attempt, "event_id")),
		"attempts": text(attempt, "id"), "deliveries": text(attempt, "delivery_id"), "events": text(attempt, "event_id"),
	}}
}

// aMember is one of the account's people who is no owner, or else the owner.
func (n *tenant) aMember() string {
	n.t.Helper()
	people := entries(n.must(200, http.MethodGet, "/members", nil))
	for _, m := range people {
		if text(m, "role") != string(gateway.RoleOwner) {
			return text(m, "id")
		}
	}
	return text(people[0], "id")
}

// keepRequest stores a refused request of a source and returns its id.
func (n *tenant) keepRequest(source string) string {
	n.t.Helper()
	id, err := gateway.ParseID[gateway.SourceID](source)
	if err != nil {
		n.t.Fatal(err)
	}
	r := gateway.Request{
		ID: gateway.RequestID(n.clock.NewID()), AccountID: n.account, SourceID: id,
		Cause: "signature_missing", Detail: "The header X-Signature is absent or empty.", Body: gateway.Body{Method: http.MethodPost},
	}
	err = n.store.InTx(n.t.Context(), func(tx store.Tx) error { return tx.InsertRequests(n.t.Context(), []gateway.Request{r}) })
	if err != nil {
		n.t.Fatal(err)
	}
	return r.ID.String()
}

// keepFact stores a fact of a source, set by an event, and returns its id.
func (n *tenant) keepFact(source, event string) string {
	n.t.Helper()
	id, err := gateway.ParseID[gateway.SourceID](source)
	if err != nil {
		n.t.Fatal(err)
	}
	by, err := gateway.ParseID[gateway.EventID](event)
	if err != nil {
		n.t.Fatal(err)
	}
	fact := gateway.FactID(n.clock.NewID())
	err = n.store.InTx(n.t.Context(), func(tx store.Tx) error {
		_, err := tx.TellFacts(n.t.Context(), []store.Report{{
			Report: gateway.Report{State: "sent"}, AccountID: n.account, SourceID: id, Subject: "m1",
			EventID: by, FactID: fact,
		}})
		return err
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return fact.String()
}

// fill puts the world's ids into a path. A part that it has no object for
// fails the test: then the world needs one.
func (w world) fill(t *testing.T, path string) string {
	t.Helper()
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if !strings.HasPrefix(part, "{") {
			continue
		}
		id, ok := w.ids[parts[i-1]]
		if !ok {
			t.Fatalf("%s: the test's world has no object for %s of %s", path, part, parts[i-1])
		}
		parts[i] = id
	}
	return strings.Join(parts, "/")
}

// queries are what operations need in the address.
var queries = map[string]string{
	"createReconciliation": "?endpoint=billing&match=key&since=2026-01-01T00:00:00Z",
	"leaveListener":        "?listener=listener-number-1",
}

// at is the address of an operation with the world's ids.
func (w world) at(t *testing.T, o operation) string {
	t.Helper()
	return w.fill(t, o.path) + queries[o.id]
}

// bodies are what operations need that take no empty object.
var bodies = map[string]string{
	"publishEvent":        `{"type":"a.b","data":1}`,
	"publishEvents":       `{"events":[]}`,
	"tryFilter":           `{"filter":"true"}`,
	"createEndpoint":      `{"url":"http://127.0.0.1:1/"}`,
	"createSource":        `{"name":"x","kind":"none"}`,
	"rotateSourceSecret":  `{"secret":"0123456789abcdef"}`,
	"createEventType":     `{"name":"x"}`,
	"importConfiguration": `{"version":1}`,
	"createAPIKey":        `{"name":"x","scopes":["publish"]}`,
	"updateMember":        `{"role":"admin"}`,
	"createInvitation":    `{"role":"viewer"}`,
	"dismissFailures":     `{"status_code":599}`,
	"restoreFailures":     `{"status_code":599}`,

	"createReconciliation": `{"key":"k"}`,

	"claim":         `{"scope":"mails","key":"k2","lease":"1h"}`,
	"completeClaim": `{"fence":1}`,
	"releaseClaim":  `{"fence":1}`,
	"extendClaim":   `{"fence":1,"lease":"1h"}`,
	"reclaimClaim":  `{"reason":"x"}`,
	"resolveClaim":  `{"fence":1,"reason":"x"}`,

	"pollListener":   `{"listener":"listener-number-1"}`,
	"reportListener": `{"listener":"listener-number-1","reports":[]}`,

	"extendEndpointSecret": `{"overlap":"24h"}`,
	"recoverEndpoint":      `{"since":"2026-01-01T00:00:00Z"}`,
	"redeliverDeliveries":  `{"status":"failed"}`,
	"processEvents":        `{"status":"no_endpoints"}`,
}

func bodyFor(o operation) any {
	if o.method == http.MethodGet || o.method == http.MethodDelete {
		return nil
	}
	if b, ok := bodies[o.id]; ok {
		return b
	}
	return "{}"
}

func TestAnotherAccountSeesNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	w, stranger := b.newWorld(t), b.newTenant(t)
	stranger.must(201, http.MethodPost, "/endpoints", object{"url": "http://127.0.0.1:1/", "uid": "billing"})
	before := w.snapshot(t)
	for _, o := range b.operations(t) {
		got := stranger.call(o.method, w.at(t, o), bodyFor(o))
		if strings.Contains(o.path, "{") {
			checkProblem(t, got, http.StatusNotFound, "not_found")
			continue
		}
		if got.StatusCode/100 != 2 {
			t.Errorf("%s %s: %d %s", o.method, o.path, got.StatusCode, got.text)
		}
		for kind, id := range w.ids {
			if strings.Contains(string(got.text), id) {
				t.Errorf("%s %s shows another account's %s", o.method, o.path, kind)
			}
		}
	}
	if after := w.snapshot(t); after != before {
		t.Errorf("the stranger changed something:\n%s\nwas\n%s", after, before)
	}
}

// snapshot is everything of the world that can be read as JSON.
func (w world) snapshot(t *testing.T) string {
	t.Helper()
	var all []string
	for _, kind := range []string{"events", "endpoints", "deliveries", "attempts", "sources", "operations", "claims", "event-types", "facts", "reconciliations", "members", "invitations"} {
		got := w.owner.call(http.MethodGet, "/"+kind+"/"+w.ids[kind], nil)
		if got.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", kind, got.StatusCode, got.text)
		}
		all = append(all, string(got.text))
	}
	return strings.Join(all, "")
}

func TestUIDsOfAnotherAccountNameNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	w, stranger := b.newWorld(t), b.newTenant(t)
	for _, path := range []string{"/endpoints/billing", "/sources/hooks"} {
		w.owner.must(200, http.MethodGet, path, nil)
		stranger.refused(404, "not_found", http.MethodGet, path, nil)
	}
}

func TestEveryOperationAsksForKeyAndScope(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	w := b.newWorld(t)
	for _, o := range b.operations(t) {
		path := w.at(t, o)
		got := b.send(t, o.method, b.url+"/api/v1"+path, bodyFor(o))
		checkProblem(t, got, http.StatusUnauthorized, "unauthorized")
		if got.Header.Get("Www-Authenticate") == "" {
			t.Errorf("%s %s: no WWW-Authenticate", o.method, o.path)
		}
		others := slices.DeleteFunc(slices.Clone(gateway.Scopes), func(s gateway.Scope) bool { return s == o.scope })
		w.owner.keyWith(others...).refused(403, "scope_missing", o.method, path, bodyFor(o))
	}
}

func TestWrongKeysAreAllAlike(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	for _, value := range []string{"", "Bearer", "Bearer ", "Bearer rk_wrong", "Basic " + n.key, n.key, "Bearer " + n.key + "x", "Bearer \xff"} {
		got := b.send(t, http.MethodGet, b.url+"/api/v1/events", nil, "Authorization", value)
		checkProblem(t, got, http.StatusUnauthorized, "unauthorized")
	}
	got := b.send(t, http.MethodGet, b.url+"/api/v1/events", nil, "Authorization", "Bearer "+n.key, "Authorization", "Bearer "+n.key)
	checkProblem(t, got, http.StatusUnauthorized, "unauthorized")
	if got := b.send(t, http.MethodGet, b.url+"/api/v1/events", nil, "Authorization", "bearer "+n.key); got.StatusCode != http.StatusOK {
		t.Errorf("the scheme's case: %d", got.StatusCode)
	}
}

func TestEveryRouteIs503WithoutDatabase(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	w := b.newWorld(t)
	operations := b.operations(t)
	b.cutDatabase()
	for _, o := range operations {
		got := w.owner.call(o.method, w.at(t, o), bodyFor(o))
		checkProblem(t, got, http.StatusServiceUnavailable, "unavailable")
		if got.Header.Get("Retry-After") == "" {
			t.Errorf("%s %s: no Retry-After", o.method, o.path)
		}
	}
	got := b.send(t, http.MethodPost, b.url+"/ingest/in_x", "{}")
	checkProblem(t, got, http.StatusServiceUnavailable, "unavailable")
}

func TestReadNeverShowsSecrets(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	ep := n.must(201, http.MethodPost, "/endpoints", object{"url": "http://127.0.0.1:1/", "headers": object{"X-Token": "hunter2"}})
	src := n.must(201, http.MethodPost, "/sources", object{"name": "hooks", "kind": "github", "secret": "correct horse"})
	token := text(src, "ingest_url")[strings.LastIndex(text(src, "ingest_url"), "/")+1:]
	reader := n.keyWith(gateway.ScopeRead)
	for _, o := range b.operations(t) {
		if o.scope != gateway.ScopeRead {
			continue
		}
		path := strings.NewReplacer("/endpoints/{id}", "/endpoints/"+text(ep, "id"), "/sources/{id}", "/sources/"+text(src, "id")).Replace(o.path)
		got := reader.call(o.method, path, nil)
		for _, secret := range []string{"hunter2", "correct horse", token, text(ep, "secret")} {
			if strings.Contains(string(got.text), secret) {
				t.Errorf("%s shows a secret: %s", path, got.text)
			}
		}
	}
	shown := n.must(200, http.MethodGet, "/endpoints/"+text(ep, "id"), nil)
	if shown["headers"].(object)["X-Token"] != "hunter2" {
		t.Errorf("a key with manage does not see the headers: %v", shown)
	}
}

func TestCodesHaveAMeaning(t *testing.T) {
	t.Parallel()
	seen := map[problem.Code]bool{}
	for _, m := range problem.Meanings {
		if seen[m.Code] || m.Status < 400 || m.Title == "" || m.Advice == "" {
			t.Errorf("%+v", m)
		}
		seen[m.Code] = true
		p := problem.New(m.Code, "")
		if p.Status != m.Status || p.Code != m.Code || p.Detail == "" || p.Type == "" || strings.Contains(p.Detail, "Ingest only") {
			t.Errorf("%+v", p)
		}
		if _, err := json.Marshal(p); err != nil {
			t.Error(err)
		}
	}
}
