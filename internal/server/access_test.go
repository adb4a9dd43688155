package server_test

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/server/access"
)

// openPaths begin the routes that are no page and no operation, and are for
// everybody.
var openPaths = []string{"/healthz", "/readyz", "/ingest/", "/api/openapi", "/api/docs"}

// A route that does not say who it is for fails here, and so does one whose
// permission is in no table.
func TestEveryRouteSaysWhoItIsFor(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, func(d *server.Deps) { d.Kit, d.Jobs = true, http.NotFoundHandler() })
	said := map[string]access.Route{}
	for _, r := range b.server.Access() {
		if _, twice := said[r.Method+" "+r.Path]; twice {
			t.Errorf("%s %s is said twice", r.Method, r.Path)
		}
		said[r.Method+" "+r.Path] = r
	}
	for _, r := range b.server.Routes() {
		if slices.ContainsFunc(openPaths, func(begin string) bool { return strings.HasPrefix(r.Path, begin) }) {
			continue
		}
		of, ok := said[r.Method+" "+r.Path]
		delete(said, r.Method+" "+r.Path)
		permitted := of.For == access.Members || of.For == access.Keys
		switch {
		case !ok:
			t.Errorf("%s %s does not say who it is for", r.Method, r.Path)
		case permitted != of.Needs.Known(), !permitted && of.Needs != "":
			t.Errorf("%s %s is for %s and needs %q", r.Method, r.Path, of.For, of.Needs)
		case strings.HasPrefix(r.Path, "/a/") != (of.For == access.Members), strings.HasPrefix(r.Path, "/api/") != (of.For == access.Keys),
			strings.HasPrefix(r.Path, "/instance") != (of.For == access.InstanceOwner), strings.HasPrefix(r.Path, "/me/") && of.For != access.Person:
			t.Errorf("%s %s is for %s", r.Method, r.Path, of.For)
		}
	}
	for route := range said {
		t.Errorf("there is no %s", route)
	}
}

// harmless end the routes that take a form and change nothing, or nothing but
// what a member chooses for themselves.
var harmless = []string{"/settings/alerts", "/members/leave", "/try"}

// What is for owners alone, whatever else is.
func TestWhatIsForOwners(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	found := 0
	for _, r := range b.server.Access() {
		if r.Path == "/a/:account/settings/delete" || r.Path == "/a/:account/settings/restore" {
			found++
			if r.Needs != gateway.PermClose {
				t.Errorf("%s %s needs %s", r.Method, r.Path, r.Needs)
			}
		}
	}
	if found != 3 {
		t.Errorf("%d routes delete and restore accounts", found)
	}
}

// What the last part of a path does has the same least permission wherever it
// stands, said here a second time.
func TestRoutesNeedWhatTheyDo(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	least := map[string]gateway.Permission{
		"redeliver": gateway.PermOperate, "recover": gateway.PermOperate, "reclaim": gateway.PermOperate, "resolve": gateway.PermOperate,
		"dismiss": gateway.PermOperate, "restore": gateway.PermOperate, "cancel": gateway.PermOperate, "stop": gateway.PermOperate,
		"pause": gateway.PermOperate, "resume": gateway.PermOperate, "send-now": gateway.PermOperate, "process": gateway.PermOperate,
		"new": gateway.PermOperate, "delete": gateway.PermOperate, "edit": gateway.PermConfigure, "rotate": gateway.PermConfigure,
		"extend": gateway.PermConfigure, "end": gateway.PermConfigure, "capture": gateway.PermConfigure, "accept": gateway.PermConfigure,
		"reveal": gateway.PermReveal, "revoke": gateway.PermKeys, "resend": gateway.PermMembers, "invite": gateway.PermMembers,
		"role": gateway.PermMembers, "remove": gateway.PermMembers, "owner": gateway.PermOwn,
	}
	for _, r := range b.server.Access() {
		if r.For != access.Members && r.For != access.Keys {
			continue
		}
		last := r.Path[strings.LastIndexByte(r.Path, '/')+1:]
		ofHolder := strings.HasPrefix(r.Path, "/api/v1/claims/") // who holds a claim extends it
		if want, ok := least[last]; ok && !ofHolder && !slices.Contains(want.Holders(), r.Needs.Holders()[0]) {
			t.Errorf("%s %s needs no more than %s", r.Method, r.Path, r.Needs)
		}
		none := slices.ContainsFunc(harmless, func(path string) bool { return strings.HasSuffix(r.Path, path) })
		if r.Method != http.MethodGet && r.Needs == gateway.PermRead && !none {
			t.Errorf("%s %s changes something and needs to read", r.Method, r.Path)
		}
	}
}

// status sends an empty form or asks for a page, and reads no further than what
// kind of answer comes: some never end.
func (w *browser) status(method, path string) (status int, location string) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, w.url+path, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	answer, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.Header.Get("Content-Type") != "text/event-stream" {
		_, _ = io.Copy(io.Discard, answer.Body)
	}
	return answer.StatusCode, answer.Header.Get("Location")
}

