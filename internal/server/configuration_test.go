package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/server"
)

// configured sets an account up with everything that a document carries.
func (n *tenant) configured() {
	n.must(201, http.MethodPost, "/event-types", `{"name":"order/paid","description":"Paid","schema":{"type":"object","title":"a < b"},"examples":[{"n":1.50}],"single_fire":true,"on_doubt":"hold"}`)
	n.must(201, http.MethodPost, "/sources", object{"name": "Shop", "kind": "stripe", "secret": "whsec_0123456789abcdef", "uid": "shop", "settings": object{"tolerance": "2m"}})
	n.must(201, http.MethodPost, "/sources", object{"name": "Carrier", "kind": "none"})
	n.must(200, http.MethodPut, "/sources/shop/rule", object{"subject": "body.id", "state": "body.n < 2 ? 'a' : 'b'", "terminal": []string{"b"}})
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "standby", "retry_schedule": []string{}, "timeout": "5s"})
	n.must(201, http.MethodPost, "/endpoints", object{
		"url": somewhere, "uid": "billing", "failover": "standby", "event_types": []string{"order.*"}, "filter": "body.n < 2 && body.m > 1",
		"headers": object{"X-Api-Key": "hunter2"}, "auth": object{"type": "bearer", "token": "hunter2"}, "rate_limit": object{"per_second": 5}, "stop_on": []int{400},
	})
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "failover": "billing", "signature": "v1a"})
	n.must(201, http.MethodPost, "/endpoints", object{"kind": "listen", "uid": "laptop"})
}

// outcomes are what became of the objects of a document, by name.
func outcomes(report object) map[string]string {
	all := map[string]string{}
	for _, r := range report["results"].([]any) {
		all[text(r.(object), "name")] = text(r.(object), "outcome")
	}
	return all
}

// What one account is set up with is brought into another, and a second time
// changes nothing there, nor in the first.
func TestConfigurationGoesFromAccountToAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	from, to := b.newTenant(t), b.newTenant(t)
	from.configured()
	doc := string(from.call(http.MethodGet, "/configuration", nil).text)
	if strings.Contains(doc, "hunter2") || strings.Contains(doc, "whsec_") || strings.Contains(doc, "/ingest/") {
		t.Errorf("the document holds a secret: %s", doc)
	}
	exported := from.must(200, http.MethodGet, "/configuration", nil)
	leftOut := exported["left_out"].([]any)
	if want := (object{"kind": "endpoint", "uid": "billing", "fields": []any{"headers.X-Api-Key", "auth"}}); len(leftOut) != 1 || !cmp.Equal(leftOut[0], any(want)) {
		t.Errorf("left out: %v", leftOut)
	}

	planned := to.must(200, http.MethodPost, "/configuration?dry_run=true", doc)
	if planned["dry_run"] != true || planned["created"] != 7.0 || len(entries(to.must(200, http.MethodGet, "/endpoints", nil))) != 0 {
		t.Fatalf("%v", planned)
	}
	made := to.must(200, http.MethodPost, "/configuration", doc)
	if made["created"] != 7.0 || made["refused"] != 0.0 || !strings.Contains(fmt.Sprint(made), "signing secret is pasted on its page") {
		t.Fatalf("%v", made)
	}
	if diff := cmp.Diff(outcomes(planned), outcomes(made)); diff != "" {
		t.Error("the dry run told something else:", diff)
	}
	again := to.must(200, http.MethodGet, "/configuration", nil)
	delete(exported, "left_out") // the headers were not brought along
	if diff := cmp.Diff(exported, again); diff != "" {
		t.Error("what came in is not what went out:", diff)
	}

	for _, n := range []*tenant{to, from} {
		before := n.footprint()
		second := n.must(200, http.MethodPost, "/configuration", doc)
		if second["unchanged"] != 7.0 {
			t.Errorf("the second time: %v", second)
		}
		if diff := cmp.Diff(before, n.footprint()); diff != "" {
			t.Error("the second import changed something:", diff)
		}
	}
}

