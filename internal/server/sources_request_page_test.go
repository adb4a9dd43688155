package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// pushTo sends a push that is signed with a secret.
func (w *browser) pushTo(address, secret, delivery, body string) answer {
	w.t.Helper()
	return w.bundle.send(w.t, http.MethodPost, address, body,
		"X-GitHub-Event", "push", "X-GitHub-Delivery", delivery, "X-Hub-Signature-256", sign(secret, body))
}

// firstRequest is the page of the newest request that a source's page lists.
func (w *browser) firstRequest(source page) page {
	w.t.Helper()
	return w.get(w.get(pathOf(source)).Find("#requests tbody a").First().AttrOr("href", "/"))
}

// A refused request says what was read, what was wrong and what to do, and is
// taken in once that is done, by who may.
func TestRefusedRequestIsMendedAndAccepted(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	source := w.addSource("github", url.Values{"name": {"Deploys"}, "secret": {"before"}})
	const body = `{"ref":"refs/heads/main"}`
	w.pushTo(source.ingestURL(), "after", "d-1", body)
	p := w.firstRequest(source)
	p.wantText("#why", "made with another secret")
	p.wantText("#why", "X-Hub-Signature-256")
	p.wantText("#next", "Webhook secret")
	for _, hidden := range []string{"before", sign("before", body)} {
		if strings.Contains(p.Find("main").Text(), hidden) {
			t.Errorf("the page shows %q", hidden)
		}
	}
	visitor := w.newMember()
	seen := visitor.get(p.path)
	seen.wantText("#next", "Webhook secret")
	if seen.Find("a[href$='/accept'], #next .actions").Length() != 0 {
		t.Error("who may only look is offered what they cannot do")
	}
	if got := visitor.post(p.path+"/accept", url.Values{"override": {"mine"}}); got.status != http.StatusForbidden && got.status != http.StatusNotFound {
		t.Errorf("who may only look accepts: %d", got.status)
	}

	ask := w.fragment(p.path + "/accept")
	ask.wantText(".callout", "not proven")
	unreasoned := w.submit(w.get(p.path+"/accept"), "form.dialog", url.Values{})
	unreasoned.wantStatus(http.StatusUnprocessableEntity)
	if unreasoned.errorBeside("override") == "" {
		t.Error("nothing asks for a reason")
	}
	w.follow(w.submit(w.get(pathOf(source)+"/rotate"), "form.dialog", url.Values{"secret": {"after"}, "overlap": {"1h"}}))
	ask = w.get(p.path + "/accept")
	if ask.Find("#override").Length() != 0 {
		t.Error("a reason is asked for what is proven")
	}
	done := w.follow(w.submit(ask, "form.dialog", nil))
	done.wantToast("Accepted")
	done.wantText("#accepted", "Person of Acme")
	if done.Find("#next").Length() != 0 || done.Find("a[href$='/accept']").Length() != 0 || done.Find("#reason").Length() != 0 {
		t.Error("what is done is offered again")
	}
	event := w.get(done.Find(".page-head a[href*='/events/'], main a[href*='/events/evt']").First().AttrOr("href", "/"))
	event.wantText("#request", "Accepted late")
	event.wantText("#request", "wrong signature")
	steps := strings.Join(strings.Fields(event.Find("main").Text()), " ")
	refused, taken, proven := strings.Index(steps, "Refused: wrong signature"), strings.Index(steps, "Accepted late By Person of Acme"), strings.Index(steps, "Signature verified")
	if refused < 0 || taken < refused || proven < taken {
		t.Errorf("the timeline does not tell what happened: %s", steps)
	}
	if back := event.hrefs("#request a"); len(back) != 1 || back[0] != p.path {
		t.Errorf("the event leads to %v", back)
	}
	again := w.follow(w.post(p.path+"/accept", url.Values{"override": {"x"}}))
	again.wantToast("event already")
	w.get(w.home).wantText("main", "accepted the refused request")
}

