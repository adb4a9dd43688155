package server_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestAPIKeyIsMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	ends := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	made := n.must(201, http.MethodPost, "/api-keys", object{
		"name": "ci", "scopes": []string{"read", "publish"}, "events_per_second": 5, "ends_at": ends,
	})
	key := &tenant{n.bundle, n.t, n.account, text(made, "key")}
	if key.key == "" || made["events_per_second"] != 5.0 || made["ends_at"] == nil {
		t.Fatalf("%v", made)
	}
	key.must(202, http.MethodPost, "/events", `{"type":"a.b","data":1}`)
	all := entries(n.must(200, http.MethodGet, "/api-keys", nil))
	if len(all) != 2 || text(all[0], "id") != text(made, "id") || all[0]["key"] != nil || text(all[0], "hint") != key.key[len(key.key)-4:] {
		t.Errorf("the list: %v", all)
	}
	for range 2 { // a second time changes nothing
		n.must(204, http.MethodDelete, "/api-keys/"+text(made, "id"), nil)
	}
	key.refused(401, "unauthorized", http.MethodGet, "/events", nil)
	if all = entries(n.must(200, http.MethodGet, "/api-keys", nil)); len(all) != 2 || all[0]["ends_at"] == nil {
		t.Errorf("a revoked key is not in the list: %v", all)
	}
}

// A key that leaked is worth no more than it was: it makes none that can do
// what it cannot.
func TestNoKeyMakesAStrongerOne(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	manager := n.keyWith(gateway.ScopeManage)
	manager.must(201, http.MethodPost, "/api-keys", `{"name":"x","scopes":["manage"]}`)
	for _, scopes := range []string{`["publish"]`, `["read"]`, `["manage","read"]`} {
		manager.refused(403, "scope_missing", http.MethodPost, "/api-keys", `{"name":"x","scopes":`+scopes+`}`)
	}
	slow := n.newKey(gateway.APIKey{Scopes: gateway.Scopes, EventsPerSecond: new(10)})
	slow.refused(422, "invalid", http.MethodPost, "/api-keys", `{"name":"x","scopes":["publish"],"events_per_second":11}`)
	slow.must(201, http.MethodPost, "/api-keys", `{"name":"x","scopes":["publish"],"events_per_second":10}`)
	if made := slow.must(201, http.MethodPost, "/api-keys", `{"name":"x","scopes":["publish"]}`); made["events_per_second"] != 10.0 {
		t.Errorf("a limit was left behind: %v", made)
	}
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	short := n.newKey(gateway.APIKey{Scopes: gateway.Scopes, EndsAt: &end})
	short.refused(422, "invalid", http.MethodPost, "/api-keys", object{"name": "x", "scopes": []string{"read"}, "ends_at": end.Add(time.Second)})
	for _, body := range []object{{"name": "x", "scopes": []string{"read"}}, {"name": "x", "scopes": []string{"read"}, "ends_at": end}} {
		if made := short.must(201, http.MethodPost, "/api-keys", body); made["ends_at"] == nil || text(made, "ends_at") > end.Format("2006-01-02T15:04:05.000000Z") {
			t.Errorf("a key lives longer than the one that made it: %v", made)
		}
	}
}

func TestAPIKeyRefuses(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	for _, body := range []string{
		`{}`, `{"name":"x"}`, `{"scopes":["read"]}`, `{"name":"x","scopes":[]}`, `{"name":"x","scopes":null}`,
		`{"name":" ","scopes":["read"]}`, `{"name":"x","scopes":["admin"]}`, `{"name":"x","scopes":["Read"]}`,
		`{"name":"x","scopes":["read"],"events_per_second":0}`, `{"name":"x","scopes":["read"],"ends_at":"tomorrow"}`,
		`{"name":"x","scopes":["read"],"ends_at":"2020-01-01T00:00:00Z"}`, `{"name":"x","scopes":["read"],"Ends_at":null}`,
	} {
		n.refused(422, "invalid", http.MethodPost, "/api-keys", body)
	}
	n.refused(404, "not_found", http.MethodDelete, "/api-keys/key_x", nil)
}
