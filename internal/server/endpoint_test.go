package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

const somewhere = "http://127.0.0.1:1/hooks"

func TestEndpointLife(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	made := n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"billing","description":"Billing",
		"event_types":["order.*"],"headers":{"X-Env":"test"},"retry_schedule":["1s","1m30s"],"timeout":"10s","max_in_flight":8,"stop_on":[400,404]}`)
	secret := text(made, "secret")
	if !strings.HasPrefix(secret, "whsec_") || !strings.HasPrefix(text(made, "id"), "ep_") {
		t.Fatalf("%v", made)
	}
	want := object{
		"id": made["id"], "uid": "billing", "kind": "http", "url": somewhere, "description": "Billing", "event_types": []any{"order.*"},
		"headers": object{"X-Env": "test"}, "retry_schedule": []any{"1s", "1m30s"}, "timeout": "10s",
		"max_in_flight": 8.0, "stop_on": []any{400.0, 404.0}, "signature": "v1", "state": "active", "consecutive_failures": 0.0,
		"state_changed_at": made["state_changed_at"], "created_at": made["created_at"], "updated_at": made["updated_at"],
	}
	got := n.must(200, http.MethodGet, "/endpoints/"+text(made, "id"), nil)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read again: %s", diff)
	}
	if paused := n.must(200, http.MethodPost, "/endpoints/billing/pause", nil); paused["state"] != "paused" {
		t.Errorf("%v", paused)
	}
	if resumed := n.must(200, http.MethodPost, "/endpoints/billing/resume", `{}`); resumed["state"] != "active" {
		t.Errorf("%v", resumed)
	}
	n.must(204, http.MethodDelete, "/endpoints/billing", nil)
	n.refused(404, "not_found", http.MethodGet, "/endpoints/billing", nil)
	n.refused(404, "not_found", http.MethodDelete, "/endpoints/"+text(made, "id"), nil)
}

func TestEndpointChanges(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	path := "/endpoints/" + text(n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"x","description":"d",
		"event_types":["a"],"headers":{"X-A":"1"},"retry_schedule":["1s"],"timeout":"5s","max_in_flight":1,"stop_on":[400]}`), "id")
	for _, c := range []struct {
		body, field string
		want        any
	}{
		{`{}`, "description", "d"},
		{`{"description":"e"}`, "description", "e"},
		{`{"description":null}`, "description", ""},
		{`{"event_types":["b.*","c"]}`, "event_types", []any{"b.*", "c"}},
		{`{"event_types":null}`, "event_types", []any{}},
		{`{"headers":{"X-B":"2"}}`, "headers", object{"X-B": "2"}},
		{`{"headers":null}`, "headers", object{}},
		{`{"retry_schedule":[]}`, "retry_schedule", []any{}},
		{`{"retry_schedule":null}`, "retry_schedule", nil},
		{`{"timeout":"2s"}`, "timeout", "2s"},
		{`{"timeout":"60s"}`, "timeout", "1m"},
		{`{"retry_schedule":["24h0m0s","90s"]}`, "retry_schedule", []any{"24h", "1m30s"}},
		{`{"timeout":null}`, "timeout", nil},
		{`{"max_in_flight":2}`, "max_in_flight", 2.0},
		{`{"max_in_flight":null}`, "max_in_flight", 64.0},
		{`{"stop_on":[]}`, "stop_on", []any{}},
		{`{"uid":"y"}`, "uid", "y"},
		{`{"uid":null}`, "uid", nil},
		{`{"url":"http://127.0.0.1:2/"}`, "url", "http://127.0.0.1:2/"},
	} {
		got := n.must(200, http.MethodPatch, path, c.body)
		if diff := cmp.Diff(c.want, got[c.field]); diff != "" {
			t.Errorf("%s: %s", c.body, diff)
		}
	}
}

