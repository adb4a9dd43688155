package server_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	listenerName = "listener-number-1"
	askingOne    = `{"listener":"` + listenerName + `","host":"jo-laptop"}`
)

// orders are what a listener is to send; it asks until there are some.
func (n *tenant) orders(path, body string) []object {
	n.t.Helper()
	for {
		list, _ := n.must(200, http.MethodPost, path+"/listener/poll", body)["orders"].([]any)
		if len(list) == 0 {
			continue
		}
		orders := make([]object, len(list))
		for i := range list {
			orders[i], _ = list[i].(object)
		}
		return orders
	}
}

// An endpoint that is listened for needs no address, and has none.
func TestListenEndpoint(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	made := n.must(201, http.MethodPost, "/endpoints", `{"kind":"listen","uid":"laptop"}`)
	if _, has := made["url"]; has || made["kind"] != "listen" || made["listener"] != nil || !strings.HasPrefix(text(made, "secret"), "whsec_") {
		t.Errorf("%v", made)
	}
	for _, c := range []struct{ method, path, body, at string }{
		{http.MethodPost, "/endpoints", `{"kind":"listen","url":"` + somewhere + `"}`, "body.url"},
		{http.MethodPost, "/endpoints", `{"kind":"http"}`, "body.url"},
		{http.MethodPost, "/endpoints", `{"kind":"hunter2","url":"` + somewhere + `"}`, "body.kind"},
		{http.MethodPatch, "/endpoints/laptop", `{"url":"` + somewhere + `"}`, "body.url"},
		{http.MethodPatch, "/endpoints/laptop", `{"kind":"http"}`, "body.kind"},
	} {
		p := n.refused(422, "invalid", c.method, c.path, c.body)
		if faults, _ := p["errors"].([]any); len(faults) == 0 || faults[0].(object)["location"] != c.at {
			t.Errorf("%s: %v, want a fault at %s", c.body, p, c.at)
		}
	}
	if changed := n.must(200, http.MethodPatch, "/endpoints/laptop", `{"event_types":["order.*"]}`); changed["kind"] != "listen" {
		t.Errorf("%v", changed)
	}
	n.refused(409, "nobody_listens", http.MethodPost, "/endpoints/laptop/test", nil)
}

// What is sent is given to who asks, and is what that one says of it.
func TestListenerCalls(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	made := n.must(201, http.MethodPost, "/endpoints", `{"kind":"listen","uid":"laptop","headers":{"X-Own":"theirs"}}`)
	id := text(made, "id")
	endpoint, err := gateway.ParseID[gateway.EndpointID](id)
	if err != nil {
		t.Fatal(err)
	}
	// It is there before the test is sent.
	if _, _, err := n.store.HearListener(t.Context(), n.account, endpoint, gateway.Listener{ID: listenerName, Host: "jo-laptop"}); err != nil {
		t.Fatal(err)
	}
	var tested answer
	var testing sync.WaitGroup
	testing.Go(func() { tested = n.call(http.MethodPost, "/endpoints/laptop/test", nil) })
	orders := n.orders("/endpoints/laptop", askingOne)
	o := orders[0]
	headers, _ := o["headers"].(object)
	body, err := base64.StdEncoding.DecodeString(text(o, "body"))
	if len(orders) != 1 || err != nil || !strings.Contains(string(body), id) || headers["Webhook-Signature"] == nil || headers["X-Own"] != "theirs" ||
		o["timeout"] != "5s" || o["number"] != 1.0 || o["event_type"] != "rowlock.test" {
		t.Errorf("orders %v", orders)
	}
	report := fmt.Sprintf(`{"listener":%q,"reports":[{"id":%q,"status_code":201,"headers":{"X-A":"b"},"body":%q,"duration_ms":2.5,"timing":{"first_byte_ms":1}}]}`,
		listenerName, text(o, "id"), base64.StdEncoding.EncodeToString([]byte("thanks")))
	n.must(200, http.MethodPost, "/endpoints/laptop/listener/report", object{"listener": listenerName, "reports": []any{}})
	for range 2 { // also when the first answer was lost
		recorded, _ := n.must(200, http.MethodPost, "/endpoints/laptop/listener/report", report)["recorded"].([]any)
		if len(recorded) != 1 || recorded[0] != o["id"] {
			t.Errorf("recorded %v", recorded)
		}
		testing.Wait()
	}
	if a := tested.object(t); tested.StatusCode != 200 || a["outcome"] != "succeeded" || a["status_code"] != 201.0 || a["response_body"] != "thanks" || a["duration_ms"] != 2.5 {
		t.Errorf("the test: %d %s", tested.StatusCode, tested.text)
	}
	listener, _ := n.must(200, http.MethodGet, "/endpoints/laptop", nil)["listener"].(object)
	if listener["connected"] != true || listener["host"] != "jo-laptop" || text(listener, "connected_at") == "" {
		t.Errorf("listener %v", listener)
	}
	for range 2 { // also when it has gone
		n.must(204, http.MethodDelete, "/endpoints/laptop/listener?listener="+listenerName, nil)
	}
	shown := entries(n.must(200, http.MethodGet, "/endpoints", nil))[0]
	if listener, _ := shown["listener"].(object); listener["connected"] != false {
		t.Errorf("listener %v", listener)
	}
}

