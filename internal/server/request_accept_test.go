package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// refusedPush sends a push to a source of GitHub's that is signed with a secret
// which is not the source's, and returns the id of the request.
func (n *tenant) refusedPush(source object, secret, delivery, body string) string {
	n.t.Helper()
	got := n.send(n.t, http.MethodPost, text(source, "ingest_url"), body,
		"X-GitHub-Event", "push", "X-GitHub-Delivery", delivery, "X-Hub-Signature-256", sign(secret, body))
	if got.StatusCode != http.StatusUnauthorized {
		n.t.Fatalf("wrongly signed: %d %s", got.StatusCode, got.text)
	}
	all := entries(n.must(200, http.MethodGet, "/sources/"+text(source, "id")+"/requests?cause=signature_mismatch", nil))
	return text(all[0], "id")
}

func TestRefusedRequestIsAcceptedLate(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	source := n.must(201, http.MethodPost, "/sources", object{"name": "Code", "kind": "github", "secret": "before", "uid": "gh"})
	const body = `{"ref":"refs/heads/main"}`
	path := "/sources/gh/requests/" + n.refusedPush(source, "after", "d-1", body)

	kept := n.must(200, http.MethodGet, path, nil)
	if text(kept, "header") != "X-Hub-Signature-256" || kept["answered"] != 401.0 || text(kept, "sender") == "" || kept["accepted_at"] != nil {
		t.Errorf("kept: %v", kept)
	}
	unproven := n.refused(409, "not_proven", http.MethodPost, path+"/accept", nil)
	if detail := text(unproven, "detail"); !strings.Contains(detail, "made with another secret") || strings.Contains(detail, sign("before", body)) {
		t.Errorf("refused with %q", detail)
	}
	n.refused(422, "invalid", http.MethodPost, path+"/accept", object{"override": strings.Repeat("x", 501)})
	n.refused(409, "not_proven", http.MethodPost, path+"/accept", object{"override": " "})

	n.must(200, http.MethodPost, "/sources/gh/secrets/rotate", object{"secret": "after", "overlap": "1h"})
	accepted := n.must(200, http.MethodPost, path+"/accept", nil)
	event := n.must(200, http.MethodGet, "/events/"+text(accepted, "event_id"), nil)
	if text(accepted, "accepted_at") == "" || text(event, "request_id") != text(kept, "id") || text(event, "type") != "push" || text(event, "key") != "d-1" {
		t.Errorf("accepted: %v, its event: %v", accepted, event)
	}
	if got := n.call(http.MethodGet, "/events/"+text(event, "id")+"/payload", nil); string(got.text) != body {
		t.Errorf("its payload: %s", got.text)
	}
	n.refused(409, "already_accepted", http.MethodPost, path+"/accept", object{"override": "again"})
	again := n.send(t, http.MethodPost, text(source, "ingest_url"), body,
		"X-GitHub-Event", "push", "X-GitHub-Delivery", "d-1", "X-Hub-Signature-256", sign("after", body)).object(t)
	if again["duplicate"] != true || text(again, "id") != text(event, "id") {
		t.Errorf("the sender's own repeat: %v", again)
	}
}

// keepPartOf stores a refused request of a source whose body was longer than
// what is kept, and returns its id.
func (n *tenant) keepPartOf(source string) string {
	n.t.Helper()
	id, err := gateway.ParseID[gateway.SourceID](source)
	if err != nil {
		n.t.Fatal(err)
	}
	r := gateway.Request{
		ID: gateway.RequestID(n.clock.NewID()), AccountID: n.account, SourceID: id, Cause: "signature_mismatch",
		Body: gateway.Body{Method: http.MethodPost, Data: []byte(`{"ref":`)}, BodySize: 1 << 20,
	}
	err = n.store.InTx(n.t.Context(), func(tx store.Tx) error { return tx.InsertRequests(n.t.Context(), []gateway.Request{r}) })
	if err != nil {
		n.t.Fatal(err)
	}
	return r.ID.String()
}

// Who overrides says why; what was not kept whole, or is a repeat, cannot be
// accepted; and none of another account.
func TestRequestsThatAreNotAcceptedAsTheyAre(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	source := n.must(201, http.MethodPost, "/sources", object{"name": "Code", "kind": "github", "secret": "before", "uid": "gh"})
	id := n.refusedPush(source, "other", "d-2", `{"ref":"x"}`)
	path := "/sources/gh/requests/" + id + "/accept"
	other := b.newTenant(t)
	other.refused(404, "not_found", http.MethodPost, "/sources/"+text(source, "id")+"/requests/"+id+"/accept", object{"override": "mine"})
	if reader := n.newKey(gateway.APIKey{Scopes: []gateway.Scope{gateway.ScopeRead}}); reader.call(http.MethodPost, path, nil).StatusCode != http.StatusForbidden {
		t.Error("a key that only reads accepts a request")
	}
	accepted := n.must(200, http.MethodPost, path, object{"override": "Confirmed by mail."})
	if text(accepted, "event_id") == "" {
		t.Errorf("overridden: %v", accepted)
	}
	n.refused(409, "request_cut", http.MethodPost, "/sources/gh/requests/"+n.keepPartOf(text(source, "id"))+"/accept", object{"override": "x"})

	body := `{"ref":"y"}`
	for range 2 {
		n.send(t, http.MethodPost, text(source, "ingest_url"), body, "X-GitHub-Event", "push", "X-GitHub-Delivery", "d-4", "X-Hub-Signature-256", sign("before", body))
	}
	repeat := entries(n.must(200, http.MethodGet, "/sources/gh/requests?cause=duplicate", nil))[0]
	n.refused(409, "already_accepted", http.MethodPost, "/sources/gh/requests/"+text(repeat, "id")+"/accept", object{"override": "x"})
}
