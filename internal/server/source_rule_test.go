package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

// carrierRule is the rule of a source that reports what became of messages.
var carrierRule = object{
	"key": "body.event_id", "subject": "body.message_id", "state": "body.status", "emit": `"message." + body.status`,
	"terminal": []string{"delivered", "failed"},
}

// newCarrier makes a source with carrierRule and the uid "carrier".
func (n *tenant) newCarrier() provider {
	n.t.Helper()
	p := n.newProvider("none", "")
	n.must(200, http.MethodPatch, "/sources/"+p.id, object{"uid": "carrier"})
	n.must(200, http.MethodPut, "/sources/carrier/rule", carrierRule)
	return p
}

// reports has the carrier report something, which is decided.
func (p provider) reports(event, message, status string) {
	p.t.Helper()
	answer := p.do(p.raw(http.MethodPost, "", fmt.Sprintf(`{"event_id":%q,"message_id":%q,"status":%q}`, event, message, status), http.Header{}))
	if answer.status != http.StatusOK {
		p.t.Fatalf("%d %s", answer.status, answer.body)
	}
	if id := answer.header.Get("Rowlock-Event-Id"); answer.header.Get("Rowlock-Duplicate") == "0" {
		p.process(p.t, id)
	}
}

func TestSourceRuleOnTheAPI(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/sources", object{"name": "Carrier", "kind": "none", "uid": "carrier"})
	const path = "/sources/carrier/rule"
	n.refused(404, "not_found", http.MethodGet, path, nil)
	n.refused(404, "not_found", http.MethodDelete, path, nil)
	set := n.must(200, http.MethodPut, path, carrierRule)
	want := object{
		"version": 1.0, "key": "body.event_id", "subject": "body.message_id", "state": "body.status", "emit": `"message." + body.status`,
		"terminal": []any{"delivered", "failed"}, "rank": []any{}, "repeats": false, "requires_existing": false,
	}
	for name, got := range map[string]any{"set": set, "read": n.must(200, http.MethodGet, path, nil), "the source's": n.must(200, http.MethodGet, "/sources/carrier", nil)["rule"]} {
		got := got.(object)
		delete(got, "$schema")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	n.keyWith(gateway.ScopeRead).must(200, http.MethodGet, path, nil)
	n.must(200, http.MethodPut, path, object{"key": nil, "terminal": nil, "repeats": nil})
	if got := n.call(http.MethodDelete, path, nil); got.StatusCode != http.StatusNoContent {
		t.Errorf("%d %s", got.StatusCode, got.text)
	}
	if s := n.must(200, http.MethodGet, "/sources/carrier", nil); s["rule"] != nil {
		t.Errorf("%v", s)
	}
	for body, fields := range map[string][]string{
		`{"key":"bdy","type":"1"}`:                              {"body.key", "body.type"},
		`{"subject":"'a'","state":"'b'","rank":["a","a"]}`:      {"body.rank"},
		`{"state":"'b'"}`:                                       {"body.subject"},
		`{"subject":"'a'","terminal":["x"]}`:                    {"body.terminal"},
		`{"Key":"'a'"}`:                                         {"body.Key"},
		`{"key":1}`:                                             {"body.key"},
		`{"subject":"'a'","state":"'b'","terminal":["\u0000"]}`: {"body.terminal"},
	} {
		got := n.refused(422, "invalid", http.MethodPut, path, body)
		var where []string
		for _, e := range got["errors"].([]any) {
			where = append(where, strings.TrimSuffix(text(e.(object), "location"), "[0]"))
		}
		if diff := cmp.Diff(fields, where); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	api := ""
	for _, s := range entries(n.must(200, http.MethodGet, "/sources", nil)) {
		if s["kind"] == "api" {
			api = text(s, "id")
		}
	}
	if got := n.call(http.MethodPut, "/sources/"+api+"/rule", carrierRule); got.StatusCode != http.StatusConflict {
		t.Errorf("the built-in source: %d %s", got.StatusCode, got.text)
	}
}

// The first terminal word wins: it is told, and what came after it is kept with
// why it was not.
func TestFactsOnTheAPI(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "event_types": []string{"message.*"}})
	p := n.newCarrier()
	for i, r := range [][2]string{{"m1", "sent"}, {"m1", "delivered"}, {"m1", "delivered"}, {"m1", "failed"}, {"m2", "failed"}} {
		p.reports(fmt.Sprint(i), r[0], r[1])
	}
	events := entries(n.must(200, http.MethodGet, "/events?source=carrier&subject=m1", nil))
	var became []string
	for _, e := range events {
		became = append(became, text(e, "type")+" "+text(e, "received_type")+" "+text(e, "state")+" "+text(e, "status"))
	}
	want := []string{
		"message.failed webhook.received failed stale_fact", "message.delivered webhook.received delivered duplicate_fact",
		"message.delivered webhook.received delivered processed", "message.sent webhook.received sent processed",
	}
	if diff := cmp.Diff(want, became); diff != "" {
		t.Error(diff)
	}
	if told := entries(n.must(200, http.MethodGet, "/events?type=message.delivered", nil)); len(told) != 2 {
		t.Errorf("by its type: %v", told)
	}
	facts := entries(n.must(200, http.MethodGet, "/facts?subject=m1&source=carrier&state=delivered", nil))
	if len(facts) != 1 || facts[0]["terminal"] != true || facts[0]["event_id"] != events[2]["id"] || len(facts[0]["seen"].([]any)) != 2 || facts[0]["id"] != events[2]["fact_id"] {
		t.Fatalf("%v", facts)
	}
	fact := n.must(200, http.MethodGet, "/facts/"+text(facts[0], "id"), nil)
	reports := fact["reports"].([]any)
	if len(reports) != 4 || reports[0].(object)["status"] != "stale_fact" || reports[0].(object)["decision"] == "" {
		t.Errorf("%v", reports)
	}
	if all := entries(n.must(200, http.MethodGet, "/facts?state=failed", nil)); len(all) != 1 || all[0]["subject"] != "m2" {
		t.Errorf("%v", all)
	}
	first := n.must(200, http.MethodGet, "/facts?limit=1", nil)
	second := n.must(200, http.MethodGet, "/facts?limit=1&cursor="+text(first, "next_cursor"), nil)
	if entries(first)[0]["subject"] != "m2" || entries(second)[0]["subject"] != "m1" || second["next_cursor"] != nil {
		t.Errorf("%v, %v", first, second)
	}
	n.refused(422, "invalid", http.MethodGet, "/facts?source=nobody", nil)
	n.refused(404, "not_found", http.MethodGet, "/facts/fct_x", nil)
}