// One listens at a time, and nobody where there is an address.
func TestListenerRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	endpoint, err := gateway.ParseID[gateway.EndpointID](text(n.must(201, http.MethodPost, "/endpoints", `{"kind":"listen","uid":"laptop"}`), "id"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.store.HearListener(t.Context(), n.account, endpoint, gateway.Listener{ID: "listener-number-2", Host: "other\"host"}); err != nil {
		t.Fatal(err)
	}
	p := n.refused(409, "listener_connected", http.MethodPost, "/endpoints/laptop/listener/poll", askingOne)
	if !strings.Contains(text(p, "detail"), `other\"host`) {
		t.Errorf("%v", p)
	}
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"addressed"}`)
	n.refused(409, "endpoint_has_address", http.MethodPost, "/endpoints/addressed/listener/poll", askingOne)
	for _, c := range []struct{ path, body, at string }{
		{"poll", `{}`, "body.listener"},
		{"poll", `{"listener":"short"}`, "body.listener"},
		{"poll", `{"listener":"hunter2 with a space"}`, "body.listener"},
		{"poll", `{"listener":"` + listenerName + `","host":"` + strings.Repeat("x", 101) + `"}`, "body.host"},
		{"poll", `{"listener":"` + listenerName + `","host":"hunter2\u0000"}`, "body.host"},
		{"poll", `{"listener":"` + listenerName + `","holding":["att_hunter2"]}`, "body.holding[0]"},
		{"report", `{"listener":"` + listenerName + `","reports":[{"id":"hunter2"}]}`, "body.reports[0].id"},
		{"report", `{"listener":"` + listenerName + `","reports":[{"status_code":99}]}`, "body.reports[0].status_code"},
		{"report", `{"listener":"` + listenerName + `","reports":{}}`, "body.reports"},
	} {
		p := n.refused(422, "invalid", http.MethodPost, "/endpoints/laptop/listener/"+c.path, c.body)
		faults, _ := p["errors"].([]any)
		if len(faults) == 0 || faults[0].(object)["location"] != c.at || strings.Contains(text(p, "detail"), "hunter2") {
			t.Errorf("%s: %v, want a fault at %s", c.body, p, c.at)
		}
	}
	n.refused(422, "invalid", http.MethodDelete, "/endpoints/laptop/listener", nil)
	n.refused(422, "invalid", http.MethodDelete, "/endpoints/laptop/listener?listener=x", nil)
}

// A server that is about to stop lets no listener wait.
func TestListenerOfAStoppingServer(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", `{"kind":"listen","uid":"laptop"}`)
	var got answer
	var asking sync.WaitGroup
	asking.Go(func() { got = n.call(http.MethodPost, "/endpoints/laptop/listener/poll", askingOne) })
	for n.must(200, http.MethodGet, "/endpoints/laptop", nil)["listener"] == nil { // until it waits
	}
	b.server.Drain()
	asking.Wait()
	if got.StatusCode != 200 || string(got.text) != "{\"orders\":[]}\n" {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
}
