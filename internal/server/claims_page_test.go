package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// claimKey claims a key of a scope for a lease, and returns the claim's id.
func (n *tenant) claimKey(scope, key, lease string) string {
	n.t.Helper()
	return text(n.must(201, http.MethodPost, "/claims", object{"scope": scope, "key": key, "lease": lease, "holder": "worker <b>1</b>"}), "id")
}

// endLease has the leases of claims be over, as they are when their holders died.
func (n *tenant) endLease(ids ...string) {
	n.t.Helper()
	for _, text := range ids {
		id, err := gateway.ParseID[gateway.ClaimID](text)
		if err != nil {
			n.t.Fatal(err)
		}
		_, err = n.pool.Exec(n.t.Context(), `UPDATE claims SET lease_expires_at = clock_timestamp() - interval '1 minute' WHERE id = $1`, id)
		if err != nil {
			n.t.Fatal(err)
		}
	}
}

// claimsListed are the keys of the list's rows, and how each stands.
func (p page) claimsListed() (rows []string) {
	p.t.Helper()
	for _, row := range p.Find("#claims tbody tr").EachIter() {
		rows = append(rows, strings.TrimSpace(row.Find("a.cell").Text())+" "+row.Find(".badge").AttrOr("data-s", ""))
	}
	return rows
}

// onceOver is the text of an element without the space that is only in the
// markup.
func (p page) onceOver(selector string) string {
	return strings.Join(strings.Fields(p.Find(selector).Text()), " ")
}

func TestClaimsPageIsEmptyAtFirst(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.get(w.home + "/claims")
	p.wantStatus(http.StatusOK)
	p.wantText("#claims .empty", "Nothing was claimed yet")
	if p.Find("#claim-example").Length() != 1 || p.Find("form.filters").Length() != 0 || p.Find("#work").Length() != 0 {
		t.Error("an empty ledger shows more than how to begin")
	}
}

// Every state has its tab, its badge and its buttons.
func TestClaimsPage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	done, free := n.claimKey("mails", "done", "1h"), n.claimKey("mails", "free", "1h")
	n.must(200, http.MethodPost, "/claims/"+done+"/complete", object{"fence": 1, "result": object{"sent": true}})
	n.must(200, http.MethodPost, "/claims/"+free+"/release", object{"fence": 1})
	stuck := n.claimKey("charges", "stuck <i>", "1h")
	n.endLease(stuck)
	live := n.claimKey("charges", "live", "1h")
	for query, want := range map[string][]string{
		"":                  {"live in_progress", "stuck <i> lease_ended", "free released", "done done"},
		"state=lease_ended": {"stuck <i> lease_ended"},
		"state=in_progress": {"live in_progress"},
		"state=done":        {"done done"},
		"state=released":    {"free released"},
		"state=nonsense":    {"live in_progress", "stuck <i> lease_ended", "free released", "done done"},
		"scope=mails":       {"free released", "done done"},
		"scope=nothing":     nil,
		"q=live":            {"live in_progress"},
		"q=liv":             nil,
		"q=" + done:         {"done done"},
		"q=%00":             {"live in_progress", "stuck <i> lease_ended", "free released", "done done"},
		"after=" + stuck:    {"free released", "done done"},
	} {
		p := w.get(w.home + "/claims?" + query)
		p.wantStatus(http.StatusOK)
		if got := p.claimsListed(); !slices.Equal(got, want) {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
	}
	p := w.get(w.home + "/claims")
	if views := p.onceOver(".tabs"); views != "All Needs attention 1In progress 1Done Released 1" {
		t.Errorf("the tabs say %s", views)
	}
	if got := p.onceOver(".nav-count"); !strings.HasPrefix(got, "1") {
		t.Errorf("the navigation counts %q", got)
	}
	p.wantText("#lease-"+stuck, "ended 1")
	if p.Find("#lease-"+live+" .lease-bar").Length() != 1 || p.Find("#lease-"+done+" .lease-bar").Length() != 0 {
		t.Error("a bar shows where no lease lasts, or none where one does")
	}
	for id, want := range map[string]int{stuck: 1, live: 1, done: 0, free: 0} {
		if got := p.Find("#act-" + id + " a").Length(); got != want {
			t.Errorf("%s has %d buttons, want %d", id, got, want)
		}
	}
	if boxes := p.Find("#claims tbody .check"); boxes.Length() != 1 || boxes.AttrOr("value", "") != stuck {
		t.Errorf("%d can be chosen", boxes.Length())
	}
	watcher := w.newMember().get(w.home + "/claims")
	if watcher.Find("[href*='reclaim']").Length() != 0 || watcher.Find("#claims .check").Length() != 0 {
		t.Error("a member may reclaim")
	}
}

