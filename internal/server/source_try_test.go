package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// A test request is signed as the provider does, and goes the way of every
// other; checked alone, it leaves nothing behind.
func TestSourceIsTried(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	const secret = "correct horse battery staple"
	n.must(201, http.MethodPost, "/sources", object{"name": "Code", "kind": "github", "secret": secret, "uid": "gh"})
	const path = "/sources/gh/test"

	checked := n.must(200, http.MethodPost, path, object{"dry_run": true})
	if checked["dry_run"] != true || checked["verdict"].(object)["accepted"] != true {
		t.Errorf("checked: %v", checked)
	}
	if all := entries(n.must(200, http.MethodGet, "/events?source=gh", nil)); len(all) != 0 {
		t.Errorf("a check stored %v", all)
	}
	sent := n.must(200, http.MethodPost, path, nil)
	event := sent["events"].([]any)[0].(object)
	stored := n.must(200, http.MethodGet, "/events/"+text(event, "event_id"), nil)
	if text(stored, "type") != text(event, "type") || text(stored, "key") != text(event, "key") || event["duplicate"] != false {
		t.Errorf("sent %v, stored %v", event, stored)
	}
	refused := n.must(200, http.MethodPost, path, object{"fault": "wrong_secret"})
	verdict := refused["verdict"].(object)
	if verdict["accepted"] != false || text(verdict, "code") != "signature_mismatch" || refused["answer"].(object)["status"] != 401.0 {
		t.Errorf("refused: %v", refused)
	}
	if all := entries(n.must(200, http.MethodGet, "/sources/gh/requests?cause=signature_mismatch", nil)); len(all) != 1 {
		t.Errorf("refused requests: %v", all)
	}
	own := object{"body": `{"say":"` + secret + `"}`, "headers": object{"X-GitHub-Event": "ping", "X-GitHub-Delivery": "d-1"}}
	got := n.call(http.MethodPost, path, own)
	if got.StatusCode != 200 || strings.Contains(string(got.text), secret) || !strings.Contains(string(got.text), gateway.Redacted) {
		t.Errorf("a body of one's own: %d %s", got.StatusCode, got.text)
	}
	if again := n.must(200, http.MethodPost, path, own); again["events"].([]any)[0].(object)["duplicate"] != true {
		t.Errorf("sent again: %v", again)
	}
}

func TestSourceTrialRefuses(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/sources", object{"name": "Code", "kind": "github", "secret": "correct horse", "uid": "gh"})
	n.must(201, http.MethodPost, "/sources", object{
		"name": "Chat", "kind": "discord", "uid": "dc",
		"secret": "e7c9f7d1d3a3a8f7a5e0d1c2b3a4958677685940312213040506070809101112",
	})
	for body, at := range map[string]string{
		`{"fault":"upside_down"}`:                           "body.fault",
		`{"fault":"old"}`:                                   "body.fault", // GitHub signs no time
		`{"headers":{"a b":"c"}}`:                           "body.headers",
		`{"headers":{"A":"b\r\nc"}}`:                        "body.headers",
		`{"body":"` + strings.Repeat("x", maxBody+1) + `"}`: "body.body",
	} {
		if p := n.refused(422, "invalid", http.MethodPost, "/sources/gh/test", body); !strings.HasPrefix(text(p, "detail"), at) {
			t.Errorf("%.60s: %v", body, p)
		}
	}
	if p := n.refused(422, "invalid", http.MethodPost, "/sources/dc/test", nil); !strings.HasPrefix(text(p, "detail"), "body.dry_run") {
		t.Errorf("sent in what this server signed: %v", p)
	}
	got := n.must(200, http.MethodPost, "/sources/dc/test", `{"dry_run":true}`)
	if got["verdict"].(object)["accepted"] != true || got["signature"].(object)["by"] != "trial" {
		t.Errorf("checked with a pair of its own: %v", got)
	}
	builtIn := text(entries(n.must(200, http.MethodGet, "/sources", nil))[2], "id")
	n.refused(409, "built_in", http.MethodPost, "/sources/"+builtIn+"/test", nil)
	n.keyWith(gateway.ScopePublish, gateway.ScopeRead).refused(403, "scope_missing", http.MethodPost, "/sources/gh/test", nil)
}
