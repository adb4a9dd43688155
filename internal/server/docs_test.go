package server_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
)

func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	got := b.send(t, http.MethodGet, b.url+"/api/openapi.json", nil)
	document := got.object(t)
	if document["openapi"] != "3.1.0" || got.Header.Get("Content-Type") != "application/openapi+json" {
		t.Errorf("%v %v", document["openapi"], got.Header)
	}
	server := document["servers"].([]any)[0].(object)
	if server["url"] != b.url+"/api/v1" {
		t.Errorf("%v", server)
	}
	checkReferences(t, document, string(got.text))
	for _, o := range b.operations(t) {
		checkOperation(t, o)
	}
	yaml := b.send(t, http.MethodGet, b.url+"/api/openapi.yaml", nil)
	if yaml.StatusCode != http.StatusOK || !strings.Contains(string(yaml.text), "openapi: 3.1.0") {
		t.Errorf("yaml: %d", yaml.StatusCode)
	}
}

var reference = regexp.MustCompile(`"\$ref": "#/components/schemas/([^"]+)"`)

// checkReferences checks that every schema that is named is there, and that
// none is there in vain.
func checkReferences(t *testing.T, document object, text string) {
	t.Helper()
	schemas := document["components"].(object)["schemas"].(object)
	named := map[string]bool{}
	for _, match := range reference.FindAllStringSubmatch(text, -1) {
		named[match[1]] = true
		if schemas[match[1]] == nil {
			t.Errorf("no schema %s", match[1])
		}
	}
	for name, schema := range schemas {
		if !named[name] {
			t.Errorf("schema %s is used nowhere", name)
		}
		if schema.(object)["type"] != "object" {
			t.Errorf("schema %s: %v", name, schema)
		}
	}
}

// checkOperation checks that an operation tells its key, its parameters, its
// success and its problems.
func checkOperation(t *testing.T, o operation) {
	t.Helper()
	where := o.method + " " + o.path
	if o.document["security"] == nil {
		t.Errorf("%s: no security", where)
	}
	declared := map[string]bool{}
	parameters, _ := o.document["parameters"].([]any)
	for _, p := range parameters {
		declared[text(p.(object), "name")] = true
		if p.(object)["schema"] == nil || (text(p.(object), "in") == "query" && text(p.(object), "description") == "") {
			t.Errorf("%s: parameter %v", where, p)
		}
	}
	for part := range strings.SplitSeq(o.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok && !declared[strings.TrimSuffix(name, "}")] {
			t.Errorf("%s: %s is not declared", where, part)
		}
	}
	responses := o.document["responses"].(object)
	success := false
	for status := range responses {
		success = success || strings.HasPrefix(status, "2")
	}
	if !success || responses["default"] == nil {
		t.Errorf("%s: responses %v", where, responses)
	}
	if takes := slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, o.method); takes != (o.document["requestBody"] != nil) {
		t.Errorf("%s: body %v", where, o.document["requestBody"])
	}
}

func TestOpenAPIFormsOfOurObjects(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	document := b.send(t, http.MethodGet, b.url+"/api/openapi.json", nil).object(t)
	schemas := document["components"].(object)["schemas"].(object)
	for name, fields := range map[string][]string{
		"PublishBody":     {"type", "data", "subject", "key", "occurred_at"},
		"BatchBody":       {"events"},
		"EventDetail":     {"id", "type", "status", "headers", "deliveries", "created_at"},
		"NewEndpointBody": {"kind", "url", "uid", "event_types", "headers", "retry_schedule", "timeout", "max_in_flight", "stop_on", "secret"},
		"CreatedEndpoint": {"id", "url", "secret"},
		"NewSourceBody":   {"name", "kind", "secret", "uid", "settings"},
		"DeliveryDetail":  {"id", "event_id", "attempts"},
		"EventList":       {"data", "next_cursor"},
		"Problem":         {"type", "title", "status", "detail", "code", "errors"},
	} {
		schema, ok := schemas[name].(object)
		if !ok {
			t.Errorf("no schema %s", name)
			continue
		}
		for _, field := range fields {
			if schema["properties"].(object)[field] == nil {
				t.Errorf("%s has no %s", name, field)
			}
		}
	}
	if required, _ := json.Marshal(schemas["NewKeyBody"].(object)["required"]); string(required) != `["name","scopes"]` {
		t.Errorf("required of a new key: %s", required)
	}
}

func TestDocsPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	got := b.send(t, http.MethodGet, b.url+"/api/docs", nil)
	page := string(got.text)
	if got.StatusCode != http.StatusOK || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
		t.Fatalf("%d %v", got.StatusCode, got.Header)
	}
	for _, o := range b.operations(t) {
		if !strings.Contains(page, `id="`+o.id+`"`) {
			t.Errorf("the page has no %s", o.id)
		}
	}
	for _, m := range problem.Meanings {
		if !strings.Contains(page, `id="error-`+string(m.Code)+`"`) {
			t.Errorf("the page has no %s", m.Code)
		}
	}
	for _, forbidden := range []string{"<script", "style=", "<style", " onclick", "https://unpkg", "http://cdn"} {
		if strings.Contains(page, forbidden) {
			t.Errorf("the page has %q, which its policy forbids", forbidden)
		}
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+link[1]+`"`) {
			t.Errorf("a link leads to #%s, which is not there", link[1])
		}
	}
	style := b.send(t, http.MethodGet, b.url+"/api/docs/docs.css", nil)
	if style.StatusCode != http.StatusOK || !strings.HasPrefix(style.Header.Get("Content-Type"), "text/css") {
		t.Errorf("style: %d %v", style.StatusCode, style.Header)
	}
}

// Rowlock's own events are told with their data, in the document and on its
// page.
func TestOwnEventsAreDocumented(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	document := b.send(t, http.MethodGet, b.url+"/api/openapi.json", nil).object(t)
	webhooks := document["webhooks"].(object)
	page := string(b.send(t, http.MethodGet, b.url+"/api/docs", nil).text)
	for _, name := range []string{
		gateway.TypeEndpointFailing, gateway.TypeEndpointDisabled, gateway.TypeDeliveryFailed, gateway.TypeDeliveryExpired, gateway.TypeClaimDoubtful, gateway.TypeOperationDone,
	} {
		if webhooks[name] == nil || !strings.Contains(page, "<code>"+name+"</code>") {
			t.Errorf("%s is not documented", name)
		}
	}
	for name, fields := range map[string][]string{
		"EndpointFailingData": {"endpoint_id", "percent", "last_status_code"},
		"DeliveryFailedData":  {"delivery_id", "event_id", "attempts", "last_outcome"},
	} {
		for _, field := range fields {
			if document["components"].(object)["schemas"].(object)[name].(object)["properties"].(object)[field] == nil {
				t.Errorf("%s has no %s", name, field)
			}
		}
	}
}
