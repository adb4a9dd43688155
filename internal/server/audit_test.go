package server_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// The log tells who did what from where, and who was refused; it is narrowed,
// paged and exported, and is nobody else's.
func TestAuditLogByTheAPI(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	ep := n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "billing"})
	n.must(200, http.MethodPost, "/endpoints/billing/pause", nil)
	reader := n.keyWith(gateway.ScopeRead)
	reader.refused(403, "scope_missing", http.MethodDelete, "/endpoints/"+text(ep, "id"), nil)

	all := entries(reader.must(200, http.MethodGet, "/audit-log", nil))
	if len(all) < 3 || text(all[0], "action") != "account.refuse" || text(all[0], "outcome") != "refused" ||
		text(all[0], "object") != text(ep, "id") || text(all[0], "address") != "127.0.0.1" || text(all[0], "user_agent") == "" {
		t.Fatalf("%v", all)
	}
	for query, want := range map[string]string{
		"?outcome=refused": "account.refuse", "?action=endpoint.pause": "endpoint.pause", "?area=endpoint": "endpoint.pause",
		"?object=" + text(ep, "id") + "&outcome=done": "endpoint.pause", "?actor=" + text(all[0], "actor"): "account.refuse",
	} {
		if got := entries(reader.must(200, http.MethodGet, "/audit-log"+query, nil)); len(got) == 0 || text(got[0], "action") != want {
			t.Errorf("%s: %v", query, got)
		}
	}
	part := reader.must(200, http.MethodGet, "/audit-log?limit=1", nil)
	if next := entries(reader.must(200, http.MethodGet, "/audit-log?limit=1&cursor="+text(part, "next_cursor"), nil)); len(next) != 1 || text(next[0], "id") != text(all[1], "id") {
		t.Errorf("the next part: %v", next)
	}
	reader.refused(422, "invalid", http.MethodGet, "/audit-log?outcome=maybe", nil)
	if got := entries(n.newTenant(t).must(200, http.MethodGet, "/audit-log?object="+text(ep, "id"), nil)); len(got) != 0 {
		t.Errorf("another account sees %v", got)
	}
}

