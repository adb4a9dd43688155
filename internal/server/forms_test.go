package server_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// document is the OpenAPI document of a running server.
func (b *bundle) document(t *testing.T) object {
	t.Helper()
	return b.send(t, http.MethodGet, b.url+"/api/openapi.json", nil).object(t)
}

// field finds a field of a form in the document.
func field(t *testing.T, document object, form, name string) object {
	t.Helper()
	schemas := document["components"].(object)["schemas"].(object)
	schema, ok := schemas[form].(object)
	if !ok {
		t.Fatalf("no schema %s", form)
	}
	found, ok := schema["properties"].(object)[name].(object)
	if !ok {
		t.Fatalf("%s has no %s", form, name)
	}
	return found
}

// nullable tells whether a field may be null.
func nullable(field object) bool {
	kinds, _ := field["type"].([]any)
	return slices.Contains(kinds, any("null"))
}

func TestOpenAPITellsWhatMayBeNull(t *testing.T) {
	t.Parallel()
	document := newBundle(t).document(t)
	for form, fields := range map[string]map[string]bool{
		"NewEndpointBody": {
			"url": false, "uid": true, "description": true, "event_types": true, "headers": true, "retry_schedule": true,
			"timeout": true, "max_in_flight": true, "stop_on": true, "secret": true, "signature": true, "auth": true,
		},
		"ChangeEndpointBody": {"url": false, "headers": true},
		"NewSourceBody":      {"name": false, "kind": false, "uid": true, "settings": true, "secret": true},
		"ChangeSourceBody":   {"name": false, "uid": true, "settings": true},
		"RotateSourceBody":   {"secret": false, "overlap": true},
		"RotateEndpointBody": {"secret": true, "overlap": true},
		"RedeliverBody":      {"if_attempts": true},
		"RedeliverEventBody": {"endpoint": true},
		"TestSendBody":       {"type": true},
		"TryFilterBody":      {"filter": false, "event": true, "event_types": true, "limit": true},
		"PublishBody":        {"type": false, "subject": true, "key": true, "occurred_at": true},
	} {
		for name, want := range fields {
			if got := field(t, document, form, name); nullable(got) != want {
				t.Errorf("%s.%s: %v, want null allowed: %v", form, name, got, want)
			}
		}
	}
}

// What the document says of null is what is done.
func TestNullIsTakenWhereTheDocumentSaysSo(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n, document := b.newTenant(t), b.document(t)
	for form, call := range map[string]struct {
		path string
		rest object
	}{
		"NewEndpointBody": {"/endpoints", object{"url": somewhere}},
		"NewSourceBody":   {"/sources", object{"name": "x", "kind": "none"}},
		"PublishBody":     {"/events", object{"type": "a.b", "data": 1}},
	} {
		schema := document["components"].(object)["schemas"].(object)[form].(object)
		for name, described := range schema["properties"].(object) {
			body := maps.Clone(call.rest)
			body[name] = nil
			takes := nullable(described.(object)) || name == "data" // any JSON
			if got := n.call(http.MethodPost, call.path, body); (got.StatusCode/100 == 2) != takes {
				t.Errorf("%s.%s null: %d %s, the document says %v", form, name, got.StatusCode, got.text, described)
			}
		}
	}
}

func TestOpenAPIBounds(t *testing.T) {
	t.Parallel()
	document := newBundle(t).document(t)
	attempts := field(t, document, "RedeliverBody", "if_attempts")
	if attempts["minimum"] != 0.0 || attempts["maximum"] != float64(gateway.MaxAttempts) {
		t.Errorf("if_attempts: %v", attempts)
	}
	flight := field(t, document, "NewEndpointBody", "max_in_flight")
	if flight["minimum"] != 1.0 || flight["maximum"] != float64(gateway.MaxMaxInFlight) {
		t.Errorf("max_in_flight: %v", flight)
	}
	codes := field(t, document, "NewEndpointBody", "stop_on")["items"].(object)
	if codes["minimum"] != 300.0 || codes["maximum"] != 599.0 {
		t.Errorf("stop_on: %v", codes)
	}
	if waits := field(t, document, "NewEndpointBody", "retry_schedule"); waits["maxItems"] != float64(gateway.MaxScheduleLength) {
		t.Errorf("retry_schedule: %v", waits)
	}
	if at := field(t, document, "PublishBody", "occurred_at"); at["format"] != "date-time" {
		t.Errorf("occurred_at: %v", at)
	}
	if settings, _ := json.Marshal(field(t, document, "NewSourceBody", "settings")["type"]); string(settings) != `["object","null"]` {
		t.Errorf("settings: %s", settings)
	}
	kinds := field(t, document, "NewSourceBody", "kind")["enum"].([]any)
	if len(kinds) != len(signature.Kinds()) || slices.Contains(kinds, any(gateway.SourceKindAPI)) {
		t.Errorf("kinds: %v", kinds)
	}
	if shown := field(t, document, "Source", "kind")["enum"].([]any); len(shown) != len(kinds)+1 || !slices.Contains(shown, any(gateway.SourceKindAPI)) {
		t.Errorf("kinds that are shown: %v", shown)
	}
}

func TestOpenAPIHidesWhatIsOnlyKnownToBeRefused(t *testing.T) {
	t.Parallel()
	schemas := newBundle(t).document(t)["components"].(object)["schemas"].(object)
	for form, name := range map[string]string{"ChangeEndpointBody": "secret", "ChangeSourceBody": "kind"} {
		if schemas[form].(object)["properties"].(object)[name] != nil {
			t.Errorf("%s has %s", form, name)
		}
	}
}

func TestOpenAPIPayloadIsBytes(t *testing.T) {
	t.Parallel()
	document := newBundle(t).document(t)
	answer := document["paths"].(object)["/events/{id}/payload"].(object)["get"].(object)["responses"].(object)["200"].(object)
	content := answer["content"].(object)
	if len(content) != 2 || content["application/json"] == nil || strings.Contains(string(mustEncode(t, content)), "base64") {
		t.Errorf("%v", content)
	}
	want := object{"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}
	got := content["application/octet-stream"].(object)["schema"].(object)
	delete(got, "description")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOpenAPITellsOfWhatDeliveriesAreFiltered(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, o := range b.operations(t) {
		parameters, _ := o.document["parameters"].([]any)
		for _, p := range parameters {
			name, says := text(p.(object), "name"), text(p.(object), "description")
			if name != "since" && name != "until" {
				continue
			}
			if ofEvents := strings.HasPrefix(says, "Of events"); ofEvents != (o.path == "/deliveries") {
				t.Errorf("%s %s: %s", o.path, name, says)
			}
			if format := p.(object)["schema"].(object)["format"]; format != "date-time" {
				t.Errorf("%s %s: format %v", o.path, name, format)
			}
		}
	}
}

func mustEncode(t *testing.T, value any) []byte {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}
