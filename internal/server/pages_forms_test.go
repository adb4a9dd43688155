package server_test

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/store"
)

// sentForm is a form of a page: where it is posted, and what a browser would
// send of it as it is.
type sentForm struct {
	page, action string
	values       url.Values
	// shown are the fields that a person sees.
	shown []string
}

// readable tells that a link leads to another page of the product.
func readable(href string) bool {
	return strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "/api/") && !strings.HasPrefix(href, "/static/")
}

// kindOfPage is the same for two addresses of the same page, whatever it is
// narrowed to: its path, and which parameters it has. Kinds of sources and
// states of failures have pages of their own.
func kindOfPage(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return href
	}
	names := slices.Sorted(maps.Keys(u.Query()))
	return u.Path + "?" + strings.Join(names, "&") + u.Query().Get("kind") + u.Query().Get("state")
}

// readAll follows every link from some pages on and returns every form that it
// finds on the way. Every link has to lead somewhere.
func (w *browser) readAll(from ...string) []sentForm {
	w.t.Helper()
	var forms []sentForm
	seen := map[string]bool{}
	for len(from) > 0 {
		href := from[0]
		from = from[1:]
		href, _, _ = strings.Cut(href, "#")
		if seen[kindOfPage(href)] {
			continue
		}
		seen[kindOfPage(href)] = true
		p := w.get(href)
		if p.status == http.StatusSeeOther {
			from = append(from, p.location)
			continue
		}
		if p.status != http.StatusOK {
			w.t.Errorf("a link leads to %s, which answers %d", href, p.status)
		}
		forms = append(forms, p.forms()...)
		for _, a := range p.Find("a[href]").EachIter() {
			if to := a.AttrOr("href", ""); readable(to) {
				from = append(from, to)
			}
		}
	}
	return forms
}

// forms are those of a page that are posted.
func (p page) forms() []sentForm {
	var forms []sentForm
	p.Find("form[method='post']").Each(func(_ int, form *goquery.Selection) {
		f := sentForm{page: p.path, action: form.AttrOr("action", ""), values: fieldsOf(form)}
		form.Find("input, select, textarea").Each(func(_ int, field *goquery.Selection) {
			if field.AttrOr("type", "") != "hidden" && !has(field, "disabled") {
				f.shown = append(f.shown, field.AttrOr("name", ""))
			}
		})
		forms = append(forms, f)
		for _, button := range form.Find("button[formaction]").EachIter() {
			other := f
			other.action, _, _ = strings.Cut(button.AttrOr("formaction", ""), "#")
			forms = append(forms, other)
		}
	})
	return forms
}

// empty is the form as somebody sends it who has entered nothing.
func (f sentForm) empty() url.Values {
	values := maps.Clone(f.values)
	for _, name := range f.shown {
		values.Del(name)
	}
	return values
}

// filled is the form as somebody sends it who has entered one text everywhere.
func (f sentForm) filled(text string) url.Values {
	values := f.empty()
	for _, name := range f.shown {
		values.Set(name, text)
	}
	return values
}

// wantTaken fails unless a form is answered with a redirect, or shown again
// with what is wrong.
func (f sentForm) wantTaken(p page) {
	p.t.Helper()
	switch p.status {
	case http.StatusSeeOther:
	case http.StatusOK: // the test console tries an empty request too, where nothing is to be signed
		if p.Find("#steps [role='status']").Length() != 1 {
			p.t.Errorf("%s of %s: nothing tells what came of it", f.action, f.page)
		}
	case http.StatusUnprocessableEntity:
		if p.Find("form[action='"+f.action+"'], form [formaction^='"+f.action+"#']").Length() == 0 {
			p.t.Errorf("%s of %s: the form is not shown again", f.action, f.page)
		}
		wrong := p.Find("[aria-invalid='true']")
		for _, field := range wrong.EachIter() {
			if p.Find("#"+strings.Fields(field.AttrOr("aria-describedby", "none"))[0]).Text() == "" {
				p.t.Errorf("%s of %s: nothing says what is wrong with %s", f.action, f.page, field.AttrOr("name", ""))
			}
		}
		if wrong.Length() == 0 && p.Find("main [role='alert']").Length() == 0 {
			p.t.Errorf("%s of %s: nothing is marked as wrong", f.action, f.page)
		}
	default:
		p.t.Errorf("%s of %s, sent with nothing of use: %d", f.action, f.page, p.status)
	}
}