func TestEndpointRefuses(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"taken"}`)
	for _, c := range []struct {
		body   string
		status int
		code   string
		at     string
	}{
		{``, 400, "invalid_json", ""},
		{`{"url":`, 400, "invalid_json", ""},
		{`{}`, 422, "invalid", "body.url"},
		{`{"url":null}`, 422, "url_scheme", "body.url"},
		{`{"url":7}`, 422, "invalid", "body.url"},
		{`{"url":"ftp://hunter2/"}`, 422, "url_scheme", "body.url"},
		{`{"url":"http://10.1.2.3/hunter2"}`, 422, "url_address_forbidden", "body.url"},
		{`{"URL":"hunter2"}`, 422, "invalid", "body.URL"},
		{`{"url":"` + somewhere + `","url":"hunter2"}`, 422, "invalid", "body.url"},
		{`{"url":"` + somewhere + `","consumer":"hunter2"}`, 422, "invalid", "body.consumer"},
		{`{"url":"` + somewhere + `","filtre":"hunter2"}`, 422, "invalid", "body.filtre"},
		{`{"url":"` + somewhere + `","description":"hunter2\u0000"}`, 422, "invalid", "body.description"},
		{"{\"url\":\"" + somewhere + "\",\"description\":\"hunter2\xff\"}", 422, "invalid", "body.description"},
		{`{"url":"` + somewhere + `","timeout":"hunter2"}`, 422, "invalid", "body.timeout"},
		{`{"url":"` + somewhere + `","timeout":10}`, 422, "invalid", "body.timeout"},
		{`{"url":"` + somewhere + `","timeout":"0s"}`, 422, "invalid", "body.timeout"},
		{`{"url":"` + somewhere + `","timeout":"-1s"}`, 422, "invalid", "body.timeout"},
		{`{"url":"` + somewhere + `","retry_schedule":["1s","hunter2"]}`, 422, "invalid", "body.retry_schedule[1]"},
		{`{"url":"` + somewhere + `","retry_schedule":["1s","169h"]}`, 422, "invalid", "body.retry_schedule[1]"},
		{`{"url":"` + somewhere + `","retry_schedule":[1]}`, 422, "invalid", "body.retry_schedule[0]"},
		{`{"url":"` + somewhere + `","event_types":[1]}`, 422, "invalid", "body.event_types[0]"},
		{`{"url":"` + somewhere + `","event_types":["a.b","hunter2 "]}`, 422, "invalid", "body.event_types[1]"},
		{`{"url":"` + somewhere + `","headers":{"a":1}}`, 422, "invalid", "body.headers.a"},
		{`{"url":"` + somewhere + `","headers":{"X-A":"hunter2\n"}}`, 422, "invalid", "body.headers.X-A"},
		{`{"url":"` + somewhere + `","headers":{"content-type":"hunter2"}}`, 422, "invalid", "body.headers.content-type"},
		{`{"url":"` + somewhere + `","stop_on":[400,600]}`, 422, "invalid", "body.stop_on[1]"},
		{`{"url":"` + somewhere + `","max_in_flight":1e400}`, 422, "invalid", "body.max_in_flight"},
		{`{"url":"` + somewhere + `","max_in_flight":0}`, 422, "invalid", "body.max_in_flight"},
		{`{"url":"` + somewhere + `","headers":{"host":"hunter2"}}`, 422, "invalid", ""},
		{`{"url":"` + somewhere + `","headers":{"X-A":"1","X-A":"hunter2"}}`, 422, "invalid", "body.headers.X-A"},
		{`{"url":"` + somewhere + `","uid":"taken"}`, 409, "uid_taken", ""},
		{`{"url":"` + somewhere + `","uid":"not a hunter2"}`, 422, "invalid", "body.uid"},
		{`{"url":"` + somewhere + `","secret":"hunter2"}`, 422, "invalid", "body.secret"},
		{strings.Repeat(" ", 300<<10) + `{}`, 413, "payload_too_large", ""},
	} {
		p := n.refused(c.status, c.code, http.MethodPost, "/endpoints", c.body)
		faults, _ := p["errors"].([]any)
		if c.at != "" && (len(faults) == 0 || faults[0].(object)["location"] != c.at) {
			t.Errorf("%.90s: %v, want a fault at %s", c.body, p, c.at)
		}
		if strings.Contains(text(p, "detail"), "hunter2") {
			t.Errorf("%.90s: repeats what was sent: %v", c.body, p)
		}
	}
	p := n.refused(422, "invalid", http.MethodPatch, "/endpoints/taken", `{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`)
	if text(p, "detail") != "body.secret: is changed by rotating it" {
		t.Errorf("a new secret: %v", p)
	}
	p = n.refused(422, "invalid", http.MethodPatch, "/endpoints/taken", `{"max_in_flight":1e400}`)
	if !strings.Contains(text(p, "detail"), "1 to 1000") {
		t.Errorf("max_in_flight: %v", p)
	}
	n.refused(422, "url_scheme", http.MethodPatch, "/endpoints/taken", `{"url":null}`)
	n.refused(422, "invalid", http.MethodPost, "/endpoints/taken/pause", `{"x":1}`)
	n.refused(400, "invalid_json", http.MethodPost, "/endpoints/taken/pause", `x`)
}

func TestEndpointSecrets(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	first := n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`)
	second := n.must(200, http.MethodPost, "/endpoints/e/secrets/rotate", `{"overlap":"1h"}`)
	live := entries(n.must(200, http.MethodGet, "/endpoints/e/secrets", nil))
	var texts []string
	for _, s := range live {
		texts = append(texts, text(s, "secret"))
	}
	if len(live) != 2 || !slices.Contains(texts, text(first, "secret")) || !slices.Contains(texts, text(second, "secret")) {
		t.Fatalf("%v", live)
	}
	old := slices.IndexFunc(live, func(s object) bool { return s["secret"] == first["secret"] })
	if live[old]["ends_at"] == nil || live[1-old]["ends_at"] != nil {
		t.Errorf("ends: %v", live)
	}
	extend := "/endpoints/e/secrets/" + text(live[old], "id") + "/extend"
	if got := n.must(200, http.MethodPost, extend, `{"overlap":"24h"}`); got["id"] != live[old]["id"] || text(got, "ends_at") <= text(live[old], "ends_at") || got["secret"] != nil {
		t.Errorf("extended: %v, was %v", got, live[old])
	}
	n.refused(409, "secret_has_no_end", http.MethodPost, "/endpoints/e/secrets/"+text(live[1-old], "id")+"/extend", `{"overlap":"24h"}`)
	for _, body := range []string{`{}`, `{"overlap":"0s"}`, `{"overlap":"721h"}`, `{"overlap":"soon"}`, `{"overlap":null}`} {
		n.refused(422, "invalid", http.MethodPost, extend, body)
	}
	n.must(200, http.MethodPost, "/endpoints/e/secrets/"+text(live[old], "id")+"/end", nil)
	n.refused(409, "secret_ended", http.MethodPost, extend, `{"overlap":"24h"}`)
	n.refused(409, "last_secret", http.MethodPost, "/endpoints/e/secrets/"+text(live[1-old], "id")+"/end", nil)
	log, err := n.store.AuditOf(t.Context(), n.account, []string{text(first, "id")}, 100)
	if err != nil || !slices.ContainsFunc(log, func(e gateway.AuditEntry) bool { return e.Action == "endpoint.secret.reveal" }) {
		t.Errorf("the audit log does not tell who was shown the secrets: %v, %v", log, err)
	}
	n.refused(404, "not_found", http.MethodPost, "/endpoints/e/secrets/sec_x/end", nil)
	n.refused(422, "invalid", http.MethodPost, "/endpoints/e/secrets/rotate", `{"overlap":"soon"}`)
	n.refused(422, "invalid", http.MethodPost, "/endpoints/e/secrets/rotate", `{"overlap":"9999h"}`)
}