// An export has every entry, however many, and nothing that a spreadsheet runs.
func TestAuditLogIsExported(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	const many = 2500 // more than two batches
	err := n.store.InTx(t.Context(), func(tx store.Tx) error {
		lines := make([]store.AuditLine, many)
		for i := range lines {
			lines[i] = store.AuditLine{ID: gateway.AuditID(n.clock.NewID()), Object: "x", Detail: "=cmd()"}
		}
		return tx.AuditMany(t.Context(), n.account, gateway.ActorRowlock, "test.many", lines)
	})
	if err != nil {
		t.Fatal(err)
	}
	got := n.call(http.MethodGet, "/audit-log/export?format=csv&area=test", nil)
	rows, err := csv.NewReader(strings.NewReader(string(got.text))).ReadAll()
	if err != nil || len(rows) != many+1 || rows[1][6] != "'=cmd()" || got.Header.Get("Content-Disposition") != `attachment; filename="audit-log.csv"` {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	lines := strings.Split(strings.TrimSpace(string(n.call(http.MethodGet, "/audit-log/export?area=test", nil).text)), "\n")
	var last object
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(lines) != many || text(last, "detail") != "=cmd()" {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	if got := n.call(http.MethodGet, "/audit-log/export?format=csv&area=none", nil); !strings.HasPrefix(string(got.text), "id,created_at,") {
		t.Errorf("nothing matches: %q", got.text)
	}
}

// unaudited are the operations that are in no audit log, and why.
var unaudited = map[string]string{
	"publishEvent":   "it is what the product is for: the event itself tells",
	"publishEvents":  "as publishEvent",
	"claim":          "the claim's holders tell, by fence",
	"completeClaim":  "as claim",
	"releaseClaim":   "as claim",
	"extendClaim":    "as claim",
	"pollListener":   "deliver's tests say that who begins to listen is audited",
	"reportListener": "the attempts tell",
	"leaveListener":  "the endpoint tells since when nobody listens",
	"tryFilter":      "it changes nothing",
	"trySourceRule":  "it changes nothing",
	// What the world has nothing for; the pages' tests say that they are audited.
	"sendEndpointNow":     "nothing waits at the endpoint",
	"redeliverMissing":    "the comparison is not done",
	"captureSourceSecret": "the source's kind takes no secret from its sender",
	"processEvent":        "its event was decided",
	"cancelDelivery":      "its delivery is done",
	"removeMember":        "its only member is the owner, who is for owners",
	"updateMember":        "as removeMember",
}

// importable is a configuration that an account does not have.
const importable = `{"version":1,"event_types":[{"name":"order/imported","on_doubt":"resend"}]}`

// changes are bodies with which something changes, where bodies has none.
var changes = map[string]string{
	"updateEndpoint":      `{"description":"y"}`,
	"updateSource":        `{"name":"y"}`,
	"updateEventType":     `{"description":"y"}`,
	"importConfiguration": importable,
	"dismissFailures":     `{"endpoint":"gone"}`,
	"restoreFailures":     `{"endpoint":"gone"}`,
}

// prepared is what has to be done before an operation has an effect.
func (w world) prepared(id string) {
	n := w.owner
	switch id {
	case "resumeSource":
		n.must(200, http.MethodPost, "/sources/hooks/pause", nil)
	case "deleteSourceRule":
		n.must(200, http.MethodPut, "/sources/hooks/rule", object{"subject": "body.id"})
	case "endEndpointSecret", "extendEndpointSecret":
		n.must(200, http.MethodPost, "/endpoints/billing/secrets/rotate", object{"overlap": "1h"})
	case "rotateSourceSecret":
		w.ids["sources"] = text(n.must(201, http.MethodPost, "/sources", object{"name": "x", "kind": "github", "secret": "0123456789abcdef"}), "id")
	case "dismissFailures", "restoreFailures":
		n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "gone"})
		n.must(200, http.MethodPost, "/endpoints/gone/test", nil)
		if id == "restoreFailures" {
			n.must(200, http.MethodPost, "/failures/dismiss", object{"endpoint": "gone"})
		}
	}
}

// Every operation that changes something is in the audit log, by who called and
// from where; whoever adds one that is not, says why.
func TestEveryOperationIsAudited(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, o := range b.operations(t) {
		if _, excused := unaudited[o.id]; excused || o.method == http.MethodGet {
			continue
		}
		w := b.newWorld(t) // what one operation ends, another needs
		w.prepared(o.id)
		body := bodyFor(o)
		if changed, ok := changes[o.id]; ok {
			body = changed
		}
		caller := w.owner.newKey(gateway.APIKey{Scopes: gateway.Scopes})
		got := caller.call(o.method, w.at(t, o), body)
		if got.StatusCode/100 != 2 {
			t.Errorf("%s: %d %s: prepare the test's world for it", o.id, got.StatusCode, got.text)
		}
		n := pgtest.Count(t, b.pool, `
			SELECT count(*)
			FROM audit_log l
			JOIN api_keys k ON k.account_id = l.account_id AND k.hash = sha256($1::text::bytea)
			WHERE l.account_id = $2
			  AND l.id > k.id
			  AND l.actor LIKE 'key\_%'
			  AND l.address = '127.0.0.1'
			  AND NOT l.refused`, caller.key, w.owner.account)
		if n == 0 {
			t.Errorf("%s %s (%s) is in no audit log", o.method, o.path, o.id)
		}
	}
}

