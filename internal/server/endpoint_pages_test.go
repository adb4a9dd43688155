package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

// receiving is a receiver that answers with a status and a text.
func receiving(t *testing.T, status int, text string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// addEndpoint adds an endpoint through the page and returns its own.
func (w *browser) addEndpoint(values url.Values) page {
	w.t.Helper()
	return w.follow(w.submit(w.get(w.home+"/endpoints/new"), "form#endpoint", values))
}

// audited lists what the audit log says that this person did to an object,
// oldest first.
func (w *browser) audited(account gateway.AccountID, object string) []string {
	w.t.Helper()
	entries, err := w.store.AuditOf(w.t.Context(), account, []string{object}, 100)
	if err != nil {
		w.t.Fatal(err)
	}
	actor := gateway.Actor(w.person().String())
	var actions []string
	for _, entry := range slices.Backward(entries) {
		if entry.Actor == actor {
			actions = append(actions, strings.TrimSpace(entry.Action+" "+entry.Detail))
		}
	}
	return actions
}

// pathOf is a page's path, without its query.
func pathOf(p page) string {
	path, _, _ := strings.Cut(strings.SplitN(p.path, "#", 2)[0], "?")
	return path
}

func idOf(p page) string {
	parts := strings.Split(pathOf(p), "/")
	return parts[len(parts)-1]
}

func TestAddEndpointOnThePage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	if p := w.get(w.home + "/endpoints"); p.Find("#endpoints .empty").Length() != 1 {
		t.Error("the empty list does not say so")
	}
	p := w.addEndpoint(url.Values{
		"url": {"https://erp.example.com/hooks "}, "description": {"ERP sync\r\nowned by Mara"}, "event_types": {"order.*\r\n\r\ninvoice.paid, stock.*\r\n"},
		"header_name": {"x-token", "", "X-Env"}, "header_value": {"s3cret", "", "live"}, "timeout": {"10s"}, "retry_schedule": {"5s, 1m30s 2h"},
		"max_in_flight": {"8"}, "stop_on": {"404 400,404"}, "uid": {"erp"},
	})
	p.wantToast("Added ERP sync.")
	signing := p.Find("#secrets code").First().Text()
	if !strings.HasPrefix(signing, "whsec_") || len(signing) < 40 {
		t.Errorf("the secret is %q", signing)
	}
	if again := w.get(pathOf(p)); strings.Contains(again.text, signing) || again.toast() != "" {
		t.Error("the secret or the message is shown twice")
	}
	got := w.tenant().must(200, http.MethodGet, "/endpoints/erp", nil)
	want := object{
		"kind": "http", "url": "https://erp.example.com/hooks", "uid": "erp", "description": "ERP sync\nowned by Mara", "event_types": []any{"order.*", "invoice.paid", "stock.*"},
		"headers": object{"X-Token": "s3cret", "X-Env": "live"}, "timeout": "10s", "retry_schedule": []any{"5s", "1m30s", "2h"},
		"max_in_flight": 8.0, "stop_on": []any{400.0, 404.0}, "signature": "v1", "state": "active", "consecutive_failures": 0.0,
	}
	for _, changes := range []string{"id", "created_at", "updated_at", "state_changed_at"} {
		delete(got, changes)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if row := w.get(w.home + "/endpoints").Find("#endpoints tbody tr"); row.Length() != 1 || !strings.Contains(row.Text(), "ERP sync") {
		t.Errorf("the list shows %q", row.Text())
	}
	w.get(w.home + "/endpoints/erp").wantStatus(http.StatusOK) // by its own name too
}

// An empty form field is the server's choice.
func TestAddEndpointWithDefaults(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	own := "whsec_" + strings.Repeat("QUJD", 10)
	p := w.addEndpoint(url.Values{"url": {somewhere}, "secret": {own}})
	if got := p.Find("#secrets code").First().Text(); got != own {
		t.Errorf("the secret is %q, want the one entered", got)
	}
	got := w.tenant().must(200, http.MethodGet, "/endpoints/"+idOf(p), nil)
	if got["timeout"] != nil || got["retry_schedule"] != nil || got["max_in_flight"] != 64.0 || len(got["event_types"].([]any)) != 0 {
		t.Errorf("%v", got)
	}
	p = w.addEndpoint(url.Values{"url": {somewhere}, "retry_schedule": {"none"}})
	got = w.tenant().must(200, http.MethodGet, "/endpoints/"+idOf(p), nil)
	if waits, ok := got["retry_schedule"].([]any); !ok || len(waits) != 0 {
		t.Errorf("no retries became %v", got["retry_schedule"])
	}
}

func TestEndpointFormTellsEveryMistake(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	entered := url.Values{
		"url": {"ftp://a"}, "description": {"d\x01"}, "event_types": {"order.*\n<script>"}, "timeout": {"long"}, "retry_schedule": {"5 parsecs"},
		"max_in_flight": {"many"}, "stop_on": {"200"}, "uid": {"-"}, "secret": {"whsec_short"},
		"header_name": {"X-A", "Host", "a b", "", "X-A"}, "header_value": {"1", "2", "3", "4", "5"},
	}
	p := w.submit(w.get(w.home+"/endpoints/new"), "form#endpoint", entered)
	p.wantStatus(http.StatusUnprocessableEntity)
	for field, says := range map[string]string{
		"url": "must begin with https", "description": "at most 2000 characters", "event_types": "Line 2", "timeout": "1s to 1m",
		"retry_schedule": "5s, 5m", "max_in_flight": "1 to 1000", "stop_on": "300 to 599", "uid": "letters", "secret": "base64",
		"header-2": "Cannot be set.", "header-3": "not one that HTTP allows", "header-4": "Name the header", "header-5": "given twice",
	} {
		if got := p.Find("#" + field + "-error").Text(); !strings.Contains(got, says) {
			t.Errorf("beside %s stands %q, want %q", field, strings.TrimSpace(got), says)
		}
		if p.Find("#"+field+`[aria-invalid="true"]`).Length() != 1 {
			t.Errorf("%s is not marked", field)
		}
	}
	sent := fieldsOf(p.Find("form#endpoint"))
	for name := range entered {
		if name == "secret" || strings.HasPrefix(name, "header_") || name == "description" {
			continue
		}
		if got, want := strings.TrimSpace(sent.Get(name)), strings.TrimSpace(entered.Get(name)); got != want {
			t.Errorf("%s became %q, want %q", name, got, want)
		}
	}
	if got := sent["header_value"]; len(got) < 5 || strings.Join(got[:5], "") != "12345" {
		t.Errorf("headers became %q", got)
	}
	if strings.Contains(p.text, "whsec_short") {
		t.Error("the page repeats a secret")
	}
	if got := w.get(w.home + "/endpoints").Find("#endpoints tbody tr").Length(); got != 0 {
		t.Errorf("%d endpoints were made", got)
	}
}

func TestEndpointFormRefusesATakenName(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	w.addEndpoint(url.Values{"url": {somewhere}, "uid": {"erp"}})
	p := w.submit(w.get(w.home+"/endpoints/new"), "form#endpoint", url.Values{"url": {somewhere}, "uid": {"erp"}})
	p.wantStatus(http.StatusUnprocessableEntity)
	if got := p.Find("#uid-error").Text(); !strings.Contains(got, "Another endpoint") {
		t.Errorf("beside the name stands %q", got)
	}
}

func TestEditEndpointOnThePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	made := n.must(201, http.MethodPost, "/endpoints", `{"url":"`+somewhere+`","uid":"x","description":"two\nlines","event_types":["a","b.*"],
		"headers":{"X-A":"1","X-B":"2"},"retry_schedule":["1s","24h"],"timeout":"5s","max_in_flight":3,"stop_on":[400,404]}`)
	id := text(made, "id")
	edit := w.home + "/endpoints/" + id + "/edit"
	w.follow(w.submit(w.get(edit), "form#endpoint", nil)).wantToast("Saved.")
	got := n.must(200, http.MethodGet, "/endpoints/x", nil)
	delete(made, "secret")
	if diff := cmp.Diff(made, got); diff != "" {
		t.Errorf("a form that was sent as it came changed: %s", diff)
	}
	w.follow(w.submit(w.get(edit), "form#endpoint", url.Values{
		"uid": {""}, "event_types": {""}, "timeout": {""}, "retry_schedule": {""}, "stop_on": {""}, "header_name": {"X-A", ""}, "header_value": {"1", ""},
	}))
	got = n.must(200, http.MethodGet, "/endpoints/"+id, nil)
	if got["uid"] != nil || len(got["event_types"].([]any)) != 0 || got["timeout"] != nil || got["retry_schedule"] != nil || len(got["headers"].(object)) != 1 || got["max_in_flight"] != 3.0 {
		t.Errorf("emptied fields became %v", got)
	}
	p := w.submit(w.get(edit), "form#endpoint", url.Values{"url": {"nowhere"}, "description": {"new"}})
	p.wantStatus(http.StatusUnprocessableEntity)
	if p.Find("#url-error").Length() != 1 || strings.TrimSpace(p.Find("#description").Text()) != "new" {
		t.Error("the form says nothing, or lost a field")
	}
	log := w.audited(n.account, id)
	if want := []string{"endpoint.update uid, event_types, headers, retry_schedule, timeout, stop_on"}; !cmp.Equal(log, want) {
		t.Errorf("the audit log says %q, want %q", log, want)
	}
}

func TestTestEventOnThePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	for status, says := range map[int]string{200: "with 200 OK in", 503: "with 503 Service Unavailable in"} {
		p := w.addEndpoint(url.Values{"url": {receiving(t, status, "hello <b>there</b>")}, "event_types": {"order.created\norder.*"}})
		question := w.get(pathOf(p) + "/test")
		if got := question.Find("datalist option").Length(); got != 1 {
			t.Errorf("%d types are offered, want the one without a wildcard", got)
		}
		p = w.follow(w.submit(question, `form[action$="/test"]`, url.Values{"type": {"order.created"}}))
		answer := p.Find("#tested")
		if !strings.Contains(answer.Text(), says) || !strings.Contains(answer.Text(), "order.created") || !strings.Contains(answer.Find(".code").Text(), "hello <b>there</b>") {
			t.Errorf("the page says %q", answer.Text())
		}
		if row := p.Find("#attempts tbody tr"); row.Length() != 1 || !strings.Contains(row.Text(), strconv.Itoa(status)) || !strings.Contains(row.Text(), "Test") {
			t.Errorf("the list shows %q", row.Text())
		}
	}
	p := w.addEndpoint(url.Values{"url": {somewhere}})
	p = w.follow(w.submit(w.get(pathOf(p)+"/test"), `form[action$="/test"]`, url.Values{"type": {"rowlock.test"}}))
	if got := p.Find("#tested").Text(); !strings.Contains(got, "did not get through") || !strings.Contains(got, "rowlock.test") {
		t.Errorf("the page says %q", got)
	}
	if other := w.addEndpoint(url.Values{"url": {somewhere}}); w.get(pathOf(other)+"?"+strings.SplitN(p.path, "?", 2)[1]).Find("#tested").Length() != 0 {
		t.Error("an endpoint shows another's test")
	}
	w.get(pathOf(p) + "?tested=x").wantStatus(http.StatusOK)
	p = w.submit(w.get(pathOf(p)+"/test"), `form[action$="/test"]`, url.Values{"type": {"rowlock.mine"}})
	p.wantStatus(http.StatusUnprocessableEntity)
	if p.Find("#type-error").Length() != 1 || p.Find("#type").AttrOr("value", "") != "rowlock.mine" {
		t.Error("a reserved type is not told beside its field")
	}
}

func TestPauseAndResumeOnThePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.addEndpoint(url.Values{"url": {somewhere}, "description": {"ERP sync"}})
	path := pathOf(p)
	question := w.fragment(path + "/pause")
	if question.Find("main").Length() != 0 || question.Find("form").Length() != 1 {
		t.Error("a script does not get the question alone")
	}
	p = w.follow(w.submit(w.get(path+"/pause"), `form[action$="/pause"]`, nil))
	p.wantToast("Paused. What is for it is held, and goes on when somebody resumes it.")
	if got := p.Find("#trouble").Text(); !strings.Contains(got, "Paused by Person of Acme since") {
		t.Errorf("the page says %q", got)
	}
	if p.Find("h1 .badge").Text() != "Paused" {
		t.Error("the title does not say so")
	}
	p = w.follow(w.submit(p, `form[action$="/resume"]`, nil))
	p.wantToast("Resumed. What was held goes on; what was being retried keeps its schedule.")
	if p.Find("#trouble .callout").Length() != 0 {
		t.Error("an active endpoint is in trouble")
	}
	if log := w.audited(w.tenant().account, idOf(p)); !cmp.Equal(log, []string{"endpoint.create", "endpoint.pause", "endpoint.resume"}) {
		t.Errorf("the audit log says %q", log)
	}
}

func TestDeleteEndpointOnThePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.addEndpoint(url.Values{"url": {somewhere}, "description": {"ERP \u202e sync"}})
	path := pathOf(p)
	for _, typed := range []string{"", "erp", "ERP sync"} {
		p = w.submit(w.get(path+"/delete"), `form[action$="/delete"]`, url.Values{"name": {typed}})
		p.wantStatus(http.StatusUnprocessableEntity)
		if p.Find("#name-error").Length() != 1 || p.Find("#name").AttrOr("value", "") != typed {
			t.Errorf("%q is not told to be wrong", typed)
		}
	}
	w.get(path).wantStatus(http.StatusOK)
	shown := w.get(path + "/delete").Find("#name-hint").Text()
	p = w.follow(w.submit(w.get(path+"/delete"), `form[action$="/delete"]`, url.Values{"name": {" " + shown + " "}}))
	p.wantToast("Deleted ERP ⟨U+202E⟩ sync. Its history stays with its events.")
	w.get(path).wantStatus(http.StatusNotFound)
}

// A member without a role that may change things sees everything but secrets,
// the values of headers, and what changes.
func TestMembersSeeEndpointsAndNoSecrets(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.addEndpoint(url.Values{"url": {receiving(t, 200, "ok")}, "header_name": {"X-Token"}, "header_value": {"s3cret-value"}})
	path, sid := pathOf(p), p.Find("#secrets li").AttrOr("id", "")
	w.submit(w.get(path+"/test"), `form[action$="/test"]`, nil).wantStatus(http.StatusSeeOther)
	m := w.newMember()
	for _, path := range []string{path, w.home + "/endpoints"} {
		p := m.get(path)
		p.wantStatus(http.StatusOK)
		if strings.Contains(p.text, "s3cret-value") || regexp.MustCompile(`whsec_[A-Za-z0-9+/]{8}`).MatchString(p.Find("#secrets").Text()) {
			t.Errorf("%s shows a secret", path)
		}
		if n := p.Find("main form, main a[hx-get], main a[href$='/edit'], main a[href$='/new']").Length(); n != 0 {
			t.Errorf("%s offers %d changes", path, n)
		}
	}
	if p := m.get(path); p.Find("#attempts tbody tr").Length() != 1 || !strings.Contains(p.Find("#settings").Text(), "X-Token") {
		t.Error("a member does not see what happened, or what is sent")
	}
	for _, r := range m.pageRoutes(t, "/a/:account/endpoints") {
		filled := strings.NewReplacer(":account", strings.TrimPrefix(w.home, "/a/"), ":id", idOf(page{path: path}), ":sid", sid).Replace(r.path)
		if filled == path || filled == w.home+"/endpoints" {
			continue
		}
		m.ask(r.method, filled).wantStatus(http.StatusForbidden)
	}
	w.get(path).wantStatus(http.StatusOK) // it is still there
}
