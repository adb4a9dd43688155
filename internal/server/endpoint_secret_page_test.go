package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestRotateSecretOnThePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.addEndpoint(url.Values{"url": {somewhere}})
	path := pathOf(p)
	first := p.Find("#secrets code").First().Text()
	p = w.follow(w.submit(w.get(path+"/rotate"), `form[action$="/rotate"]`, url.Values{"overlap": {"1h"}}))
	p.wantToast("Copy it now, or reveal it again later.")
	p.wantText("#secrets", "Copy it now, or reveal it again later.")
	second := p.Find("#secrets li code").First().Text()
	if p.Find("#secrets li").Length() != 2 || !strings.HasPrefix(second, "whsec_") || second == first || strings.Contains(p.text, first) {
		t.Errorf("after rotating, secrets are %q", p.Find("#secrets").Text())
	}
	if left := p.Find("#secrets [data-left]").AttrOr("data-left", ""); left != "3600" && left != "3599" {
		t.Errorf("the older one signs for %s s", left)
	}
	question := w.get(path + "/rotate")
	if got := question.Find("form").Text(); !strings.Contains(got, "1 older secret still signs.") {
		t.Errorf("the question is silent about the older one: %q", got)
	}
	// A secret of one's own, and none kept.
	own := "whsec_" + strings.Repeat("QUJD", 10)
	p = w.submit(question, `form[action$="/rotate"]`, url.Values{"overlap": {"0s"}, "secret": {"whsec_short"}})
	p.wantStatus(http.StatusUnprocessableEntity)
	if p.Find("#secret-error").Length() != 1 || strings.Contains(p.text, "whsec_short") || p.Find(`#overlap option[selected]`).AttrOr("value", "") != "0s" {
		t.Error("a secret that is too short is not told of, or repeated, or the choice is lost")
	}
	p = w.follow(w.submit(question, `form[action$="/rotate"]`, url.Values{"overlap": {"0s"}, "secret": {own}}))
	if p.Find("#secrets li").Length() != 1 || p.Find("#secrets li code").Text() != own {
		t.Errorf("secrets are %q, want the one entered alone", p.Find("#secrets li").Text())
	}
	w.submit(question, `form[action$="/rotate"]`, url.Values{"overlap": {"1y"}}).wantStatus(http.StatusUnprocessableEntity)
	for range gateway.MaxLiveSecrets - 1 {
		w.submit(question, `form[action$="/rotate"]`, url.Values{"overlap": {"24h"}}).wantStatus(http.StatusSeeOther)
	}
	w.follow(w.submit(question, `form[action$="/rotate"]`, url.Values{"overlap": {"24h"}})).wantToast("10 secrets sign already")
}

func TestRevealAndEndSecretOnThePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.addEndpoint(url.Values{"url": {somewhere}})
	path := pathOf(p)
	first := p.Find("#secrets li code").Text()
	p = w.follow(w.submit(w.get(path+"/rotate"), `form[action$="/rotate"]`, nil))
	current, previous := p.Find("#secrets li").Eq(0).AttrOr("id", ""), p.Find("#secrets li").Eq(1).AttrOr("id", "")
	p = w.get(path)
	if strings.Contains(p.text, first) {
		t.Fatal("the page shows a secret that nobody asked for")
	}
	p = w.follow(w.submit(p, `form[action$="`+previous+`/reveal"]`, nil))
	p.wantToast("Revealed. It is noted in the account's activity.")
	if got := p.Find("#" + previous + " code").Text(); got != first {
		t.Errorf("revealed is %q, want %q", got, first)
	}
	if got := p.Find("#" + current + " code").Text(); strings.Contains(got, "whsec_") && !strings.Contains(got, "•") {
		t.Error("the other one is revealed too")
	}
	if p := w.get(path); strings.Contains(p.text, first) {
		t.Error("it is shown twice")
	}
	question := w.get(path + "/secrets/" + previous + "/extend")
	w.submit(question, `form[action$="/extend"]`, url.Values{"overlap": {"0s"}}).wantStatus(http.StatusUnprocessableEntity)
	p = w.follow(w.submit(question, `form[action$="/extend"]`, url.Values{"overlap": {"168h"}}))
	p.wantToast("Extended. It signs for ")
	if left := p.Find("#secrets [data-left]").AttrOr("data-left", ""); left != "604800" && left != "604799" {
		t.Errorf("the older one signs for %s s", left)
	}
	w.get(path + "/secrets/" + current + "/extend").wantStatus(http.StatusNotFound)
	w.follow(w.post(path+"/secrets/"+current+"/extend", url.Values{"overlap": {"1h"}})).wantToast("Not extended: this secret has no end.")
	p = w.follow(w.submit(w.get(path+"/secrets/"+previous+"/end"), `form[action$="/end"]`, nil))
	p.wantToast("Ended.")
	if p.Find("#secrets li").Length() != 1 {
		t.Error("it has not ended")
	}
	w.get(path + "/secrets/" + previous + "/end").wantStatus(http.StatusNotFound)
	w.follow(w.post(path+"/secrets/"+previous+"/reveal", url.Values{})).wantToast("This secret has ended.")
	w.follow(w.post(path+"/secrets/"+previous+"/extend", url.Values{"overlap": {"1h"}})).wantToast("Not extended: this secret has ended.")
	w.follow(w.post(path+"/secrets/"+current+"/end", url.Values{})).wantToast("Not ended")
	log := w.audited(w.tenant().account, idOf(p))
	if len(log) < 5 || log[2] != "endpoint.secret.reveal" ||
		log[3] != "endpoint.secret.extend "+previous+", overlap 168h0m0s" || !strings.HasPrefix(log[4], "endpoint.secret.end "+previous) {
		t.Errorf("the audit log says %q", log)
	}
}