// Every page and every form of an account, for every role, for a stranger and
// for nobody: whoever lacks the permission is refused and told who has it, and
// nothing changes; whoever has it is not refused.
func TestRolesAndRoutes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	members := map[gateway.Role]*browser{gateway.RoleOwner: owner}
	for _, role := range gateway.Roles[:len(gateway.Roles)-1] {
		members[role] = owner.newMemberAs(role)
	}
	owner.newMember() // who may be removed
	stranger, nobody := b.signedUp(t, "Other"), b.newBrowser(t)
	for _, member := range members {
		member.get("/a/acme").wantStatus(http.StatusOK)
	}
	w := b.newWorldOf(t, owner.tenant())
	before, refused := w.snapshot(t), 0
	pages := slices.DeleteFunc(slices.Clone(b.server.Access()), func(r access.Route) bool { return r.For != access.Members })
	for _, r := range pages {
		path, _ := w.fillPage(t, r.Path, "acme")
		if status, _ := stranger.status(r.Method, path); status != http.StatusNotFound {
			t.Errorf("%s %s shows a stranger %d", r.Method, r.Path, status)
		}
		if status, to := nobody.status(r.Method, path); status != http.StatusSeeOther || !strings.HasPrefix(to, "/login") {
			t.Errorf("%s %s leads nobody to %d %s", r.Method, r.Path, status, to)
		}
		for role, member := range members {
			if role.May(r.Needs) {
				continue
			}
			refused++
			p := member.ask(r.Method, path)
			if text := p.Find("main").Text(); p.status != http.StatusForbidden || !strings.Contains(text, r.Needs.Who()) {
				t.Errorf("%s %s shows %s %d %q, want a refusal that names %q", r.Method, r.Path, role, p.status, text, r.Needs.Who())
			}
		}
	}
	if after := w.snapshot(t); after != before || refused == 0 {
		t.Errorf("%d were refused, and something changed:\n%s\nwas\n%s", refused, after, before)
	}
	leaves := func(r access.Route) int { // comes last, since nobody can do anything after that
		return strings.Count(r.Method+" "+r.Path, "POST /a/:account/settings/members/leave")
	}
	slices.SortStableFunc(pages, func(a, b access.Route) int {
		return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(leaves(a), leaves(b)))
	})
	for _, r := range pages {
		for role, member := range members {
			if role.May(r.Needs) {
				path, _ := w.fillPage(t, r.Path, "acme")
				member.wantNotRefused(r.Method, path, role)
			}
		}
	}
}

// notInWorld end the pages of what the test's world has none of: a request with
// several events, and a secret that has an end.
var notInWorld = []string{"/request", "/extend"}

// wantNotRefused fails if somebody who has the permission is refused. A page has
// to be there; what a form is about may have gone by another form.
func (w *browser) wantNotRefused(method, path string, role gateway.Role) {
	w.t.Helper()
	status, to := w.status(method, path)
	none := slices.ContainsFunc(notInWorld, func(end string) bool { return strings.HasSuffix(path, end) })
	gone := status == http.StatusNotFound && method == http.MethodGet && !none
	if status == http.StatusForbidden || status >= http.StatusInternalServerError || gone || strings.HasPrefix(to, "/login") {
		w.t.Errorf("%s %s shows %s %d %s", method, path, role, status, to)
	}
}

// Every operation, for a key of each scope, for nobody and for somebody who is
// logged in: a key without the permission is refused, one with it is not.
func TestScopesAndOperations(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	w := b.newWorldOf(t, owner.tenant())
	keys := map[gateway.Scope]*tenant{}
	for _, scope := range gateway.Scopes {
		keys[scope] = w.owner.keyWith(scope)
	}
	operations := map[string]operation{}
	for _, o := range b.operations(t) {
		operations[o.method+" /api/v1"+strings.NewReplacer("{", ":", "}", "").Replace(o.path)] = o
	}
	before := w.snapshot(t)
	for _, may := range []bool{false, true} { // those who are refused come first
		for _, r := range b.server.Access() {
			if r.For != access.Keys {
				continue
			}
			o := operations[r.Method+" "+r.Path]
			if status, _ := owner.status(r.Method, "/api/v1"+w.at(t, o)); status != http.StatusUnauthorized {
				t.Errorf("%s %s shows somebody who is logged in %d", r.Method, r.Path, status)
			}
			for scope, n := range keys {
				if (gateway.APIKey{Scopes: []gateway.Scope{scope}}).May(r.Needs) != may {
					continue
				}
				got := n.call(o.method, w.at(t, o), bodyFor(o))
				refused := strings.Contains(string(got.text), "This operation needs the scope") || got.StatusCode == http.StatusUnauthorized
				if refused == may || got.StatusCode >= 500 {
					t.Errorf("%s %s answers a key with %s %d %s", r.Method, r.Path, scope, got.StatusCode, got.text)
				}
			}
		}
		if !may && w.snapshot(t) != before {
			t.Error("somebody who was refused changed something")
		}
	}
}

// No page offers anybody what they would be refused: every link of every page
// leads somewhere, and every form is one that the reader's role may send.
func TestNobodyIsOfferedWhatIsRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	owner.busy(t)
	for _, role := range gateway.Roles[:len(gateway.Roles)-1] {
		member := owner.newMemberAs(role)
		for _, f := range member.readAll(owner.home, owner.home+"/events?status=no_endpoints") {
			r, ok := b.routeOf(f.action)
			if !ok {
				t.Errorf("%s offers %s a form for %s, which is no route", f.page, role, f.action)
			}
			if r.For == access.Members && strings.HasPrefix(f.action, owner.home+"/") && !role.May(r.Needs) {
				t.Errorf("%s offers %s %s, which needs %s", f.page, role, f.action, r.Needs)
			}
		}
	}
}

// routeOf finds the route that a form is posted to.
func (b *bundle) routeOf(action string) (access.Route, bool) {
	path, _, _ := strings.Cut(action, "?")
	for _, r := range b.server.Access() {
		parts, of := strings.Split(r.Path, "/"), strings.Split(path, "/")
		if r.Method == http.MethodPost && slices.EqualFunc(parts, of, func(part, of string) bool { return part == of || strings.HasPrefix(part, ":") }) {
			return r, true
		}
	}
	return access.Route{}, false
}
