package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/pgtest"
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