// footprint is what any change leaves: the audit log, and the times of changes.
func (n *tenant) footprint() object {
	n.t.Helper()
	return object{
		"audited":   pgtest.Count(n.t, n.pool, `SELECT count(*) FROM audit_log WHERE account_id = $1`, n.account),
		"types":     n.must(200, http.MethodGet, "/event-types", nil)["data"],
		"sources":   n.must(200, http.MethodGet, "/sources", nil)["data"],
		"endpoints": n.must(200, http.MethodGet, "/endpoints", nil)["data"],
	}
}

// What differs is changed, by its fields; what the document does not name stays.
func TestConfigurationChangesWhatDiffers(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.configured()
	got := n.must(200, http.MethodPost, "/configuration", `{"version":1,
		"event_types":[{"name":"order/paid","on_doubt":"resend"}],
		"sources":[{"uid":"shop","kind":"stripe","name":"Shop 2","rule":null}],
		"endpoints":[{"uid":"standby","url":"https://example.com/other","failover":"billing"},{"uid":"billing","failover":null,"auth":{"type":"bearer","token":"other"}}]}`)
	var changes []string
	for _, r := range got["results"].([]any) {
		changes = append(changes, fmt.Sprintln(r.(object)["name"], r.(object)["outcome"], r.(object)["changes"], r.(object)["notes"] != nil))
	}
	want := []string{
		"order/paid changed [on_doubt] false\n", "shop changed [name rule] false\n",
		"standby changed [url failover] false\n", "billing changed [failover] true\n",
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
	if n := len(entries(n.must(200, http.MethodGet, "/endpoints", nil))); n != 4 {
		t.Errorf("%d endpoints are left", n)
	}
	other := n.must(200, http.MethodPost, "/configuration", object{"version": 1, "endpoints": []any{object{"uid": "laptop", "kind": "http", "url": somewhere}}})
	if other["refused"] != 1.0 || !strings.Contains(fmt.Sprint(other), "cannot be changed: make another endpoint") {
		t.Errorf("another kind: %v", other)
	}
	if e := n.must(200, http.MethodGet, "/endpoints/billing", nil); e["failover"] != nil || len(e["headers"].(object)) != 1 || e["rate_limit"] == nil {
		t.Errorf("%v", e)
	}
}

// One object that is wrong does not keep the others, and is told where it is.
func TestConfigurationRefusesObjectsByThemselves(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/sources", object{"name": "Shop", "kind": "none", "uid": "taken"})
	doc := `{"version":1,
		"event_types":[{"name":"a b!"},{"name":"fine"},{"name":"fine"},{"name":"typo","shema":true}],
		"sources":[{"uid":"code","kind":"github","name":"Code"},{"kind":"none","name":"Nameless"},{"uid":"taken","kind":"github","name":"x"},{"uid":"ruled","kind":"none","name":"x","rule":{"subject":"bdy.id"}}],
		"endpoints":[{"uid":"one","url":"https://example.com","failover":"two"},{"uid":"two","url":"https://example.com","failover":"one"},{"uid":"three","url":"ftp://example.com"},{"uid":"four","url":"https://example.com"}]}`
	for _, query := range []string{"?dry_run=true", ""} {
		got := n.must(200, http.MethodPost, "/configuration"+query, doc)
		var where []string
		for _, r := range got["results"].([]any) {
			for _, e := range entries(object{"data": r.(object)["errors"]}) {
				where = append(where, text(e, "location"))
			}
		}
		want := []string{
			"body.event_types[0].name", "body.event_types[2].name", "body.event_types[3].shema",
			"body.sources[0].secret", "body.sources[1].uid", "body.sources[2].kind", "body.sources[3].rule.subject",
			"body.endpoints[0].failover", "body.endpoints[1].failover", "body.endpoints[2].url",
		}
		if diff := cmp.Diff(want, where); diff != "" || got["created"] != 2.0 {
			t.Errorf("%s: created %v %s", query, got["created"], diff)
		}
	}
	for _, bad := range []string{`{"event_types":[]}`, `{"version":2}`, `{"version":1,"endpoints":{}}`, `{"version":1,"other":1}`, `[]`} {
		n.refused(422, "invalid", http.MethodPost, "/configuration", bad)
	}
	n.refused(400, "invalid_json", http.MethodPost, "/configuration", "{")
	n.keyWith("read").refused(403, "scope_missing", http.MethodPost, "/configuration", doc)
}

// planned imports a document twice, once as a dry run, and fails where that told
// something else than what happened. It returns the latter.
func (n *tenant) planned(doc string) object {
	n.t.Helper()
	planned := n.must(200, http.MethodPost, "/configuration?dry_run=true", doc)
	done := n.must(200, http.MethodPost, "/configuration", doc)
	told := func(report object) []string {
		var all []string
		for _, r := range report["results"].([]any) {
			r := r.(object)
			all = append(all, fmt.Sprint(r["name"], " ", r["outcome"], " ", r["changes"], " ", r["errors"]))
		}
		return all
	}
	if diff := cmp.Diff(told(planned), told(done)); diff != "" {
		n.t.Error("the dry run told something else:", diff)
	}
	return done
}

// chainOf is a document with endpoints that fail over as "a>b" says.
func chainOf(edges ...string) string {
	var all []string
	for _, edge := range edges {
		name, next, named := strings.Cut(edge, ">")
		failover := "null"
		if named {
			failover = `"` + next + `"`
		}
		all = append(all, fmt.Sprintf(`{"uid":%q,"url":"https://example.com","failover":%s}`, name, failover))
	}
	return `{"version":1,"endpoints":[` + strings.Join(all, ",") + `]}`
}

// A dry run judges failover chains as the real one does: of what is there, of
// what comes, and of both together.
func TestADryRunTellsOfChains(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, docs := range map[string][]string{
		"turned around":        {chainOf("a>b", "b>c", "c"), chainOf("c>b", "b>a", "a")},
		"a loop":               {chainOf("a>b", "b>a")},
		"a loop of both":       {chainOf("a>b", "b"), chainOf("b>c", "c>a")},
		"to itself":            {chainOf("a>a"), chainOf("a"), chainOf("a>a")},
		"too long":             {chainOf("a>b", "b>c", "c>d", "d>e", "e>f", "f")},
		"as long as can be":    {chainOf("a>b", "b>c", "c>d", "d>e", "e")},
		"too long with others": {chainOf("a>b", "b>c", "c"), chainOf("x>y", "y>z", "z"), chainOf("c>x")},
		"a tree":               {chainOf("a>c", "b>c", "c>d", "d", "e>b", "f>e", "g>f")},
		"behind what is taken": {chainOf("a>b", "b>nowhere")},
	} {
		n := b.newTenant(t)
		for i, doc := range docs {
			n.t = t
			if got := n.planned(doc); t.Failed() {
				t.Fatalf("%s, document %d: %v", name, i, got)
			}
		}
	}
	n := b.newTenant(t)
	got := n.planned(chainOf("a>b", "b>c", "c>d", "d>e", "e>f", "f"))
	if got["refused"] != 1.0 || !strings.Contains(fmt.Sprint(got), "would make a chain of more than 5 endpoints") {
		t.Errorf("%v", got)
	}
}

// A dry run tells of limits as the real one does.
func TestADryRunTellsOfLimits(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(d *server.Deps) {
		out := egress.New(egress.Options{})
		t.Cleanup(out.CloseIdle)
		d.Endpoints = endpoint.New(endpoint.Options{Store: d.Store, Clock: clock.New(), CheckURL: out.CheckURLWith, MaxEndpoints: 3})
	})
	n := b.newTenant(t)
	n.planned(chainOf("a"))
	if got := n.planned(chainOf("a", "b", "c", "d", "e")); got["created"] != 2.0 || got["refused"] != 2.0 || !strings.Contains(fmt.Sprint(got), "as many of these as it may") {
		t.Errorf("endpoints: %v", got)
	}
	var types []string
	for i := range gateway.MaxEventTypes + 2 {
		types = append(types, fmt.Sprintf(`{"name":"t%d"}`, i))
	}
	declare := func(types []string, refused float64) {
		t.Helper()
		if got := n.planned(`{"version":1,"event_types":[` + strings.Join(types, ",") + `]}`); got["refused"] != refused {
			t.Errorf("types: %v created, %v refused", got["created"], got["refused"])
		}
	}
	declare(types[:len(types)/2], 0)
	declare(types[len(types)/2:], 2)
	for range gateway.MaxLiveSecrets - 1 {
		n.must(200, http.MethodPost, "/endpoints/a/secrets/rotate", object{"overlap": "24h"})
	}
	if got := n.planned(`{"version":1,"endpoints":[{"uid":"a","signature":"v1a"}]}`); got["refused"] != 1.0 {
		t.Errorf("secrets: %v", got)
	}
}