func TestEndpointTestSend(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	got := make(chan *http.Request, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "no \xff tea")
	}))
	t.Cleanup(receiver.Close)
	n.must(201, http.MethodPost, "/endpoints", object{"url": receiver.URL, "uid": "e"})
	attempt := n.must(200, http.MethodPost, "/endpoints/e/test", `{"type":"order.created"}`)
	if received := <-got; received.Header.Get("Rowlock-Event-Type") != "order.created" {
		t.Errorf("%v", received.Header)
	}
	for field, want := range map[string]any{
		"outcome": "rejected", "status_code": 418.0, "trigger": "test", "number": 1.0, "response_body": "no \ufffd tea", "error_kind": nil,
	} {
		if attempt[field] != want {
			t.Errorf("%s is %v, want %v", field, attempt[field], want)
		}
	}
	if headers := attempt["response_headers"].(object); !cmp.Equal(headers["X-Answer"], []any{"yes"}) {
		t.Errorf("%v", headers)
	}
	read := n.must(200, http.MethodGet, "/attempts/"+text(attempt, "id"), nil)
	if read["id"] != attempt["id"] || read["response_body"] != attempt["response_body"] {
		t.Errorf("read again: %v", read)
	}
	n.refused(422, "type_reserved", http.MethodPost, "/endpoints/e/test", `{"type":"rowlock.x"}`)
	n.refused(422, "invalid", http.MethodPost, "/endpoints/e/test", `{"type":""}`)
}

func TestEndpointStats(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"e"}`)
	got := n.must(200, http.MethodGet, "/endpoints/e/stats?window=1h", nil)
	if got["succeeded"] != 0.0 || got["average_duration_ms"] != 0.0 || text(got, "since") >= text(got, "until") {
		t.Errorf("%v", got)
	}
	n.must(200, http.MethodGet, "/endpoints/e/stats", nil)
	for _, window := range []string{"1s", "9999h", "soon", "-1h", "1d"} {
		n.refused(422, "invalid", http.MethodGet, "/endpoints/e/stats?window="+window, nil)
	}
}

func TestPathsThatAreNoIDs(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	for _, path := range []string{
		"/endpoints/x", "/endpoints/ep_x", "/endpoints/%00", "/endpoints/%ff", "/endpoints/..%2fsources",
		"/endpoints/evt_01jabcdefghjkmnpqrstvwxyz0", "/endpoints/ep_01jabcdefghjkmnpqrstvwxyz0", "/endpoints/EP_01JABCDEFGHJKMNPQRSTVWXYZ0",
		"/events/x", "/events/ep_01jabcdefghjkmnpqrstvwxyz0", "/deliveries/x", "/attempts/att_01jabcdefghjkmnpqrstv0000", "/sources/%e2%82%ac",
	} {
		n.refused(404, "not_found", http.MethodGet, path, nil)
	}
}
