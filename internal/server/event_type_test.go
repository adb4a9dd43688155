package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEventTypeLife(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	made := n.must(201, http.MethodPost, "/event-types", `{"name":"credit/check:done.v2","description":"Done.","schema":{"type":"object","required":["id"]},"examples":[{"id":1}],"single_fire":true,"on_doubt":"hold"}`)
	if made["single_fire"] != true || made["on_doubt"] != "hold" || !strings.HasPrefix(text(made, "created_at"), "2") {
		t.Fatalf("%v", made)
	}
	for _, path := range []string{"/event-types/credit/check:done.v2", "/event-types/credit%2Fcheck:done.v2", "/event-types/credit%2fcheck%3Adone%2Ev2"} {
		if got := n.must(200, http.MethodGet, path, nil); !cmp.Equal(got, made) {
			t.Errorf("%s: %s", path, cmp.Diff(made, got))
		}
	}
	path := "/event-types/credit/check:done.v2"
	n.refused(409, "name_taken", http.MethodPost, "/event-types", `{"name":"credit/check:done.v2"}`)
	changed := n.must(200, http.MethodPatch, path, `{"schema":null,"examples":null,"on_doubt":null,"single_fire":null,"description":null}`)
	if changed["schema"] != nil || changed["single_fire"] != false || changed["on_doubt"] != "resend" || changed["description"] != "" || len(changed["examples"].([]any)) != 0 {
		t.Errorf("%v", changed)
	}
	n.must(200, http.MethodPatch, path, `{"name":"credit/check:done.v2","schema":true}`)
	for _, other := range []string{"/event-types/credit", "/event-types/credit/", "/event-types/credit/check:done.v2/", "/event-types/credit%252Fcheck:done.v2", "/event-types/Credit/check:done.v2"} {
		n.refused(404, "not_found", http.MethodGet, other, nil)
	}
	n.must(204, http.MethodDelete, path, nil)
	n.refused(404, "not_found", http.MethodDelete, path, nil)
	n.refused(404, "not_found", http.MethodPatch, path, `{}`)
}

func TestEventTypeOfAProvider(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/event-types", `{"name":"Merge Request Hook"}`)
	if got := n.must(200, http.MethodGet, "/event-types/"+url.PathEscape("Merge Request Hook"), nil); got["name"] != "Merge Request Hook" {
		t.Errorf("%v", got)
	}
}

func TestEventTypeRefuses(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(201, http.MethodPost, "/event-types", `{"name":"a","examples":[1]}`)
	for body, want := range map[string]string{
		`{}`:                               "body.name: is missing",
		`{"name":".hunter2"}`:              "body.name: want",
		`{"name":"b","on_doubt":"x"}`:      "body.on_doubt",
		`{"name":"b","single_fire":"yes"}`: "body.single_fire",
		`{"name":"b","schema":"hunter2"}`:  "body.schema: want a JSON Schema",
		`{"name":"b","schema":{"$ref":"file:///etc/hunter2"}}`:                  "body.schema: refers to another document",
		`{"name":"b","schema":{"type":"string"},"examples":["a",1]}`:            "body.examples[1]: want string",
		`{"name":"b","examples":{}}`:                                            "body.examples: want an array",
		`{"name":"b","schema":{"title":"` + strings.Repeat("a", 64<<10) + `"}}`: "body.schema: is longer than 65536 bytes",
		`{"name":"b","version":1}`:                                              "body.version: unknown field",
	} {
		p := n.refused(422, "invalid", http.MethodPost, "/event-types", body)
		if !strings.HasPrefix(text(p, "detail"), want) || strings.Contains(fmt.Sprint(p), "hunter2") {
			t.Errorf("%.60s: %v, want %q", body, p, want)
		}
	}
	n.refused(422, "type_reserved", http.MethodPost, "/event-types", `{"name":"rowlock.x"}`)
	for body, want := range map[string]string{`{"name":"b"}`: "make", `{"schema":{"type":"string"}}`: "body.examples[0]"} {
		if want == "make" {
			want = "body.name: cannot be changed"
		}
		if p := n.refused(422, "invalid", http.MethodPatch, "/event-types/a", body); !strings.HasPrefix(text(p, "detail"), want) {
			t.Errorf("%s: %v", body, p)
		}
	}
}

