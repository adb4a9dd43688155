package server_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/signature"
)

// copied is the command that a page offers to copy.
func (p page) copied() string { return p.Find("#attempts [data-copy^=curl]").AttrOr("data-copy", "") }

// headerOf is the value of a header of a command.
func headerOf(command, name string) string {
	found := regexp.MustCompile(`-H '` + name + `: ([^']*)'`).FindStringSubmatch(command)
	if found == nil {
		return ""
	}
	return found[1]
}

// signer is an account with one delivery, which failed.
func signer(t *testing.T) (w *browser, attempt object, path string) {
	t.Helper()
	w = newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "e", "headers": object{"X-Token": "sesame"}})
	attempt = n.must(200, http.MethodPost, "/endpoints/e/test", nil)
	return w, attempt, w.home + "/deliveries/" + text(attempt, "delivery_id")
}

// An operator has the command signed at that moment, once, and the audit log
// tells.
func TestAttemptIsSignedAsACommand(t *testing.T) {
	t.Parallel()
	w, a, path := signer(t)
	n := w.tenant()
	p := w.get(path)
	if command := p.copied(); command != "" {
		t.Errorf("it is copied unsigned: %s", command)
	}
	form := "#attempts form[action='" + path + "/sign']"
	answer := w.submit(p, form, nil)
	if want := path + "?attempt=1#" + text(a, "id"); answer.location != want {
		t.Errorf("it leads to %s, want %s", answer.location, want)
	}
	p = w.follow(answer)
	p.wantToast("Signed.")
	p.wantText("#attempts", "receivers accept it for about 5 minutes")
	if cache := p.header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("it may be stored: %q", cache)
	}
	command := p.copied()
	for _, want := range []string{"curl -X POST '" + somewhere + "'", "-H 'Content-Type: application/json'", "-H 'X-Token: [redacted]'", "-H 'Idempotency-Key: " + text(a, "delivery_id") + "'"} {
		if !strings.Contains(command, want) {
			t.Errorf("%s\nhas no %s", command, want)
		}
	}
	n.wantSigned(command, text(a, "event_id"))
	if strings.Contains(p.text, "sesame") {
		t.Error("the page has the endpoint's secret")
	}
	if again := w.get(path); again.copied() != "" {
		t.Error("it is shown twice")
	}
	if log := w.audited(n.account, text(a, "delivery_id")); !slices.Equal(log, []string{"delivery.sign attempt 1"}) {
		t.Errorf("the audit log says %q", log)
	}
	w.get(w.home+"/events/"+text(a, "event_id")).wantText("#timeline", "Signed as cURL")
}

// wantSigned checks the signature of a command that sends an event to the
// endpoint e.
func (n *tenant) wantSigned(command, event string) {
	n.t.Helper()
	secrets := entries(n.must(200, http.MethodGet, "/endpoints/e/secrets", nil))
	key, err := signature.ParseSigningKey(text(secrets[0], "secret"))
	if err != nil {
		n.t.Fatal(err)
	}
	unix, err := strconv.ParseInt(headerOf(command, "Webhook-Timestamp"), 10, 64)
	if err != nil || headerOf(command, "Webhook-Id") != event {
		n.t.Fatalf("%s: %v", command, err)
	}
	body := n.call(http.MethodGet, "/events/"+event+"/payload", nil).text
	want := signature.Sign([]signature.SigningKey{key}, event, unix, body)
	if got := headerOf(command, "Webhook-Signature"); got != want || !strings.HasSuffix(command, "--data-raw '"+string(body)+"'") {
		n.t.Errorf("%s\nwant the signature %s of %s", command, want, body)
	}
}

func TestSigningIsRefused(t *testing.T) {
	t.Parallel()
	w, a, path := signer(t)
	for attempt, why := range map[string]string{"": "not complete", "x": "not complete", "0": "no such attempt", "2": "no such attempt", "99999999": "no such attempt"} {
		w.follow(w.post(path+"/sign", url.Values{"attempt": {attempt}})).wantToast(why)
	}
	member := w.newMember()
	p := member.get(path)
	if p.Find("form[action$='/sign']").Length() != 0 || !strings.Contains(p.copied(), "curl -X POST '"+somewhere+"'") {
		t.Errorf("a member is shown %s", p.copied())
	}
	if command := p.copied(); headerOf(command, "Webhook-Signature")+headerOf(command, "Webhook-Timestamp") != "" {
		t.Errorf("a member gets a signature: %s", command)
	}
	member.post(path+"/sign", url.Values{"attempt": {"1"}}).wantStatus(http.StatusForbidden)
	w.tenant().must(204, http.MethodDelete, "/endpoints/e", nil)
	w.follow(w.post(path+"/sign", url.Values{"attempt": {"1"}})).wantToast("its endpoint was deleted")
	if w.get(path).Find("form[action$='/sign']").Length() != 0 {
		t.Error("what was deleted can be signed for")
	}
	w.tenant().must(204, http.MethodDelete, "/events/"+text(a, "event_id")+"/payload", nil)
	w.follow(w.post(path+"/sign", url.Values{"attempt": {"1"}})).wantToast("Not signed")
}

// A large payload, or one that is no text, is read from a file, which the page
// leads to.
func TestCommandReadsALargePayloadFromAFile(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "e"})
	event := text(n.must(202, http.MethodPost, "/events", object{"type": "order.created", "data": strings.Repeat("x", 5000)}), "id")
	w.process(t, event)
	p := w.get(w.home + "/events/" + event)
	if command := p.Find("[data-copy^=curl]").AttrOr("data-copy", ""); !strings.HasPrefix(command, "curl -X POST '"+somewhere+"'") || !strings.HasSuffix(command, "--data-binary '@"+event+".json'") {
		t.Errorf("%s", command)
	}
}