func TestTryRuleOnTheAPI(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	p := n.newCarrier()
	p.reports("A", "m1", "delivered")
	const path = "/sources/carrier/rule/try"
	try := func(body any) object {
		t.Helper()
		return entries(n.must(200, http.MethodPost, path, body))[0]
	}
	whole := object{"event_id": "B", "message_id": "m2", "status": "sent"}
	for name, body := range map[string]any{
		"a JSON value": object{"body": whole, "headers": object{"X-A": "b"}},
		"a text":       object{"body": `{"event_id":"B","message_id":"m2","status":"sent"}`},
	} {
		got := try(body)
		if got["key"] != "B" || got["emit"] != "message.sent" || got["subject"] != "m2" || got["status"] != "processed" || got["received_type"] != "webhook.received" || got["fact"] != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	late := try(object{"body": object{"event_id": "A", "message_id": "m1", "status": "failed"}})
	if late["status"] != "stale_fact" || late["key_event_id"] == nil || late["fact"].(object)["state"] != "delivered" || !strings.Contains(text(late, "decision"), "failed comes too late") {
		t.Errorf("%v", late)
	}
	exact := try(`{"rule":{"key":"body.id"},"body":{"id":9007199254740993}}`)
	if exact["key"] != "9007199254740993" {
		t.Errorf("%v", exact)
	}
	silent := try(object{"rule": object{"emit": "null"}, "body": "{}"})
	if silent["emit"] != nil || silent["status"] != "ignored" {
		t.Errorf("%v", silent)
	}
	event := text(entries(n.must(200, http.MethodGet, "/events?source=carrier", nil))[0], "id")
	if got := try(object{"event": event}); got["status"] != "processed" || got["decision"] != "this event itself told it" {
		t.Errorf("%v", got)
	}
	if got := try(nil); got["status"] != "rule_error" {
		t.Errorf("nothing: %v", got)
	}
	if all := entries(n.must(200, http.MethodGet, "/events?source=carrier", nil)); len(all) != 1 {
		t.Errorf("a trial stored %v", all)
	}
	for body, where := range map[string]string{
		`{"rule":{"key":"bdy"}}`: "body.rule.key",
		`{"event":"x"}`:          "body.event",
		`{"body":"` + strings.Repeat("x", maxBody+1) + `"}`:             "body.body",
		`{"event":"` + gateway.EventID(n.clock.NewID()).String() + `"}`: "body.event",
	} {
		got := n.refused(422, "invalid", http.MethodPost, path, body)
		if at := text(got["errors"].([]any)[0].(object), "location"); at != where {
			t.Errorf("%.40s: %q", body, at)
		}
	}
}
