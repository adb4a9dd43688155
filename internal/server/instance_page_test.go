package server_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/store"
)

func TestInstanceAccountsPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	b.signedUp(t, "Other")
	p := owner.get("/instance/accounts")
	p.wantStatus(http.StatusOK)
	if p.Find("#accounts tbody tr").Length() != 2 || p.Find("#accounts a").Length() != 1 || p.Find("#accounts a[href='/a/acme']").Length() != 1 {
		t.Errorf("the list says %q", wordsOf(p))
	}
	owner.get("/instance/accounts?after=nonsense").wantStatus(http.StatusOK) // from the beginning
}

// Every row is on one page, however many there are.
func TestInstanceListsGoOn(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	const many = 50 + 3
	for range many {
		owner.post("/instance/invitations", url.Values{"email": {""}}).wantStatus(http.StatusSeeOther)
	}
	seen := map[string]bool{}
	path := "/instance/invitations"
	for range 3 {
		p := owner.get(path)
		p.wantStatus(http.StatusOK)
		for _, row := range p.Find("#invitations tbody a").EachIter() {
			seen[row.AttrOr("href", "")] = true
		}
		next := p.Find("nav.pager a[rel=next]")
		if next.Length() == 0 {
			if p.Find("nav.pager a[href='/instance/invitations']").Length() != 1 {
				t.Error("the last page does not lead back")
			}
			break
		}
		path = next.AttrOr("href", "")
	}
	if len(seen) != many {
		t.Errorf("%d invitations on the pages, want %d", len(seen), many)
	}
}

func TestInvitationsPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, signupAs(config.SignupInvite))
	owner := b.signedUp(t, "Acme")
	bad := owner.submit(owner.get("/instance/invitations"), "#invite", url.Values{"email": {"nobody"}})
	bad.wantStatus(http.StatusUnprocessableEntity)
	if bad.Find("main #email").AttrOr("value", "") != "nobody" || bad.Find("main #email").AttrOr("aria-invalid", "") != "true" {
		t.Error("the form lost the address, or does not say what is wrong")
	}
	p := owner.follow(owner.submit(owner.get("/instance/invitations"), "#invite", url.Values{"email": {"ada@example.com"}}))
	p.wantToast("Invitation created")
	link := p.Find("#fresh code").Text()
	path, ours := strings.CutPrefix(link, b.url)
	if !ours {
		t.Fatalf("the link is %q", link)
	}
	if again := owner.get("/instance/invitations"); strings.Contains(again.text, link) {
		t.Error("the link is shown twice")
	}
	ada := b.newBrowser(t)
	sent := ada.submit(ada.get(ada.get(path).location), "form[action='/signup']", url.Values{"name": {"Ada"}, "password": {passphrase}, "account": {"Ada's"}})
	sent.wantStatus(http.StatusSeeOther) // with the address that the form held
	p = owner.get("/instance/invitations")
	if got := wordsOf(p); !strings.Contains(got, "Used") || p.Find("#invitations a").Length() != 0 {
		t.Errorf("the list says %q", got)
	}
	b.newBrowser(t).get(path).wantStatus(http.StatusNotFound)
}

func TestTakeAnInvitationBack(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	p := owner.follow(owner.submit(owner.get("/instance/invitations"), "#invite", nil))
	path := strings.TrimPrefix(p.Find("#fresh code").Text(), b.url)
	end := p.Find("#invitations a").AttrOr("href", "")
	if q := owner.fragment(end); q.Find("form.dialog").Length() != 1 || q.Find("nav").Length() != 0 {
		t.Errorf("the question is %s", q.text)
	}
	owner.follow(owner.submit(owner.get(end), "form.dialog", nil)).wantToast("is taken back")
	owner.follow(owner.post(end, nil)).wantToast("over already")
	b.newBrowser(t).get(path).wantStatus(http.StatusNotFound)
}

