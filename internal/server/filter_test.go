package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestTryFilterOnTheAPI(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	small := n.publish(`{"type":"order.created","data":{"amount":9}}`)
	large := n.publish(`{"type":"order.paid","data":{"amount":250}}`)
	odd := n.publish(`{"type":"user.created","data":"x"}`)
	try := func(body object) []object {
		t.Helper()
		return entries(n.must(200, http.MethodPost, "/filters/try", body))
	}
	check := func(body object, want ...object) {
		t.Helper()
		got := try(body)
		if len(got) != len(want) {
			t.Fatalf("%v: %v", body, got)
		}
		for i, w := range want {
			if got[i]["event_id"] != w["event_id"] || got[i]["matches"] != w["matches"] || got[i]["error"] != w["error"] || text(got[i], "created_at") == "" || text(got[i], "type") == "" {
				t.Errorf("%v: %v, want %v", body, got[i], w)
			}
		}
	}
	no, yes, cannot := object{"event_id": small, "matches": false}, object{"event_id": large, "matches": true}, object{"event_id": odd, "matches": false, "error": "no such key: amount"}
	check(object{"filter": "body.amount > 100"}, cannot, yes, no)
	check(object{"filter": "body.amount > 100", "event": nil, "event_types": nil, "limit": nil}, cannot, yes, no)
	check(object{"filter": "body.amount > 100", "event_types": []string{"order.*"}}, yes, no)
	check(object{"filter": "body.amount > 100", "limit": 1}, cannot)
	check(object{"filter": "body.amount > 100", "event": small}, no)
	check(object{"filter": "true", "event_types": []string{"none"}})

	for body, field := range map[string]string{
		`{}`:                            "body.filter",
		`{"filter":null}`:               "body.filter",
		`{"filter":""}`:                 "body.filter",
		`{"filter":"bdy.a > 1"}`:        "body.filter",
		`{"filter":"true","limit":0}`:   "body.limit",
		`{"filter":"true","limit":21}`:  "body.limit",
		`{"filter":"true","event":"x"}`: "body.event",
		`{"filter":"true","event":"` + gateway.EventID(b.clock.NewID()).String() + `"}`: "body.event",
		`{"filter":"true","event_types":["a","-"]}`:                                     "body.event_types[1]",
		`{"filter":"true","events":1}`:                                                  "body.events",
	} {
		got := n.refused(422, "invalid", http.MethodPost, "/filters/try", body)
		if where := text(got["errors"].([]any)[0].(object), "location"); where != field {
			t.Errorf("%s: %q", body, where)
		}
	}
	n.keyWith(gateway.ScopeRead).must(200, http.MethodPost, "/filters/try", object{"filter": "true"})
}

func TestEndpointsHaveFilters(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	ep := n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "filter": " body.amount > 100 "})
	if ep["filter"] != "body.amount > 100" {
		t.Errorf("%v", ep)
	}
	got := n.refused(422, "invalid", http.MethodPatch, "/endpoints/"+text(ep, "id"), object{"filter": "body.amount >"})
	if said := text(got["errors"].([]any)[0].(object), "message"); !strings.Contains(said, "line 1, column 14: something is missing at the end") {
		t.Errorf("%q", said)
	}
	kept := n.must(200, http.MethodPatch, "/endpoints/"+text(ep, "id"), object{"description": "x"})
	if kept["filter"] != "body.amount > 100" {
		t.Errorf("%v", kept)
	}
	if gone := n.must(200, http.MethodPatch, "/endpoints/"+text(ep, "id"), object{"filter": nil}); gone["filter"] != nil {
		t.Errorf("%v", gone)
	}
}
