package server_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/server/access"
)

// quiet are the routes of forms that change nothing that the audit log is about,
// and why.
var quiet = map[string]string{
	"/me/appearance":             "how pages look is kept by the browser",
	"/me/two-step/new":           "a key counts when its first code was shown, which is noted",
	"/sources/:id/rule/try":      "it changes nothing",
	"/endpoints/new/filter":      "it changes nothing",
	"/endpoints/:id/edit/filter": "it changes nothing",
}

// typed are values with which a form does something that does nothing as it is.
var typed = map[string]url.Values{
	"/signup":                            {"name": {"Eve"}, "email": {"eve@example.com"}, "password": {passphrase}, "account": {"Eves"}},
	"/invite/:token":                     {"name": {"Zoe"}, "email": {"zoe@example.com"}, "password": {passphrase}},
	"/login":                             {"email": {ownAddress}, "password": {passphrase}},
	"/forgot":                            {"email": {ownAddress}},
	"/reset/:token":                      {"password": {passphrase}},
	"/accounts/new":                      {"name": {"Third"}},
	"/me/profile":                        {"name": {"Ada"}},
	"/me/security":                       {"current": {passphrase}, "password": {passphrase}},
	"/me/two-step/codes":                 {"password": {passphrase}},
	"/me/two-step/off":                   {"password": {passphrase}},
	"/me/email":                          {"email": {"another@example.org"}, "password": {passphrase}},
	"/settings/members/two-step":         {"required": {"1"}},
	"/settings":                          {"name": {"Acme and more"}},
	"/settings/alerts/channel":           {"url": {"http://127.0.0.1:1/another"}},
	"/settings/keys/new":                 {"name": {"x"}},
	"/settings/members/:id/role":         {"role": {"operator"}},
	"/settings/members/:id/owner":        {"password": {passphrase}},
	"/events/views/new":                  {"name": {"x"}},
	"/sources/:id/test":                  {"send": {"1"}},
	"/sources/:id/rotate":                {"secret": {"whsec_0123456789abcdefg"}},
	"/claims/reclaim":                    {"reason": {"x"}},
	"/claims/:id/reclaim":                {"reason": {"x"}, "word": {"reclaim"}},
	"/claims/:id/resolve":                {"reason": {"x"}},
	"/endpoints/new":                     {"url": {somewhere}},
	"/endpoints/:id/edit":                {"description": {"x"}},
	"/endpoints/:id/secrets/:sid/extend": {"overlap": {"168h"}},
	"/events/:id/redeliver":              {"endpoint": {"all"}},
}

// ownAddress stands for the address of who sends a form.
const ownAddress = "own address"

// first and last are the ends of routes whose forms others take the reason from,
// and of those that take it from others.
var (
	first = []string{"/failures/dismiss", "/send-now", "/rule/delete", "/claims/reclaim", "/resolve"}
	last  = []string{"/end", "/revoke", "/remove", "/others", "/delete", "/settings/delete", "/security", "/logout"}
)

// ranked tells how late a form is to be sent.
func (f sentForm) ranked() int {
	path, _, _ := strings.Cut(f.action, "?")
	ends := func(end string) bool { return strings.HasSuffix(path, end) }
	rank := 0
	for i, end := range last {
		if ends(end) {
			rank = i + 1
		}
	}
	if slices.ContainsFunc(first, ends) {
		rank = -1
	}
	return rank
}

// unwatched are tables of which nobody has to be told, and watchedBut columns that
// change by looking, or by being used.
var (
	unwatched  = []string{"audit_log", "nodes", "tries", "job_counts"}
	watchedBut = []string{"seen_at", "last_account_id", "last_used_at", "last_used_from", "flash", "flash_page", "ends_at"}
)

// state is the same as long as nothing in the database has changed that somebody
// might have to be told of.
func (w *browser) state() string {
	t := w.t
	t.Helper()
	rows, err := w.pool.Query(t.Context(), `
		SELECT c.relname
		FROM pg_class c
		WHERE c.relnamespace = current_schema()::regnamespace
		  AND c.relkind IN ('r', 'p')
		  AND NOT c.relispartition
		  AND c.relname NOT LIKE 'river%'
		  AND c.relname <> ALL ($1)
		ORDER BY c.relname`, unwatched)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	var state strings.Builder
	for _, name := range all {
		var sum string
		err := w.pool.QueryRow(t.Context(), `
			SELECT md5(coalesce(string_agg(line, ',' ORDER BY line), ''))
			FROM (SELECT (to_jsonb(r) - $1::text[])::text AS line FROM `+name+` r) l`, watchedBut).Scan(&sum)
		if err != nil {
			t.Fatal(err)
		}
		state.WriteString(name + " " + sum + "\n")
	}
	return state.String()
}

// changedTables are the lines of a state that another has not.
func changedTables(before, after string) (names []string) {
	for line := range strings.Lines(after) {
		if !strings.Contains(before, line) {
			name, _, _ := strings.Cut(line, " ")
			names = append(names, name)
		}
	}
	return names
}