func TestEventTypesAreListed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n, other := b.newTenant(t), b.newTenant(t)
	other.must(201, http.MethodPost, "/event-types", `{"name":"theirs"}`)
	for i := range 5 {
		n.must(201, http.MethodPost, "/event-types", object{"name": fmt.Sprint("t", i)})
	}
	var names []string
	for path := "/event-types?limit=2"; path != ""; {
		part := n.must(200, http.MethodGet, path, nil)
		for _, e := range entries(part) {
			names = append(names, text(e, "name"))
		}
		path = ""
		if next, ok := part["next_cursor"].(string); ok {
			path = "/event-types?limit=2&cursor=" + next
		}
	}
	if diff := cmp.Diff([]string{"t0", "t1", "t2", "t3", "t4"}, names); diff != "" {
		t.Error(diff)
	}
	foreign := text(n.must(200, http.MethodGet, "/event-types?limit=2", nil), "next_cursor")
	for _, cursor := range []string{"x", "AQ", foreign + "A", foreign[1:]} {
		n.refused(422, "invalid_cursor", http.MethodGet, "/event-types?cursor="+cursor, nil)
	}
	n.refused(422, "invalid_cursor", http.MethodGet, "/events?cursor="+foreign, nil)
}

// A published event that breaks what is declared of its type is refused, with
// where in its data; a change counts from the next call on.
func TestPublishAgainstSchema(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	n.must(202, http.MethodPost, "/events", `{"type":"order.created","data":{"lines":[{"sku":7}]}}`)
	n.must(201, http.MethodPost, "/event-types", `{"name":"order.created","schema":{"properties":{"lines":{"items":{"properties":{"sku":{"type":"string"}}}}}}}`)
	p := n.refused(422, "schema_violated", http.MethodPost, "/events", `{"type":"order.created","data":{"lines":[{"sku":"a"},{"sku":31337}]}}`)
	want := []any{object{"message": "want string", "location": "body.data/lines/1/sku"}}
	if diff := cmp.Diff(want, p["errors"]); diff != "" || strings.Contains(fmt.Sprint(p), "31337") {
		t.Errorf("%v %s", p, diff)
	}
	n.must(200, http.MethodPatch, "/event-types/order.created", `{"single_fire":true}`)
	p = n.refused(422, "subject_required", http.MethodPost, "/events", `{"type":"order.created","data":{}}`)
	if !strings.HasPrefix(text(p, "detail"), "body.subject: is required") {
		t.Errorf("%v", p)
	}
	n.must(202, http.MethodPost, "/events", `{"type":"order.created","subject":"A-1","data":{}}`)

	results := n.must(202, http.MethodPost, "/events/batch", `{"events":[{"type":"order.created","subject":"s","data":{}},{"type":"order.created","subject":"s","data":{"lines":[{"sku":1}]}},{"type":"order.created","data":1}]}`)["results"].([]any)
	for i, want := range []string{"", "schema_violated body.events[1].data/lines/0/sku", "subject_required body.events[2].subject"} {
		got := ""
		if refused, ok := results[i].(object)["error"].(object); ok {
			got = text(refused, "code") + " " + text(refused["errors"].([]any)[0].(object), "location")
		}
		if got != want {
			t.Errorf("event %d of the batch: %v, want %q", i, results[i], want)
		}
	}
	n.must(204, http.MethodDelete, "/event-types/order.created", nil)
	n.must(202, http.MethodPost, "/events", `{"type":"order.created","data":{"lines":[{"sku":7}]}}`)
}
