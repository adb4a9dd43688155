package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// provider sends to a source of a kind, as its provider does.
type provider struct {
	*tenant

	id, url, secret string
	scheme          signature.Scheme
}

// newProvider makes a source of the kind, with settings as JSON or "".
func (n *tenant) newProvider(kind, settings string) provider {
	n.t.Helper()
	scheme, ok := signature.Lookup(kind)
	if !ok {
		n.t.Fatalf("no kind %s", kind)
	}
	stored, private := scheme.NewPair()
	if private == "" {
		stored, private = "It's a Secret to Everybody", "It's a Secret to Everybody"
	}
	in := object{"name": kind, "kind": kind}
	if scheme.Info().NeedsSecret() {
		in["secret"] = stored
	}
	if settings != "" {
		in["settings"] = json.RawMessage(settings)
	}
	made := n.must(http.StatusCreated, http.MethodPost, "/sources", in)
	return provider{n, text(made, "id"), text(made, "ingest_url"), private, scheme}
}

// request is a signed one with this body; after is what follows the token.
func (p provider) request(after, body string) *http.Request {
	p.t.Helper()
	signed := p.scheme.Sample(p.url+after, "id", time.Now())
	signed.Body = []byte(body)
	if err := p.scheme.Sign(&signed, signature.Settings{}, p.secret); err != nil {
		p.t.Fatal(err)
	}
	return p.raw(signed.Method, after, string(signed.Body), signed.Header)
}

func (p provider) raw(method, after, body string, header http.Header) *http.Request {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.url+after, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header = header
	return request
}

// reply is an answer, byte for byte.
type reply struct {
	status int
	header http.Header
	body   string
}

func (p provider) do(request *http.Request) reply {
	p.t.Helper()
	response, err := p.client.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if len(response.Header.Values("Set-Cookie")) > 0 || response.Header.Get("X-Content-Type-Options") != "nosniff" {
		p.t.Errorf("answered with %v", response.Header)
	}
	return reply{response.StatusCode, response.Header, string(body)}
}

// want compares an answer; %s in the body stands for the ids in the header.
func (r reply) want(t *testing.T, status int, kind, body string, events, duplicates int) {
	t.Helper()
	ids := strings.Fields(r.header.Get("Rowlock-Event-Id"))
	if strings.Contains(body, "%s") {
		body = fmt.Sprintf(body, strings.Join(ids, `","`))
	}
	if r.status != status || strings.TrimSuffix(r.body, "\n") != body || r.header.Get("Content-Type") != kind {
		t.Errorf("answered %d %q %q, want %d %q %q", r.status, r.header.Get("Content-Type"), r.body, status, kind, body)
	}
	if len(ids) != events || events > 0 && r.header.Get("Rowlock-Duplicate") != fmt.Sprint(duplicates) || events == 0 && r.header.Get("Rowlock-Duplicate") != "" {
		t.Errorf("headers %v, want %d ids and %d duplicates", r.header, events, duplicates)
	}
	for _, id := range ids {
		if _, err := gateway.ParseID[gateway.EventID](id); err != nil {
			t.Error(err)
		}
	}
}

// Senders read our receipt, but for those who want an answer of their own.
func TestIngestAnswersOfKinds(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	const ours = "application/json"
	github := n.newProvider("github", "")
	for round, duplicate := range []string{"false", "true"} {
		got := github.do(github.request("", `{"a":1}`))
		got.want(t, 200, ours, `{"id":"%s","duplicate":`+duplicate+`}`, 1, round)
	}
	sendgrid := n.newProvider("sendgrid", "")
	const two = `[{"sg_event_id":"a","event":"open"},{"sg_event_id":"b","event":"open"}]`
	sendgrid.do(sendgrid.request("", two)).want(t, 200, ours, `{"ids":["%s"],"duplicates":0}`, 2, 0)
	sendgrid.do(sendgrid.request("", two)).want(t, 200, ours, `{"ids":["%s"],"duplicates":2}`, 2, 2)
	sendgrid.do(sendgrid.request("", `[{"sg_event_id":"c","event":"open"}]`)).want(t, 200, ours, `{"ids":["%s"],"duplicates":0}`, 1, 0)
	many := "[" + strings.TrimSuffix(strings.Repeat(`{"event":"open"},`, 30), ",") + "]"
	got := sendgrid.do(sendgrid.request("", many))
	var listed struct{ IDs []string }
	if err := json.Unmarshal([]byte(got.body), &listed); err != nil || len(listed.IDs) != 30 {
		t.Errorf("%s: %v", got.body, err)
	}
	if ids := strings.Fields(got.header.Get("Rowlock-Event-Id")); len(ids) != 20 || ids[0] != listed.IDs[0] || ids[19] != listed.IDs[19] {
		t.Errorf("the header lists %v", ids)
	}
	slack := n.newProvider("slack", "")
	slack.do(slack.request("", `{"type":"url_verification","challenge":"<script>"}`)).want(t, 200, "text/plain", "<script>", 0, 0)
	xero := n.newProvider("xero", "")
	xero.do(xero.request("", `{"events":[{"resourceId":"1","eventType":"UPDATE"}]}`)).want(t, 200, "", "", 1, 0)
	xero.do(xero.request("", `{"events":[]}`)).want(t, 200, "", "", 0, 0)
	if got := xero.do(xero.raw("POST", "", `{"events":[]}`, http.Header{"X-Xero-Signature": {"d3Jvbmc="}})); got.status != 401 {
		t.Errorf("a probe of Xero's: %+v", got)
	}
	paused := n.newProvider("github", "")
	n.must(200, http.MethodPost, "/sources/"+paused.id+"/pause", nil)
	paused.do(paused.request("", "{}")).want(t, 200, ours, `{"id":"%s","duplicate":false}`, 1, 0)
}

