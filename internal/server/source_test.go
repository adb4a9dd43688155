package server_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSourceLife(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	made := n.must(201, http.MethodPost, "/sources", `{"name":"Hooks","kind":"github","secret":"correct horse","uid":"gh"}`)
	if !strings.HasPrefix(text(made, "ingest_url"), b.url+"/ingest/") || made["secret"] != nil {
		t.Fatalf("%v", made)
	}
	if got := n.must(200, http.MethodGet, "/sources/gh", nil); !cmp.Equal(got, made) {
		t.Errorf("read again: %s", cmp.Diff(made, got))
	}
	if got := n.must(200, http.MethodPatch, "/sources/gh", `{"name":"Other","uid":null}`); got["name"] != "Other" || got["uid"] != nil {
		t.Errorf("%v", got)
	}
	path := "/sources/" + text(made, "id")
	for change, says := range map[string]string{
		`{"secret":"x"}`: "is changed by rotating it", `{"kind":"stripe"}`: "make a new source", `{"name":null}`: "want 1 to 200 characters",
	} {
		if p := n.refused(422, "invalid", http.MethodPatch, path, change); !strings.Contains(text(p, "detail"), says) {
			t.Errorf("%s: %v", change, p)
		}
	}
	n.must(200, http.MethodPatch, path, `{"kind":"github","settings":null}`)
	for body, at := range map[string]string{`{}`: "body.secret", `{"secret":"x","overlap":"721h"}`: "body.overlap"} {
		if p := n.refused(422, "invalid", http.MethodPost, path+"/secrets/rotate", body); !strings.HasPrefix(text(p, "detail"), at) {
			t.Errorf("%s: %v", body, p)
		}
	}
	if got := n.must(200, http.MethodPost, path+"/secrets/rotate", `{"secret":"battery staple","overlap":"1h"}`); !strings.HasPrefix(text(got, "id"), "sec_") || got["secret"] != nil {
		t.Errorf("%v", got)
	}
	if got := n.must(200, http.MethodPost, path+"/pause", nil); got["state"] != "paused" {
		t.Errorf("%v", got)
	}
	if got := n.must(200, http.MethodPost, path+"/resume", nil); got["state"] != "active" {
		t.Errorf("%v", got)
	}
	n.must(204, http.MethodDelete, path, nil)
	n.refused(404, "not_found", http.MethodGet, path, nil)
	checkProblem(t, b.send(t, http.MethodPost, text(made, "ingest_url"), "{}"), 404, "not_found")
}

func TestBuiltInSourceIsListedAndNothingElse(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	all := entries(n.must(200, http.MethodGet, "/sources", nil))
	if len(all) != 1 || all[0]["kind"] != "api" || all[0]["ingest_url"] != nil {
		t.Fatalf("%v", all)
	}
	path := "/sources/" + text(all[0], "id")
	n.must(200, http.MethodGet, path, nil)
	n.refused(409, "built_in", http.MethodPatch, path, `{"name":"x"}`)
	n.refused(409, "built_in", http.MethodDelete, path, nil)
	n.refused(422, "invalid", http.MethodPost, "/sources", `{"name":"x","kind":"api"}`)
}

func TestSourceRefuses(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	for _, body := range []string{
		`{}`, `{"kind":"none"}`, `{"name":"x"}`, `{"name":"x","kind":"hunter2"}`, `{"name":"x","kind":"github"}`,
		`{"name":"x","kind":"github","secret":""}`, `{"name":"x","kind":"none","settings":7}`,
		`{"name":"x","kind":"none","settings":{"hunter2":1}}`, `{"name":"x","kind":"none","settings":{"tolerance":"1s","tolerance":"2s"}}`,
		`{"name":"x\u0000","kind":"none"}`, `{"name":"x","kind":"none","rule":{}}`,
	} {
		if p := n.refused(422, "invalid", http.MethodPost, "/sources", body); strings.Contains(text(p, "detail"), "hunter2") && !strings.Contains(body, `"hunter2":`) {
			t.Errorf("%s: repeats what was sent: %v", body, p)
		}
	}
}

func sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func TestIngestAnswers(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	src := n.must(201, http.MethodPost, "/sources", `{"name":"Hooks","kind":"github","secret":"s3cret"}`)
	address := text(src, "ingest_url")
	const body = `{"ref":"x\u0000","n":90071992547409930}`
	deliver := func(id, signature string) answer {
		return b.send(t, http.MethodPost, address+"/extra/path?a=b&c=%00", body, "Content-Type", "application/json",
			"X-Github-Event", "push", "X-Github-Delivery", id, "X-Hub-Signature-256", signature, "Authorization", "hunter2")
	}
	first := deliver("d-1", sign("s3cret", body))
	want := fmt.Sprintf(`{"id":%q,"duplicate":false}`, text(first.object(t), "id"))
	if first.StatusCode != http.StatusOK || strings.TrimSpace(string(first.text)) != want || !strings.HasPrefix(text(first.object(t), "id"), "evt_") {
		t.Fatalf("%d %s", first.StatusCode, first.text)
	}
	again := deliver("d-1", sign("s3cret", body)).object(t)
	if again["duplicate"] != true || again["id"] != first.object(t)["id"] {
		t.Errorf("%v", again)
	}
	for signature, code := range map[string]string{
		"sha256=" + strings.Repeat("0", 64): "signature_mismatch", "": "signature_missing", "sha256=zz": "signature_malformed",
	} {
		checkProblem(t, deliver("d-2", signature), http.StatusUnauthorized, code)
	}
	event := n.must(200, http.MethodGet, "/events/"+text(again, "id"), nil)
	if event["path"] != "/extra/path" || event["query"] != "a=b&c=%00" || event["method"] != "POST" || event["type"] != "push" {
		t.Errorf("%v", event)
	}
	if got := event["headers"].(object)["Authorization"]; !cmp.Equal(got, []any{"[redacted]"}) {
		t.Errorf("%v", got)
	}
	if n.payload(text(again, "id")) != body {
		t.Error("the body has changed")
	}
	for _, cause := range []string{"duplicate", "signature_mismatch", "signature_missing", "signature_malformed"} {
		kept := entries(n.must(200, http.MethodGet, "/sources/"+text(src, "id")+"/requests?cause="+cause, nil))
		if len(kept) != 1 || kept[0]["cause"] != cause || kept[0]["body"] != body {
			t.Errorf("%s: %v", cause, kept)
		}
	}
	if all := entries(n.must(200, http.MethodGet, "/sources/"+text(src, "id")+"/requests", nil)); len(all) != 4 {
		t.Errorf("%d requests", len(all))
	}
	n.refused(422, "invalid", http.MethodGet, "/sources/"+text(src, "id")+"/requests?cause=hunter2", nil)
}

func TestIngestRefuses(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	address := text(n.must(201, http.MethodPost, "/sources", `{"name":"Open","kind":"none"}`), "ingest_url")
	if p := checkProblem(t, b.send(t, http.MethodPost, b.url+"/ingest/in_unknown", "{}"), 404, "not_found"); !strings.HasPrefix(text(p, "detail"), "No source has this address") {
		t.Errorf("an unknown token: %v", p)
	}
	checkProblem(t, b.send(t, http.MethodPost, b.url+"/ingest/%00", "{}"), 404, "not_found")
	checkProblem(t, b.send(t, http.MethodPost, b.url+"/ingest/%ff/x", "{}"), 404, "not_found")
	checkProblem(t, b.send(t, http.MethodPost, b.url+"/ingest/", "{}"), 404, "not_found")
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		got := b.send(t, method, address, nil)
		checkProblem(t, got, http.StatusMethodNotAllowed, "method_not_allowed")
		if !strings.Contains(got.Header.Get("Allow"), "POST") {
			t.Errorf("Allow: %q", got.Header.Get("Allow"))
		}
	}
	for range 3 { // far above the limit, and the answer still arrives
		p := checkProblem(t, b.send(t, http.MethodPost, address, make([]byte, 3<<20)), http.StatusRequestEntityTooLarge, "payload_too_large")
		if !strings.Contains(text(p, "detail"), fmt.Sprint(maxBody)) || !strings.Contains(text(p, "detail"), "ROWLOCK_MAX_BODY") {
			t.Errorf("the limit is not named: %v", p)
		}
	}
	if got := b.send(t, http.MethodPut, address, make([]byte, maxBody)); got.StatusCode != http.StatusOK {
		t.Errorf("exactly the limit: %d %s", got.StatusCode, got.text)
	}
	chunked := struct{ *bytes.Reader }{bytes.NewReader(make([]byte, maxBody+1))}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, chunked)
	if err != nil {
		t.Fatal(err)
	}
	response, err := b.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("without a length: %d", response.StatusCode)
	}
}

func TestIngestDoesNotWaitForABodyThatWaitsForAnAnswer(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	address := text(n.must(201, http.MethodPost, "/sources", `{"name":"Open","kind":"none"}`), "ingest_url")
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit/4)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	path := strings.TrimPrefix(address, b.url)
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9999999\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("HTTP/1.1 413"))
	if _, err := conn.Read(line); err != nil || string(line) != "HTTP/1.1 413" {
		t.Errorf("%q, %v", line, err)
	}
}

func TestPausedSourceTakesEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	src := n.must(201, http.MethodPost, "/sources", `{"name":"Open","kind":"none","uid":"open"}`)
	n.must(200, http.MethodPost, "/sources/open/pause", nil)
	id := text(b.send(t, http.MethodPost, text(src, "ingest_url"), "x").object(t), "id")
	b.process(t, id)
	if event := n.must(200, http.MethodGet, "/events/"+id, nil); event["status"] != "held" {
		t.Errorf("%v", event)
	}
}