func TestRequestIsAcceptedUnprovenForAReason(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	source := w.addSource("github", url.Values{"name": {"Deploys"}, "secret": {"before"}})
	w.pushTo(source.ingestURL(), "other", "d-1", `{"ref":"x"}`)
	p := w.firstRequest(source)
	done := w.follow(w.submit(w.get(p.path+"/accept"), "form.dialog", url.Values{"override": {"Confirmed by <b>mail</b>"}}))
	done.wantText("#reason", "Confirmed by <b>mail</b>")
	w.get(pathOf(source)).wantText("#requests", "Accepted late")

	part := w.tenant().keepPartOf(idOf(source))
	p = w.get(pathOf(source) + "/requests/" + part)
	p.wantText("#next", "Only the first part")
	if p.Find("a[href$='/accept']").Length() != 0 {
		t.Error("a part of a request can be accepted")
	}
	w.follow(w.post(p.path+"/accept", url.Values{"override": {"x"}})).wantToast("Only a part")
}

// One request with several events: each leads to the others and to the whole.
func TestEventsOfOneRequest(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	const state = "a long random state"
	source := w.addSource("microsoft_graph", url.Values{"name": {"Mail"}, "secret": {state}})
	body := `{"value":[{"subscriptionId":"s1","clientState":"` + state + `","changeType":"created","resource":"users/1","id":"a"},` +
		`{"subscriptionId":"s1","clientState":"` + state + `","changeType":"updated","resource":"users/2","id":"b"}]}`
	got := b.send(t, http.MethodPost, source.ingestURL(), body, "Content-Type", "application/json")
	if got.StatusCode/100 != 2 {
		t.Fatalf("%d %s", got.StatusCode, got.text)
	}
	ids := strings.Fields(got.Header.Get("Rowlock-Event-Id"))
	if len(ids) != 2 {
		t.Fatalf("events %v", ids)
	}
	p := w.get(w.home + "/events/" + ids[0])
	p.wantText("#request", "One of 2 events of one request")
	if p.Find("#request a[href$='"+ids[1]+"']").Length() != 1 || p.Find("#request [aria-current]").Length() != 1 {
		t.Errorf("the other one is not there: %s", p.Find("#request").Text())
	}
	whole := w.get(w.home + "/events/" + ids[0] + "/request")
	if whole.status != http.StatusOK || whole.text != body {
		t.Errorf("the whole request: %d %s", whole.status, whole.text)
	}
	again := w.get(w.home + "/events/" + ids[1])
	again.wantText("#request", "this one")
}

// A source that has been shaken hands with waits on, and all is well.
func TestSourceWaitsAfterAHandshake(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	source := w.addSource("microsoft_graph", url.Values{"name": {"Mail"}, "secret": {"a long random state"}})
	if got := b.send(t, http.MethodPost, source.ingestURL()+"?validationToken=tok+en", ""); string(got.text) != "tok en" {
		t.Fatalf("%d %q", got.StatusCode, got.text)
	}
	p := w.get(pathOf(source))
	p.wantText("#waiting", "The handshake was answered")
	r := w.firstRequest(source)
	r.wantText("#why", "Nothing is to be done")
	if r.Find("a[href$='/accept'], #next").Length() != 0 {
		t.Error("a handshake can be accepted")
	}
	b.send(t, http.MethodPost, source.ingestURL(), "{}")
	w.get(pathOf(source)).wantText("#waiting", "newest request was refused")
	if n := w.get(pathOf(source)).Find("#waiting li[data-done]").Length(); n != 2 {
		t.Errorf("%d steps are done", n)
	}
}

// A check of the address that was refused is told as one, and is no event that
// could be accepted.
func TestRefusedCheckOfTheAddress(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	source := w.addSource("meta", url.Values{"name": {"Pages"}, "secret": {strings.Repeat("a", 32)}, "verify_token": {"mine"}})
	if got := b.send(t, http.MethodGet, source.ingestURL()+"?hub.mode=subscribe&hub.verify_token=other&hub.challenge=1", ""); got.StatusCode != http.StatusForbidden {
		t.Fatalf("%d %s", got.StatusCode, got.text)
	}
	p := w.firstRequest(source)
	p.wantText("h1", "Refused handshake")
	p.wantText("#next", "choose “Verify and save” there again")
	if p.Find("a[href$='/accept'], a[href$='/rotate']").Length() != 0 || p.Find("#next a[href$='#verify_token']").Length() != 1 {
		t.Errorf("what is offered: %s", p.Find("main").Text())
	}
	w.follow(w.post(p.path+"/accept", url.Values{"override": {"mine"}})).wantToast("can be no event")
	n := w.tenant()
	n.refused(409, "not_an_event", http.MethodPost, strings.TrimPrefix(p.path, w.home)+"/accept", object{"override": "mine"})
}