// Every form of every page that changes something in the database is in the audit
// log, with from where. A route of which that was not seen fails: whoever adds one
// says what is to be typed in, or why it is quiet.
func TestEveryFormIsAudited(t *testing.T) {
	t.Parallel()
	var deps server.Deps
	b := newBundle(t, withPages, withMailServer(t), func(d *server.Deps) { deps = *d })
	w, nobody := b.signedUp(t, "Acme"), b.newBrowser(t)
	token := w.busy(t)
	w.undelivered(t, deps)
	n := w.tenant()
	n.claimKey("mails", "third", "1h")
	n.endLease(n.claimKey("mails", "fourth", "1h"))
	f := &audited{browser: w, told: map[string]bool{}, missed: map[string]string{}}
	invited := text(n.must(201, http.MethodPost, "/invitations", object{"role": "viewer"}), "url")
	f.send(nobody, nobody.readAll("/login", "/signup", "/forgot", "/reset/"+token, strings.TrimPrefix(invited, b.url))...)
	for _, again := range []*browser{w, b.newBrowser(t), b.newBrowser(t)} { // a new password has ended the session
		again.post("/login", w.typed("/login", "/login")).wantStatus(http.StatusSeeOther)
	}
	forms := w.readAll(w.home, w.home+"/events?status=no_endpoints", "/a/closing/settings", "/accounts", "/me/profile", "/instance/accounts", "/instance/invitations", "/instance/mail")
	forms = slices.DeleteFunc(forms, func(f sentForm) bool { return strings.HasSuffix(f.action, "/owner") })
	slices.SortStableFunc(forms, func(a, b sentForm) int { return cmp.Compare(a.ranked(), b.ranked()) })
	f.send(w, forms...)
	owner := b.signedUp(t, "Else")
	heir, member := owner.newMember(), owner.newMember()
	f.send(owner, sentForm{action: owner.home + "/settings/members/" + heir.person().String() + "/owner"})
	f.send(member, sentForm{action: owner.home + "/settings/members/leave"})
	f.twoSteps(b, b.signedUp(t, "Careful"))
	for _, r := range b.server.Access() {
		if route := strings.TrimPrefix(r.Path, "/a/:account"); r.Method == http.MethodPost && r.For != access.Keys && !f.told[route] && quiet[route] == "" {
			t.Errorf("%s was not seen to do anything:%s", route, f.missed[route])
		}
	}
	f.wantAreas()
}

// twoSteps sends the forms about a person's second step and address, of which each
// needs what the one before gave.
func (a *audited) twoSteps(b *bundle, w *browser) {
	a.t.Helper()
	form := func(action string, values url.Values) sentForm {
		return sentForm{page: "/me/profile", action: action, values: values}
	}
	_, key := w.beginTwoStep()
	a.send(w, form("/me/two-step", url.Values{"code": {w.code(a.t, key, 0)}}), form(w.home+"/settings/members/two-step", nil))
	other := b.newBrowser(a.t)
	asked := other.logInHalf(w.email)
	values := fieldsOf(asked.Find("form[action='/login/code']"))
	values.Set("code", w.code(a.t, key, 1))
	a.send(other, sentForm{page: "/login", action: "/login/code", values: values})
	w.post(w.home+"/settings/members/two-step", url.Values{"required": {""}})
	a.send(w, form("/me/two-step/codes", nil), form("/me/two-step/off", nil))
	a.send(w, form(w.askEmail("careful@example.org"), nil))
}

// audited sends forms and looks what the audit log tells of them.
type audited struct {
	*browser

	// told are the routes of which it told, missed what came of others.
	told   map[string]bool
	missed map[string]string
}

// send sends forms, of each route as many as it takes for one to do something.
func (a *audited) send(who *browser, forms ...sentForm) {
	a.t.Helper()
	for _, f := range forms {
		r, ok := a.routeOf(f.action)
		if !ok {
			a.t.Fatalf("%s is no route", f.action)
		}
		route := strings.TrimPrefix(r.Path, "/a/:account")
		if a.told[route] || quiet[route] != "" {
			continue
		}
		values := url.Values{}
		maps.Copy(values, f.values)
		maps.Copy(values, a.typed(route, f.page))
		before, n := a.state(), a.noted()
		var p page
		switch route { // two have a file
		case "/reconcile/new":
			p = who.upload(f.action, listForm(values.Get("endpoint")), "list.csv", "event_id\nevt_06h1m3v9c8x7k2q5n4t6w8y0za\n")
		case "/settings/configuration":
			p = who.upload(f.action, map[string]string{"pasted": importable, "apply": "1"}, "", "")
		default:
			p = who.post(f.action, values)
		}
		switch changed := changedTables(before, a.state()); {
		case a.noted() > n:
			a.told[route] = true
		case len(changed) > 0:
			a.t.Errorf("%s answers %d, changes %v, and is in no audit log", route, p.status, changed)
		default:
			a.missed[route] += fmt.Sprintf("\n\t%s %v: %d %s", f.action, values, p.status, p.location)
		}
	}
}

// wantAreas fails for an action that the filters of no log lead to.
func (a *audited) wantAreas() {
	a.t.Helper()
	for of, areas := range map[string][]string{"IS NOT NULL": gateway.AuditAreas, "IS NULL": gateway.InstanceAuditAreas} {
		n := pgtest.Count(a.t, a.pool, `SELECT count(*) FROM audit_log WHERE account_id `+of+` AND split_part(action, '.', 1) <> ALL ($1)`, areas)
		if n > 0 {
			a.t.Errorf("%d entries whose account %s are of no area: %v", n, of, areas)
		}
	}
}

// noted is how many entries of pages there are.
func (a *audited) noted() int {
	return pgtest.Count(a.t, a.pool, `SELECT count(*) FROM audit_log WHERE address = '127.0.0.1' AND agent <> '' AND NOT refused`)
}

// typed is what is to be typed into the form of a route; into one that deletes
// something, its name, which the page says.
func (w *browser) typed(route, page string) url.Values {
	values := url.Values{}
	maps.Copy(values, typed[route])
	if values.Get("email") == ownAddress {
		values.Set("email", w.email)
	}
	if name := w.get(page).Find("#name-hint").Text(); name != "" && strings.HasSuffix(route, "/delete") {
		values.Set("name", name)
	}
	return values
}