// busy is an account in which every form has a reason to be there. It returns
// the token of a link to a new password.
func (w *browser) busy(t *testing.T) (token string) {
	t.Helper()
	n := w.tenant()
	world := w.newWorldOf(t, n)
	n.must(201, http.MethodPost, "/sources", object{"name": "Shop", "kind": "stripe", "secret": "whsec_0123456789abcdef"})
	notes := n.must(201, http.MethodPost, "/sources", object{"name": "Notes", "kind": "notion"})
	w.bundle.send(t, http.MethodPost, text(notes, "ingest_url"), `{"verification_token":"secret_tok_abc"}`)
	n.must(200, http.MethodPost, "/endpoints/billing/secrets/rotate", object{"overlap": "1h"})
	unwanted := n.publish(`{"type":"x.unwanted","data":1}`)
	n.must(200, http.MethodPatch, "/endpoints/billing", object{"event_types": []string{"order.*"}})
	waiting := n.publish(`{"type":"order.created","data":1}`)
	w.process(t, unwanted, waiting)
	n.must(200, http.MethodPost, "/endpoints/billing/resume", nil) // its lane has an alarm
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "gone"})
	n.must(200, http.MethodPost, "/endpoints/gone/test", nil)
	n.must(200, http.MethodPost, "/endpoints/gone/pause", nil)
	n.compareAll(n.uploaded("endpoint=gone&match=event&header=false", "text/csv", "evt_06h1m3v9c8x7k2q5n4t6w8y0za\n"))
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "seen"})
	n.must(200, http.MethodPost, "/endpoints/seen/test", nil)
	n.must(200, http.MethodPost, "/failures/dismiss", object{"endpoint": "seen"})
	n.endLease(n.claimKey("mails", "stuck", "1h"))
	n.postpone(world.ids["endpoints"])
	n.must(200, http.MethodPost, "/sources/"+world.ids["sources"]+"/pause", nil)
	n.must(200, http.MethodPut, "/sources/"+world.ids["sources"]+"/rule", object{"subject": "body.id"})
	w.post(w.home+"/events/views/new", url.Values{"name": {"Orders"}, "query": {"range=1h&subject=s&type=order.created"}}).wantStatus(http.StatusSeeOther)

	w.post(w.home+"/settings/alerts/channel", url.Values{"url": {"http://127.0.0.1:1/"}, "kinds": {"claim.doubtful"}}).wantStatus(http.StatusSeeOther)

	w.newMember()
	w.closing()
	other := w.newBrowser(t)
	other.submit(other.get("/login"), "main form", url.Values{"email": {w.email}, "password": {passphrase}}).wantStatus(http.StatusSeeOther)
	other.post("/forgot", url.Values{"email": {w.email}}).wantStatus(http.StatusSeeOther)
	mail := w.get(w.get("/instance/mail").Find("#mails a").AttrOr("href", ""))
	w.submit(w.get("/instance/invitations"), "#invite", nil).wantStatus(http.StatusSeeOther)
	_, token, _ = strings.Cut(mail.Find("#body p:contains('/reset/')").Text(), "/reset/")
	return token
}

// closing is another account of the person's, which is about to be deleted.
func (w *browser) closing() {
	w.t.Helper()
	made := w.follow(w.post("/accounts/new", url.Values{"name": {"Closing"}}))
	w.follow(w.post(made.path+"/settings/delete", url.Values{"name": {"Closing"}})).wantToast("to be deleted")
}