// The secret of another webhook is taken once the source is told to, from where
// the refused one is shown.
func TestSecretOfAnotherWebhook(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	source := w.addSource("asana", url.Values{"name": {"Tasks"}})
	offer := func(secret string) int {
		return b.send(t, http.MethodPost, source.ingestURL(), "", "X-Hook-Secret", secret).StatusCode
	}
	if offer(strings.Repeat("a", 32)) != http.StatusOK || offer(strings.Repeat("b", 32)) != http.StatusUnauthorized {
		t.Fatal("not the first secret alone was taken")
	}
	p := w.firstRequest(source)
	p.wantText("#why", "Asana offered the secret of another webhook. This source takes one only when told to.")
	if p.Find("a[href$='/accept'], a[href$='/rotate']").Length() != 0 {
		t.Errorf("what is offered: %s", p.Find("main").Text())
	}
	w.follow(w.submit(p, "#next form", nil)).wantToast("next secret")
	w.get(p.path).wantText("#next", "waits for a secret now")
	if offer(strings.Repeat("b", 32)) != http.StatusOK || w.get(pathOf(source)).Find("#secrets [data-s='current']").Length() != 2 {
		t.Error("the second secret was not taken")
	}
}

// A token that has to be pasted back is shown where it came, and the page says so.
func TestTokenThatGoesBack(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	source := w.addSource("notion", url.Values{"name": {"Notes"}})
	b.send(t, http.MethodPost, source.ingestURL(), `{"verification_token":"secret_tok_abc"}`)
	w.get(pathOf(source)).wantText("#token", "paste it at Notion under “Verify”")
	p := w.firstRequest(source)
	p.wantText("#why", "paste it at Notion under “Verify”")
	if p.Find("#why a").AttrOr("href", "") != pathOf(source)+"#secrets" {
		t.Error("it does not lead to the token")
	}
}

// What a request was refused for can be something else than its secret, which
// then stands in it.
func TestRefusedRequestHidesTheSecretInIt(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	const state = "a long random state"
	source := w.addSource("microsoft_graph", url.Values{"name": {"Mail"}, "secret": {state}})
	b.send(t, http.MethodPost, source.ingestURL(), `{"value":[{"clientState":"`+state+`"},{"clientState":"another"}]}`, "Content-Type", "application/json")
	p := w.firstRequest(source)
	p.wantText("#body", "another")
	p.wantText("h1", "Wrong secret")
	if strings.Contains(p.text, state) || strings.Contains(p.Find("#body").Text(), "the first") {
		t.Errorf("%s", p.Find("#body").Text())
	}
}

// The public address is the one to enter, and no member learns the other from it.
func TestPublicURLOfASource(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	source := w.addSource("github", url.Values{"name": {"Code"}, "secret": {"s"}})
	token := source.ingestURL()[strings.LastIndex(source.ingestURL(), "/")+1:]
	public := "https://edge.example.com/ingest/" + token
	p := w.follow(w.submit(w.get(pathOf(source)+"/edit"), "#source-form", url.Values{"public_url": {public}}))
	if got := p.Find("#waiting [data-copy]").AttrOr("data-copy", ""); got != public {
		t.Errorf("to copy is %q", got)
	}
	if got := w.get(w.home + "/sources").Find("#sources [data-copy='" + public + "']").Length(); got != 1 {
		t.Error("the list has another address")
	}
	member := w.newMember()
	for _, path := range []string{pathOf(source), w.home + "/sources"} {
		seen := member.get(path)
		if strings.Contains(seen.text, token) {
			t.Errorf("%s shows a member the token", path)
		}
		seen.wantText("main", "edge.example.com")
	}
}