// Whether something is paused goes along, and what Rowlock disabled stays so.
func TestConfigurationCarriesPauses(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	from, to := b.newTenant(t), b.newTenant(t)
	from.configured()
	from.must(200, http.MethodPost, "/endpoints/standby/pause", nil)
	from.must(200, http.MethodPost, "/sources/shop/pause", nil)
	doc := string(from.call(http.MethodGet, "/configuration", nil).text)
	to.planned(doc)
	states := func(endpoint, source string) {
		t.Helper()
		e, s := to.must(200, http.MethodGet, "/endpoints/standby", nil), to.must(200, http.MethodGet, "/sources/shop", nil)
		if e["state"] != endpoint || s["state"] != source {
			t.Errorf("the endpoint is %v and the source %v, want %s and %s", e["state"], s["state"], endpoint, source)
		}
	}
	states("paused", "paused")
	var together bool
	if err := b.pool.QueryRow(t.Context(), `SELECT count(DISTINCT created_at) = 1 FROM audit_log WHERE account_id = $1 AND object = (SELECT object FROM audit_log WHERE account_id = $1 AND action = 'endpoint.pause')`, to.account).Scan(&together); err != nil || !together {
		t.Errorf("the endpoint was active before it was paused: %v", err)
	}
	if again := to.planned(doc); again["unchanged"] != 7.0 {
		t.Errorf("again: %v", again)
	}
	resumed := strings.ReplaceAll(doc, `"paused":true`, `"paused":false`)
	if got := to.planned(resumed); got["changed"] != 2.0 || strings.Count(fmt.Sprint(got), "[paused]") != 2 {
		t.Errorf("resumed: %v", got)
	}
	states("active", "active")
	to.must(200, http.MethodPost, "/sources/shop/pause", nil)
	if got := to.planned(`{"version":1,"sources":[{"uid":"shop","kind":"stripe"}]}`); got["unchanged"] != 1.0 {
		t.Errorf("nothing is said of it: %v", got)
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE endpoints SET state = 'disabled', disabled_reason = 'it failed' WHERE account_id = $1 AND uid = 'standby'`, to.account); err != nil {
		t.Fatal(err)
	}
	if got := to.planned(`{"version":1,"endpoints":[{"uid":"standby","paused":false}]}`); got["unchanged"] != 1.0 {
		t.Errorf("what is disabled: %v", got)
	}
	states("disabled", "paused")
}

// Who exports is in the audit log with how much it was, and a dry run leaves nothing
// there.
func TestConfigurationExportsAreAudited(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	doc := string(n.call(http.MethodGet, "/configuration", nil).text)
	n.must(200, http.MethodPost, "/configuration?dry_run=true", doc)
	w.get(w.home + "/settings/configuration/download").wantStatus(http.StatusOK)
	rows := pgtest.Count(t, b.pool, `SELECT count(*) FROM audit_log WHERE account_id = $1 AND action = 'export.configuration' AND detail = '0 event types, 0 sources, 0 endpoints'`, n.account)
	people := pgtest.Count(t, b.pool, `SELECT count(*) FROM audit_log WHERE action = 'export.configuration' AND actor = $1`, w.person().String())
	if rows != 2 || people != 1 {
		t.Errorf("%d exports are audited, %d of the person, want 2 and 1", rows, people)
	}
}