func TestClaimsComeInPages(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	var want []string
	for i := range 53 {
		n.claimKey("mails", strconv.Itoa(i), "1h")
		want = append([]string{strconv.Itoa(i) + " in_progress"}, want...)
	}
	first := w.get(w.home + "/claims?scope=mails")
	second := w.get(first.hrefs(".pager a[rel=next]")[0])
	if got := append(first.claimsListed(), second.claimsListed()...); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if back := second.hrefs(".pager a[rel=prev]"); len(back) != 1 || back[0] != w.home+"/claims?scope=mails" {
		t.Errorf("back leads to %v", back)
	}
}

// A search says in words what is known.
func TestSearchForAClaim(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	ids := map[string]string{}
	for _, key := range []string{"done", "free", "taken", "stuck", "live", "said"} {
		ids[key] = n.claimKey("mails", key, "1h")
	}
	n.endLease(ids["stuck"])
	n.must(200, http.MethodPost, "/claims/"+ids["done"]+"/complete", object{"fence": 1})
	n.must(200, http.MethodPost, "/claims/"+ids["free"]+"/release", object{"fence": 1})
	n.must(200, http.MethodPost, "/claims/"+ids["taken"]+"/reclaim", object{"fence": 1, "reason": "killed <b>"})
	n.must(200, http.MethodPost, "/claims/"+ids["said"]+"/resolve", object{"fence": 1, "reason": "by phone"})
	for key, wants := range map[string][]string{
		"done":  {"Done by worker <b>1</b> at"},
		"free":  {"Given back by worker <b>1</b> at", "It was not done."},
		"taken": {"Reclaimed by the API key test at", "Why: “killed <b>”"},
		"stuck": {"In doubt: the lease ended", "find out whether the work was done"},
		"live":  {"Worker <b>1</b> holds it."},
		"said":  {"Marked as done by the API key test at", "Why: “by phone”"},
		"lost":  {"Nothing is known of “lost”."},
	} {
		p := w.get(w.home + "/claims?q=" + key)
		for _, want := range wants {
			if got := p.onceOver("#answer"); !strings.Contains(got, want) {
				t.Errorf("%s is answered with %q, want %q", key, got, want)
			}
		}
		if link := p.Find("#answer a[href='" + w.home + "/claims/" + ids[key] + "']").Length(); ids[key] != "" && link != 1 {
			t.Errorf("the answer about %s does not lead to it", key)
		}
		if ids[key] == "" {
			continue
		}
		if note := w.get(w.home + "/claims/" + ids[key]).onceOver("#meaning"); !strings.Contains(note, wants[0]) {
			t.Errorf("the page of %s says %q", key, note)
		}
	}
	n.publish(`{"type":"order.created","subject":"lost","data":1}`)
	if events := w.get(w.home + "/claims?q=lost").hrefs("#answer a"); len(events) != 1 || w.get(events[0]).Find("#events tbody tr").Length() != 1 {
		t.Errorf("the events about it are at %v", events)
	}
	if to := w.get(w.home + "/search?q=" + ids["done"]).location; to != w.home+"/claims/"+ids["done"] {
		t.Errorf("the search leads to %q", to)
	}
}