// Each kind takes its methods, and an unknown address is told the same by all.
func TestIngestMethods(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	none, meta, woo := n.newProvider("none", ""), n.newProvider("meta", `{"verify_token":"tok"}`), n.newProvider("woocommerce", "")
	for _, test := range []struct {
		of            provider
		method, after string
		status        int
		allow         string
	}{
		{none, "POST", "", 200, ""},
		{none, "PUT", "/x", 200, ""},
		{none, "PATCH", "?a=1", 200, ""},
		{none, "GET", "", 405, "POST, PUT, PATCH"},
		{none, "HEAD", "", 405, "POST, PUT, PATCH"},
		{none, "DELETE", "/x", 405, "POST, PUT, PATCH"},
		{none, "OPTIONS", "", 405, "POST, PUT, PATCH"},
		{meta, "GET", "?hub.mode=subscribe&hub.challenge=42&hub.verify_token=tok", 200, ""},
		{meta, "GET", "?hub.mode=subscribe&hub.challenge=42&hub.verify_token=no", 403, ""},
		{meta, "HEAD", "", 405, "POST, PUT, PATCH, GET"},
		{woo, "HEAD", "", 200, ""},
		{woo, "GET", "", 405, "POST, PUT, PATCH, HEAD"},
	} {
		got := test.of.do(test.of.raw(test.method, test.after, "", http.Header{}))
		if got.status != test.status || got.header.Get("Allow") != test.allow {
			t.Errorf("%s %s: %d, Allow %q, %s", test.method, test.after, got.status, got.header.Get("Allow"), got.body)
		}
	}
	unknown := none
	unknown.url = none.url + "x"
	for _, method := range []string{"POST", "GET", "HEAD", "PUT", "DELETE", "OPTIONS"} {
		got := unknown.do(unknown.raw(method, "", "", http.Header{}))
		if got.status != 404 || method != "HEAD" && !strings.Contains(got.body, `"code":"not_found"`) {
			t.Errorf("%s to an unknown address: %d %s", method, got.status, got.body)
		}
	}
}

// A provider that is refused is told the code, and the request can be found.
func TestIngestRefusalsOfKinds(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	elsewhere, guarded := n.newProvider("github", `{"allowed_ips":["192.0.2.0/24","2001:db8::1"]}`), n.newProvider("github", `{"replay_guard":"10m"}`)
	here := n.newProvider("github", `{"allowed_ips":["127.0.0.0/8","::1"]}`)
	wrong := here
	wrong.secret = "wrong"
	push := func(p provider, id string) *http.Request {
		request := p.request("/p?q=1", "{}")
		request.Header.Set("X-Github-Delivery", id)
		return request
	}
	for _, test := range []struct {
		of     provider
		id     string
		status int
		code   string
	}{
		{here, "1", 200, ""},
		{wrong, "2", 401, "signature_mismatch"},
		{elsewhere, "1", 403, "address_not_allowed"},
		{guarded, "1", 200, ""},
		{guarded, "2", 409, "body_replayed"},
		{guarded, "1", 200, ""},
	} {
		got := test.of.do(push(test.of, test.id))
		if got.status != test.status || test.code != "" && !strings.Contains(got.body, fmt.Sprintf(`"code":%q`, test.code)) {
			t.Errorf("%s: %d %s", test.code, got.status, got.body)
		}
		if test.code == "" {
			continue
		}
		kept := entries(n.must(200, http.MethodGet, "/sources/"+test.of.id+"/requests", nil))
		if len(kept) == 0 || kept[0]["cause"] != test.code {
			t.Errorf("%s: kept is %v", test.code, kept)
		}
	}
	slow := n.newProvider("github", `{"rate_limit":{"per_second":1}}`)
	got := reply{}
	for i := 0; got.status != http.StatusTooManyRequests; i++ {
		got = slow.do(push(slow, fmt.Sprint(i)))
	}
	if got.header.Get("Retry-After") != "1" || got.header.Get("RateLimit-Limit") != "1" || !strings.Contains(got.body, `"rate_limited"`) {
		t.Errorf("%v %s", got.header, got.body)
	}
}

// What is signed over the address is proven against the one that is configured,
// and never against what a proxy or the sender says.
func TestIngestSignedAddress(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	const form = "MessageSid=SM1&Body=hi"
	send := func(name string, p provider, signedFor string, status int) {
		at := p
		at.url = signedFor
		request := at.request("/sms?a=1", form)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		made := p.raw("POST", "/sms?a=1", form, request.Header)
		made.Header.Set("X-Forwarded-Host", "forwarded.example")
		made.Header.Set("X-Forwarded-Proto", "https")
		if got := p.do(made); got.status != status {
			t.Errorf("%s: %d %s, want %d", name, got.status, got.body, status)
		}
	}
	plain, public := n.newProvider("twilio", ""), n.newProvider("twilio", `{"public_url":"https://hooks.example/in"}`)
	send("its own address", plain, plain.url, 200)
	send("what a proxy says", plain, strings.Replace(plain.url, plain.tenant.url, "https://forwarded.example", 1), 401)
	send("the public address", public, "https://hooks.example/in", 200)
	send("its own address, which is not public", public, public.url, 401)
}