// postpone has what is due at an endpoint fail once and wait for an hour.
func (n *tenant) postpone(endpoint string) {
	n.t.Helper()
	id, err := gateway.ParseID[gateway.EndpointID](endpoint)
	if err != nil {
		n.t.Fatal(err)
	}
	lane, ok, err := n.store.AcquireLane(n.t.Context(), n.account, id, "postpones")
	if err != nil || !ok {
		n.t.Fatalf("acquire the lane: %t, %v", ok, err)
	}
	err = n.store.InTx(n.t.Context(), func(tx store.Tx) error {
		taken, err := tx.TakeDue(n.t.Context(), lane, 9)
		if err != nil || len(taken) == 0 {
			return errors.Join(err, errors.New("nothing was due"))
		}
		var results []store.Result
		for _, d := range taken {
			a := gateway.Attempt{
				DeliveryID: d.ID, N: d.N, AccountID: n.account, EndpointID: id, EventID: d.EventID, Trigger: d.Trigger,
				StartedAt: n.clock.Now(), Outcome: gateway.OutcomeRejected, StatusCode: http.StatusServiceUnavailable,
			}
			results = append(results, store.Result{Attempt: a, Status: gateway.DeliveryPending, NextAttemptAt: n.clock.Now().Add(time.Hour)})
		}
		_, err = tx.Record(n.t.Context(), lane, results)
		return err
	})
	if err != nil {
		n.t.Fatal(err)
	}
	if _, _, err := n.store.ReleaseLane(n.t.Context(), lane); err != nil {
		n.t.Fatal(err)
	}
}

// undelivered puts a mail there that the mail server did not take.
func (w *browser) undelivered(t *testing.T, deps server.Deps) {
	t.Helper()
	id := gateway.MailID(w.clock.NewID())
	err := w.store.InTx(t.Context(), func(tx store.Tx) error {
		return tx.AddMail(t.Context(), store.Mail{ID: id, To: "ada@example.com", Subject: "Hello", Body: "Hello\n"}, true)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := deps.Notify.Send(t.Context(), id); err == nil {
		t.Fatal("somebody took the mail")
	}
}

// Every form of the product, sent by somebody who entered nothing, who left
// everything out, or who entered what cannot be, is shown again with what is
// wrong, or leads on. Every link leads somewhere, and every form's route is on a page.
func TestEveryFormAnswers(t *testing.T) {
	t.Parallel()
	var deps server.Deps
	b := newBundle(t, withPages, withMailServer(t), func(d *server.Deps) { deps = *d })
	w, nobody, secured, halfway := b.signedUp(t, "Acme"), b.newBrowser(t), b.signedUp(t, "Second"), b.newBrowser(t)
	token := w.busy(t)
	w.beginTwoStep()
	secured.turnTwoStepOn()
	asked := halfway.logInHalf(secured.email)
	link := secured.askEmail("another@example.com")
	w.undelivered(t, deps)
	forms := w.readAll(w.home, w.home+"/events?status=no_endpoints", "/a/closing/settings", "/accounts", "/me/profile", "/instance/accounts", "/instance/invitations", "/instance/mail")
	invited := text(w.tenant().must(201, http.MethodPost, "/invitations", object{"role": "viewer"}), "url")
	entrance := nobody.readAll("/login", "/signup", "/forgot", "/reset/"+token, strings.TrimPrefix(invited, b.url))
	twoStep, code := slices.Concat(secured.get("/me/two-step/codes").forms(), secured.get("/me/two-step/off").forms(), secured.get(link).forms()), asked.forms()
	b.wantEveryRouteOnAPage(t, slices.Concat(forms, entrance, twoStep, code))
	for who, forms := range map[*browser][]sentForm{w: forms, nobody: entrance, secured: twoStep, halfway: code} {
		for _, f := range forms {
			if f.action == "/logout" {
				continue
			}
			f.wantTaken(who.post(f.action, f.empty()))
			f.wantTaken(who.post(f.action, url.Values{}))
			f.wantTaken(who.post(f.action, f.filled("a\x00\xff")))
			f.wantTaken(who.post(f.action, f.filled(strings.Repeat("x", 10_000))))
		}
	}
	w.post("/logout", nil).wantStatus(http.StatusSeeOther)
}

// wantEveryRouteOnAPage fails for a route that takes a form which no page has.
func (b *bundle) wantEveryRouteOnAPage(t *testing.T, forms []sentForm) {
	t.Helper()
	for _, r := range b.pageRoutes(t, "/") {
		if r.method != http.MethodPost || strings.HasPrefix(r.path, "/api/") || strings.HasPrefix(r.path, "/ingest/") {
			continue
		}
		pattern := regexp.MustCompile("^" + regexp.MustCompile(`:\w+`).ReplaceAllString(r.path, "[^/]+") + "$")
		if !slices.ContainsFunc(forms, func(f sentForm) bool { return pattern.MatchString(f.action) }) {
			t.Errorf("no page has a form for %s", r.path)
		}
	}
}