// Without a script: a claim whose lease has ended is reclaimed for a reason, and
// whoever claims the key next gets it.
func TestReclaimOne(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	id := n.claimKey("mails", "k", "1h")
	n.endLease(id)
	list := w.get(w.home + "/claims?state=lease_ended")
	question := w.get(list.hrefs("#act-" + id + " a")[0])
	question.wantText("main h1", "Reclaim “k”?")
	if question.Find("[name=word]").Length() != 0 {
		t.Error("a word is asked for although the lease has ended")
	}
	if p := w.submit(question, "form.dialog", nil); p.status != http.StatusUnprocessableEntity || p.Find("#reason[aria-invalid]").Length() != 1 {
		t.Errorf("without a reason: %d", p.status)
	}
	w.follow(w.submit(question, "form.dialog", url.Values{"reason": {"killed"}, "fence": {"2"}})).wantToast("no longer as you saw it")
	w.follow(w.submit(question, "form.dialog", url.Values{"reason": {"killed"}, "fence": {"x"}})).wantToast("the form was not complete")
	p := w.follow(w.submit(question, "form.dialog", url.Values{"reason": {"killed"}}))
	p.wantToast("Reclaimed. The next who claims the key gets it.")
	p.wantText("h1 .badge", "Released")
	p.wantText("#holds", "Reclaimed by Person of Acme")
	p.wantText("#holds", "“killed”")
	w.follow(w.submit(question, "form.dialog", url.Values{"reason": {"killed"}})).wantToast("no longer as you saw it")
	w.get(w.home+"/claims/"+id+"/reclaim").wantText(".callout", "Nobody holds it")
	if next := n.must(201, http.MethodPost, "/claims", object{"scope": "mails", "key": "k", "lease": "1h"}); next["fence"] != 2.0 {
		t.Errorf("claimed again: %v", next)
	}
	n.publish(`{"type":"a.b","data":1}`) // before that, there is only how to begin
	w.get(w.home).wantText("#activity", "reclaimed clm_")
}

// A claim whose lease lasts is freed by who has typed the word.
func TestReclaimALiveOne(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	id := n.claimKey("mails", "k", "1h")
	question := w.get(w.home + "/claims/" + id + "/reclaim")
	question.wantText(".callout", "may be at work at this moment")
	for _, word := range []string{"", "Reclaim", "release"} {
		p := w.submit(question, "form.dialog", url.Values{"reason": {"why not"}, "word": {word}})
		if p.status != http.StatusUnprocessableEntity || p.Find("#word[aria-invalid]").Length() != 1 || p.Find("#reason").Text() == "" {
			t.Errorf("%q: %d, %q", word, p.status, p.Find("#reason").Text())
		}
	}
	w.follow(w.submit(question, "form.dialog", url.Values{"reason": {"why not"}, "word": {"reclaim"}})).wantToast("Reclaimed.")
	n.refused(409, "fence_stale", http.MethodPost, "/claims/"+id+"/complete", object{"fence": 1})
}

func TestMarkAsDone(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	id := n.claimKey("mails", "k", "1h")
	n.endLease(id)
	at := w.home + "/claims/" + id
	question := w.get(w.get(at).hrefs("a[href$='/resolve']")[0])
	if p := w.submit(question, "form.dialog", nil); p.status != http.StatusUnprocessableEntity {
		t.Errorf("without a reason: %d", p.status)
	}
	p := w.follow(w.submit(question, "form.dialog", url.Values{"reason": {"seen in the outbox"}}))
	p.wantToast("Marked as done.")
	p.wantText("#meaning", "Marked as done by Person of Acme")
	if p.Find("a[href$='/resolve'], a[href$='/reclaim']").Length() != 0 {
		t.Error("what is done can be done again")
	}
	w.follow(w.submit(question, "form.dialog", url.Values{"reason": {"again"}})).wantToast("no longer as you saw it")
	w.get(at+"/resolve").wantText(".callout", "It is done already.")
	n.must(200, http.MethodPost, "/claims", object{"scope": "mails", "key": "k", "lease": "1h"})
}

