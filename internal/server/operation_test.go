package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// work runs an operation until it has ended.
func (n *tenant) work(o object) object {
	n.t.Helper()
	id, err := gateway.ParseID[gateway.OperationID](text(o, "id"))
	if err != nil {
		n.t.Fatal(err)
	}
	if err := n.operate.Run(n.t.Context(), n.account, id); err != nil {
		n.t.Fatal(err)
	}
	return n.must(200, http.MethodGet, "/operations/"+text(o, "id"), nil)
}

// wantOperation fails unless an operation tells these numbers.
func wantOperation(t *testing.T, o object, kind, state string, total, done, failed float64) {
	t.Helper()
	if o["kind"] != kind || o["state"] != state || o["total"] != total || o["done"] != done || o["failed"] != failed {
		t.Errorf("%v, want %s %s %v %v %v", o, kind, state, total, done, failed)
	}
}

// withClosed gives an account an endpoint with three cancelled deliveries, and an
// event that nobody had asked for.
func (n *tenant) withClosed() (endpoint string, deliveries []string) {
	n.t.Helper()
	unwanted := n.publish(`{"type":"a.b","data":1}`)
	n.process(n.t, unwanted)
	endpoint = text(n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`), "id")
	for range 3 {
		id := text(n.newDelivery("e"), "id")
		n.must(200, http.MethodPost, "/deliveries/"+id+"/cancel", nil)
		deliveries = append(deliveries, id)
	}
	return endpoint, deliveries
}

func TestRedeliverMany(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	endpoint, deliveries := n.withClosed()
	dry := n.work(n.must(202, http.MethodPost, "/deliveries/redeliver", object{"endpoint": "e", "dry_run": true}))
	wantOperation(t, dry, "redeliver", "done", 3, 0, 0)
	o := n.must(202, http.MethodPost, "/deliveries/redeliver", object{"ids": deliveries[:2], "status": "cancelled", "per_second": 500})
	wantOperation(t, o, "redeliver", "counting", 0, 0, 0)
	filter := o["filter"].(object)
	if o["per_second"] != 500.0 || o["dry_run"] != false || filter["status"] != "cancelled" || len(filter["ids"].([]any)) != 2 || o["created_at"] == nil || o["finished_at"] != nil {
		t.Errorf("%v", o)
	}
	o = n.work(o)
	wantOperation(t, o, "redeliver", "done", 2, 2, 0)
	if o["started_at"] == nil || o["finished_at"] == nil {
		t.Errorf("%v", o)
	}
	n.refused(409, "state_changed", http.MethodPost, "/operations/"+text(o, "id")+"/cancel", nil)
	opened := ids(entries(n.must(200, http.MethodGet, "/deliveries?operation="+text(o, "id"), nil)))
	slices.Reverse(opened)
	if !slices.Equal(opened, deliveries[:2]) {
		t.Errorf("opened %v, want %v", opened, deliveries[:2])
	}
	if got := ids(entries(n.must(200, http.MethodGet, "/deliveries?status=cancelled&endpoint="+endpoint, nil))); !slices.Equal(got, deliveries[2:]) {
		t.Errorf("left %v", got)
	}
	list := ids(entries(n.must(200, http.MethodGet, "/operations?limit=1", nil)))
	if !slices.Equal(list, []string{text(o, "id")}) {
		t.Errorf("list %v", list)
	}
}

func TestRecoverEndpoint(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	endpoint, _ := n.withClosed()
	const since = "2026-01-01T00:00:00Z"
	o := n.work(n.must(202, http.MethodPost, "/endpoints/e/recover", object{"since": since}))
	wantOperation(t, o, "recover_failed", "done", 0, 0, 0)
	o = n.must(202, http.MethodPost, "/endpoints/"+endpoint+"/recover", object{"since": since, "only": "missing"})
	if filter := o["filter"].(object); filter["endpoint"] != endpoint || filter["since"] != "2026-01-01T00:00:00.000000Z" || filter["until"] != nil {
		t.Errorf("%v", o)
	}
	wantOperation(t, n.work(o), "recover_missing", "done", 1, 1, 0)
	n.refused(404, "not_found", http.MethodPost, "/endpoints/nobody/recover", object{"since": since})
}

func TestStopOperation(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	_, deliveries := n.withClosed()
	o := n.must(202, http.MethodPost, "/deliveries/redeliver", object{"ids": deliveries})
	stopped := n.must(200, http.MethodPost, "/operations/"+text(o, "id")+"/cancel", nil)
	wantOperation(t, stopped, "redeliver", "cancelled", 0, 0, 0)
	wantOperation(t, n.work(o), "redeliver", "cancelled", 0, 0, 0)
}

func TestProcessMany(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.withClosed()
	o := n.must(202, http.MethodPost, "/events/process", object{"status": "no_endpoints", "type": "a.b"})
	if filter := o["filter"].(object); filter["status"] != "no_endpoints" || filter["type"] != "a.b" {
		t.Errorf("%v", o)
	}
	wantOperation(t, n.work(o), "reprocess", "done", 1, 1, 0)
}

func TestStartsAreChecked(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`)
	for _, c := range []struct{ path, body, at string }{
		{"/endpoints/e/recover", `{}`, "body.since"},
		{"/endpoints/e/recover", `{"since":"yesterday"}`, "body.since"},
		{"/endpoints/e/recover", `{"since":"2026-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"}`, "body.until"},
		{"/endpoints/e/recover", `{"since":"2026-01-02T00:00:00Z","only":"x"}`, "body.only"},
		{"/endpoints/e/recover", `{"since":"2026-01-02T00:00:00Z","per_second":0}`, "body.per_second"},
		{"/deliveries/redeliver", `{}`, "body.status"},
		{"/deliveries/redeliver", `{"status":"pending"}`, "body.status"},
		{"/deliveries/redeliver", `{"endpoint":"nobody"}`, "body.endpoint"},
		{"/deliveries/redeliver", `{"endpoint":"ep_06h1m3v9c8x7k2q5n4t6w8y0zz"}`, "body.endpoint"},
		{"/deliveries/redeliver", `{"event":"e"}`, "body.event"},
		{"/deliveries/redeliver", `{"ids":["dlv_x"]}`, "body.ids"},
		{"/deliveries/redeliver", `{"error_kind":"\u0000"}`, "body.error_kind"},
		{"/deliveries/redeliver", `{"status_code":1}`, "body.status_code"},
		{"/events/process", `{}`, "body.status"},
		{"/events/process", `{"status":"processed"}`, "body.status"},
		{"/events/process", `{"status":"no_endpoints","source":"nobody"}`, "body.source"},
		{"/events/process", `{"status":"no_endpoints","type":"a b"}`, "body.type"},
	} {
		p := n.refused(422, "invalid", http.MethodPost, c.path, c.body)
		if at := fmt.Sprint(p["errors"].([]any)[0].(object)["location"]); at != c.at {
			t.Errorf("%s %s: %v, want %s", c.path, c.body, p, c.at)
		}
	}
	if got := entries(n.must(200, http.MethodGet, "/operations", nil)); len(got) != 0 {
		t.Errorf("something was started: %v", got)
	}
}
