package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// words is what a part of a page says, with a space between its parts.
func words(p page, selector string) string {
	var said strings.Builder
	for _, part := range p.Find(selector).EachIter() {
		for n := range part.Get(0).Descendants() {
			if n.Type == html.TextNode {
				said.WriteString(n.Data + " ")
			}
		}
	}
	return strings.Join(strings.Fields(said.String()), " ")
}

// From an empty catalogue to a type that is declared, changed and deleted.
func TestEventTypeFromFormToDeletion(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.get(w.home + "/event-types")
	if !strings.Contains(words(p, "#event-types"), "No event types declared") || p.Find("#undeclared").Length() != 0 {
		t.Errorf("empty: %s", words(p, "main"))
	}
	p = w.get(p.Find("#event-types a").AttrOr("href", ""))
	p = w.submit(p, "#event-type", url.Values{"name": {"credit/check:done"}, "schema": {`{"type":"object"}`}, "examples": {"{\"id\":1}\n7"}, "single_fire": {"1"}, "on_doubt": {"hold"}})
	p.wantStatus(http.StatusUnprocessableEntity)
	if got := p.errorBeside("examples"); got != "Example 2: Use object." {
		t.Errorf("beside the examples: %q", got)
	}
	if p.Find("#schema").Text() != `{"type":"object"}` || p.Find("#single_fire[checked]").Length() != 1 || p.Find("[name=on_doubt][value=hold][checked]").Length() != 1 {
		t.Error("the form lost what was entered")
	}
	p = w.follow(w.submit(p, "#event-type", url.Values{"examples": {"{\"id\":1}\n{}"}}))
	p.wantToast("declared")
	if p.path != w.home+"/event-types/credit%2Fcheck:done" || !strings.Contains(words(p, "#fires"), "waits for a person") || p.Find("#examples h3").Length() != 2 {
		t.Errorf("%s: %s", p.path, words(p, "main"))
	}
	p = w.get(w.home + "/event-types")
	if got := words(p, "#event-types tbody tr"); got != "credit/check:done single-fire · schema checked Checked 0 in 24 h" {
		t.Errorf("the catalogue says %q", got)
	}
	path := p.Find("#event-types tbody a").First().AttrOr("href", "")

	p = w.get(path + "/edit")
	if got := p.Find("#examples").Text(); got != "{\"id\":1}\n{}" {
		t.Errorf("examples to edit: %q", got)
	}
	again := w.submit(p, "#event-type", url.Values{"schema": {`{"$ref":"https://example.com/s"}`}})
	again.wantStatus(http.StatusUnprocessableEntity)
	if !strings.HasPrefix(again.errorBeside("schema"), "Refers to another document") {
		t.Errorf("beside the schema: %q", again.errorBeside("schema"))
	}
	p = w.follow(w.submit(p, "#event-type", url.Values{"schema": {""}, "description": {"A check is done."}, "single_fire": nil}))
	if !strings.Contains(words(p, "#fires"), "Each event is delivered.") || !strings.Contains(words(p, "#schema"), "None") {
		t.Errorf("%s", words(p, "main"))
	}

	question := w.get(path + "/delete")
	if !strings.Contains(words(question, "main"), "can still come") {
		t.Errorf("the question: %s", words(question, "main"))
	}
	deletion := "form[action='" + path + "/delete']"
	question = w.submit(question, deletion, url.Values{"name": {"credit"}})
	question.wantStatus(http.StatusUnprocessableEntity)
	if got := question.errorBeside("name"); got != "This is not the event type’s name." {
		t.Errorf("beside the name: %q", got)
	}
	p = w.follow(w.submit(question, deletion, url.Values{"name": {"credit/check:done"}}))
	p.wantToast("deleted")
	w.get(path).wantStatus(http.StatusNotFound)
	w.post(path+"/delete", url.Values{}).wantStatus(http.StatusNotFound)
	w.tenant().must(202, http.MethodPost, "/events", `{"type":"a","data":1}`) // without an event there is no activity
	did := words(w.get(w.home), "main")
	for _, want := range []string{"declared the event type credit/check:done", "changed the event type", "deleted the event type"} {
		if !strings.Contains(did, want) {
			t.Errorf("the activity %q lacks %q", did, want)
		}
	}
}