// Those that were chosen are reclaimed, then all that match, and what has ended
// since the question was asked is left alone.
func TestReclaimMany(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	var mails, charges []string
	for i := range 4 {
		mails = append(mails, n.claimKey("mails", strconv.Itoa(i), "1h"))
		charges = append(charges, n.claimKey("charges", strconv.Itoa(i), "1h"))
	}
	n.endLease(append(mails, charges...)...)
	list := w.get(w.home + "/claims?state=lease_ended")
	form := list.Find("#claims form[action$='/claims/reclaim']").AttrOr("action", "")
	w.get(form).wantText(".callout", "Choose at least one")
	question := w.get(form + "?" + url.Values{"id": {mails[0], charges[0], "nonsense"}}.Encode())
	question.wantText("main h1", "Reclaim 2 claims whose lease has ended?")
	if p := w.submit(question, "form.dialog", nil); p.status != http.StatusUnprocessableEntity || p.Find("form.dialog [name=id]").Length() != 2 {
		t.Errorf("without a reason: %d", p.status)
	}
	w.follow(w.submit(question, "form.dialog", url.Values{"reason": {"killed"}})).wantToast("Reclaimed 2 claims.")
	w.follow(w.submit(question, "form.dialog", url.Values{"reason": {"killed"}})).wantToast("none of them has ended any more")
	scoped := w.get(w.home + "/claims?scope=charges")
	question = w.get(scoped.hrefs(".head a[href*='/claims/reclaim?']")[0])
	question.wantText("form.dialog footer", "Reclaim 3")
	late := n.claimKey("charges", "late", "1h")
	id, err := gateway.ParseID[gateway.ClaimID](late)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.pool.Exec(t.Context(), `UPDATE claims SET lease_expires_at = clock_timestamp() WHERE id = $1`, id); err != nil {
		t.Fatal(err)
	}
	w.follow(w.submit(question, "form.dialog", url.Values{"reason": {"killed"}})).wantToast("Reclaimed 3 claims.")
	if got := w.get(w.home + "/claims?state=lease_ended").claimsListed(); len(got) != 4 || got[0] != "late lease_ended" {
		t.Errorf("left are %q", got)
	}
	w.newMember().post(form, url.Values{"all": {"1"}, "reason": {"x"}}).wantStatus(http.StatusForbidden)
	if got := pgtest.Count(t, n.pool, `SELECT count(*) FROM audit_log WHERE action = 'claim.reclaim'`); got != 5 {
		t.Errorf("%d entries of the audit log", got)
	}
}

// How long work takes stands beside its lease, with a warning when that is
// short.
func TestHowLongWorkTakes(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	for i, scope := range []string{"quick", "slow", "slow", "open"} {
		id := n.claimKey(scope, strconv.Itoa(i), "10s")
		if scope != "open" {
			n.must(200, http.MethodPost, "/claims/"+id+"/complete", object{"fence": 1})
		}
	}
	if _, err := n.pool.Exec(t.Context(), `UPDATE claim_holds SET claimed_at = ended_at - interval '9 s' WHERE scope = 'slow'`); err != nil {
		t.Fatal(err)
	}
	p := w.get(w.home + "/claims")
	rows := p.Find("#work tbody tr")
	if rows.Length() != 2 || !strings.HasPrefix(strings.TrimSpace(rows.First().Text()), "slow") || rows.First().Find(".text-warn").Length() != 1 || rows.Last().Find(".text-warn").Length() != 0 {
		t.Errorf("%s", p.onceOver("#work"))
	}
	p.wantText("#work .callout", "nearly as long as its lease")
	if got := w.get(w.home + "/claims?scope=quick"); got.Find("#work tbody tr").Length() != 1 || got.Find("#work .callout").Length() != 0 {
		t.Errorf("of one scope: %s", got.onceOver("#work"))
	}
}

// The stream of a page of claims tells of new ones, and of those that change.
func TestClaimsAreLive(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.claimKey("mails", "before", "1h")
	stream := w.get(w.home+"/claims").Find("body").AttrOr("data-stream", "")
	if !strings.Contains(stream, "?claims=") {
		t.Fatalf("the page listens at %q", stream)
	}
	l := w.listenAt(t, stream+fmt.Sprintf("&since=%d", w.clock.Now().UnixMicro()))
	id := n.claimKey("mails", "k", "2h")
	claims, ledger := l.ledger()
	if claims != 1 || ledger == 0 {
		t.Errorf("of a new one is told %d, %d", claims, ledger)
	}
	n.must(200, http.MethodPost, "/claims/"+id+"/extend", object{"fence": 1, "lease": "3h"})
	if claims, now := l.ledger(); claims != 1 || now == 0 || now == ledger {
		t.Errorf("of its change is told %d, %d", claims, now)
	}
}