// A key is refused from elsewhere, makes none that can be used from more places,
// and says when it ended.
func TestKeysAreFenced(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	made := n.must(201, http.MethodPost, "/api-keys", object{"name": "ci", "scopes": []string{"read", "manage"}, "allowed_ips": []string{"127.0.0.0/8", "::1"}})
	inside := &tenant{n.bundle, n.t, n.account, text(made, "key")}
	inside.must(200, http.MethodGet, "/events", nil)
	used := entries(n.must(200, http.MethodGet, "/api-keys", nil))[0]
	if text(used, "last_used_from") != "127.0.0.1" || text(used, "last_used_at") == "" {
		t.Errorf("the list: %v", used)
	}
	if heir := inside.must(201, http.MethodPost, "/api-keys", object{"name": "x", "scopes": []string{"read"}}); len(heir["allowed_ips"].([]any)) != 2 {
		t.Errorf("networks were left behind: %v", heir)
	}
	inside.must(201, http.MethodPost, "/api-keys", object{"name": "x", "scopes": []string{"read"}, "allowed_ips": []string{"127.1.0.0/16"}})
	inside.refused(422, "invalid", http.MethodPost, "/api-keys", object{"name": "x", "scopes": []string{"read"}, "allowed_ips": []string{"126.0.0.0/7"}})
	n.refused(422, "invalid", http.MethodPost, "/api-keys", object{"name": "x", "scopes": []string{"read"}, "allowed_ips": []string{"everywhere"}})

	away := n.must(201, http.MethodPost, "/api-keys", object{"name": "away", "scopes": []string{"read"}, "allowed_ips": []string{"203.0.113.0/24"}})
	outside := &tenant{n.bundle, n.t, n.account, text(away, "key")}
	outside.refused(403, "address_not_allowed", http.MethodGet, "/events", nil)
	n.must(204, http.MethodDelete, "/api-keys/"+text(made, "id"), nil)
	if got := inside.call(http.MethodGet, "/events", nil); got.StatusCode != http.StatusUnauthorized || !strings.Contains(string(got.text), "expired or was revoked at") {
		t.Errorf("an ended key: %d %s", got.StatusCode, got.text)
	}
	for id, why := range map[string]string{text(away, "id"): "not allowed from this address", text(made, "id"): "it has ended"} {
		if got := entries(n.must(200, http.MethodGet, "/audit-log?action=key.refuse&object="+id, nil)); len(got) != 1 || text(got[0], "detail") != why {
			t.Errorf("the audit log: %v", got)
		}
	}
}

// Who takes much out of an account at once is noted, by pages and by the API.
func TestExportsAreAudited(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "erp"})
	list := text(n.compareAll(n.uploaded("endpoint=erp&match=event&header=false", "text/csv", "evt_06h1m3v9c8x7k2q5n4t6w8y0za\n")), "id")
	exports := map[string]func(){
		"/events/export?format=csv":        func() { w.get(w.home + "/events/export?format=csv").wantStatus(http.StatusOK) },
		"/settings/configuration/download": func() { w.get(w.home + "/settings/configuration/download").wantStatus(http.StatusOK) },
		"/api/v1/configuration":            func() { n.must(200, http.MethodGet, "/configuration", nil) },
		"/usage/csv":                       func() { w.get(w.home + "/usage/csv").wantStatus(http.StatusOK) },
		"/audit/export":                    func() { w.get(w.home + "/audit/export").wantStatus(http.StatusOK) },
		"/instance/audit/export":           func() { w.get("/instance/audit/export").wantStatus(http.StatusOK) },
		"/reconcile/report":                func() { w.get(w.home + "/reconcile/" + list + "/report").wantStatus(http.StatusOK) },
		"/api/v1/events/export":            func() { n.call(http.MethodGet, "/events/export", nil) },
		"/api/v1/audit-log/export":         func() { n.call(http.MethodGet, "/audit-log/export", nil) },
		"/api/v1/reconciliations/report":   func() { n.call(http.MethodGet, "/reconciliations/"+list+"/report", nil) },
	}
	for name, export := range exports {
		count := func() int {
			return pgtest.Count(t, b.pool, `SELECT count(*) FROM audit_log WHERE action LIKE 'export.%' AND address = '127.0.0.1'`)
		}
		before := count()
		export()
		if got := count(); got != before+1 {
			t.Errorf("%s left %d entries, want 1", name, got-before)
		}
	}
}