// Types of events that nobody has declared are offered, with their names filled in.
func TestSeenTypesAreOffered(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	for _, name := range []string{"order.created", "order.created", "call/ended:v2"} {
		n.must(202, http.MethodPost, "/events", `{"type":"`+name+`","data":1}`)
	}
	p := w.get(w.home + "/event-types")
	if got := words(p, "#undeclared ul"); got != "call/ended:v2 Declare order.created Declare" {
		t.Errorf("offered are %q", got)
	}
	p = w.get(p.Find("#undeclared .btn").First().AttrOr("href", ""))
	if got := p.Find("#name").AttrOr("value", ""); got != "call/ended:v2" {
		t.Errorf("the form names %q", got)
	}
	w.follow(w.submit(p, "#event-type", nil))
	n.must(201, http.MethodPost, "/event-types", `{"name":"order.created"}`)
	p = w.get(w.home + "/event-types")
	if p.Find("#undeclared").Length() != 0 || words(p, "#event-types tbody tr:last-child .end-sm a") != "2" {
		t.Errorf("declared: %s", words(p, "main"))
	}
	events := w.get(p.Find("#event-types tbody tr:last-child .end-sm a").AttrOr("href", ""))
	if got := events.Find("#events tbody tr").Length(); got != 2 {
		t.Errorf("%d events are listed", got)
	}
	if again := w.submit(w.get(w.home+"/event-types/-new"), "#event-type", url.Values{"name": {"order.created"}}); again.errorBeside("name") != "This event type is declared already." {
		t.Errorf("declared twice: %q", again.errorBeside("name"))
	}
}

// A type may be called as a part of an address is.
func TestTypesOfOddNamesHavePages(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	for _, name := range []string{"new", "edit", "a/edit", "a/delete", "Push Hook", "a//b", "a/../b", "a:b", "_"} {
		n.must(201, http.MethodPost, "/event-types", object{"name": name})
	}
	p := w.get(w.home + "/event-types")
	for i := range 9 {
		row := p.Find("#event-types tbody tr").Eq(i)
		one := w.get(row.Find("a").First().AttrOr("href", ""))
		one.wantStatus(http.StatusOK)
		if got, want := strings.TrimSpace(one.Find("h1").Text()), row.Find("code").First().Text(); got != want {
			t.Errorf("%s is the page of %q, want %q", one.path, got, want)
		}
		w.get(one.path + "/edit").wantStatus(http.StatusOK)
	}
}

func TestMembersDoNotDeclare(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	w.tenant().must(201, http.MethodPost, "/event-types", `{"name":"a","single_fire":true}`)
	member := w.newMember()
	for _, path := range []string{"/event-types", "/event-types/a"} {
		p := member.get(w.home + path)
		p.wantStatus(http.StatusOK)
		if n := p.Find("main a[href*='-new'], main a[href$='/edit'], main a[href$='/delete']").Length(); n != 0 {
			t.Errorf("%s offers a member %d changes", path, n)
		}
	}
	for _, path := range []string{"/event-types/-new", "/event-types/a/edit", "/event-types/a/delete"} {
		member.get(w.home + path).wantStatus(http.StatusForbidden)
		member.post(w.home+path, url.Values{}).wantStatus(http.StatusForbidden)
	}
}

func TestEventTypesArePaged(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	for i := range 60 {
		n.must(201, http.MethodPost, "/event-types", object{"name": fmt.Sprintf("t%02d", i)})
	}
	p := w.get(w.home + "/event-types")
	next := w.get(p.Find(".pager a[rel=next]").AttrOr("href", ""))
	if p.Find("tbody tr").Length() != 50 || next.Find("tbody tr").Length() != 10 || words(next, "tbody tr:first-child code") != "t50" {
		t.Errorf("%d rows, then %d from %q", p.Find("tbody tr").Length(), next.Find("tbody tr").Length(), words(next, "tbody tr:first-child code"))
	}
	if first := w.get(next.Find(".pager a[rel=prev]").AttrOr("href", "")); words(first, "tbody tr:first-child code") != "t00" {
		t.Errorf("%s does not lead to the first", first.path)
	}
}