func TestMailPages(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	b.newBrowser(t).post("/forgot", url.Values{"email": {owner.email}}).wantStatus(http.StatusSeeOther)
	list := owner.get("/instance/mail")
	if list.Find("#mails tbody tr").Length() != 1 || !strings.Contains(list.Find("#mode").Text(), "sends no mail") || strings.Contains(list.text, "/reset/") {
		t.Fatalf("the list says %q", wordsOf(list))
	}
	m := owner.get(list.Find("#mails a").AttrOr("href", ""))
	m.wantStatus(http.StatusOK)
	if m.Find("main form").Length() != 0 {
		t.Error("a mail that nobody sends can be tried again")
	}
	if !strings.Contains(m.Find("#body").Text(), "/reset/") {
		t.Errorf("the mail says %q", wordsOf(m))
	}
	owner.post(list.Find("#mails a").AttrOr("href", "")+"/retry", nil).wantStatus(http.StatusSeeOther)
	owner.get("/instance/mail/" + gateway.MailID{}.String()).wantStatus(http.StatusNotFound)
}

// withMailServer is a change of a bundle's dependencies: mails are sent, and
// nobody takes them.
func withMailServer(t *testing.T) func(*server.Deps) {
	t.Helper()
	return func(d *server.Deps) {
		var err error
		out := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
		t.Cleanup(out.CloseIdle)
		d.Notify, err = notify.New(notify.Options{Store: d.Store, Clock: clock.New(), Log: discard(), URL: "smtp://127.0.0.1:1", BaseURL: "https://hooks.example.com", Egress: out})
		if err != nil {
			t.Fatal(err)
		}
		d.MailOut = true
	}
}

func TestAFailedMailIsTriedAgain(t *testing.T) {
	t.Parallel()
	var mails *notify.Service
	b := newBundle(t, withPages, withMailServer(t), func(d *server.Deps) { mails = d.Notify })
	owner := b.signedUp(t, "Acme")
	id := gateway.MailID(b.clock.NewID())
	err := b.store.InTx(t.Context(), func(tx store.Tx) error {
		return tx.AddMail(t.Context(), store.Mail{ID: id, To: "ada@example.com", Subject: "<script>", Body: "Hello\n" + b.url + "/x\n"}, true)
	})
	if err != nil {
		t.Fatal(err)
	}
	path := "/instance/mail/" + id.String()
	if p := owner.get(path); !strings.Contains(wordsOf(p), "Waiting") || p.Find("main form").Length() != 0 || p.Find("#body a").Length() != 1 {
		t.Errorf("before: %q", wordsOf(p))
	}
	if err := mails.Send(t.Context(), id); err == nil {
		t.Fatal("somebody took the mail")
	}
	p := owner.get(path)
	if !strings.Contains(wordsOf(p), "Retrying") || p.Find("#failure").Length() != 1 {
		t.Errorf("after a try: %q", wordsOf(p))
	}
	owner.follow(owner.submit(p, "main form", nil)).wantToast("tried again now")
	m, err := b.store.MailByID(t.Context(), id)
	if err != nil || m.DueAt == nil || m.DueAt.After(b.clock.Now()) {
		t.Errorf("the mail is due %v, %v", m.DueAt, err)
	}
	if err := b.store.MailSent(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if p := owner.get(path); p.Find("main form").Length() != 0 || !strings.Contains(p.Find("#body").Text(), "forgotten") {
		t.Errorf("once sent: %q", wordsOf(p))
	}
	owner.follow(owner.post(path+"/retry", nil)).wantToast("nothing to try")
}

// A message for a channel is tried again also where no mail is sent.
func TestAFailedMessageIsTriedAgainWithoutMail(t *testing.T) {
	t.Parallel()
	var mails *notify.Service
	b := newBundle(t, withPages, func(d *server.Deps) { mails = d.Notify })
	owner := b.signedUp(t, "Acme")
	of, id := owner.tenant().account, gateway.MailID(b.clock.NewID())
	err := b.store.InTx(t.Context(), func(tx store.Tx) error {
		if _, err := tx.SetAlertChannel(t.Context(), of, b.clock.NewID(), "https://127.0.0.1:1/sesame", "127.0.0.1:1", []gateway.AlertKind{gateway.AlertOperationDone}); err != nil {
			return err
		}
		return tx.AddMail(t.Context(), store.Mail{ID: id, To: "127.0.0.1:1", Subject: "News", Body: "Hello", Channel: &of}, true)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := mails.Send(t.Context(), id); err == nil {
		t.Fatal("somebody took the message")
	}
	p := owner.get("/instance/mail/" + id.String())
	if strings.Contains(p.text, "sesame") {
		t.Error("the address of the channel is shown")
	}
	owner.follow(owner.submit(p, "main form", nil)).wantToast("tried again now")
}
