package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
)

// invite invites somebody on the page of members and returns the link's path,
// which is shown once.
func (w *browser) invite(email string, role gateway.Role) string {
	w.t.Helper()
	at := w.home + "/settings/members"
	p := w.follow(w.submit(w.get(at+"/invite"), "form.dialog", url.Values{"email": {email}, "role": {string(role)}}))
	link := p.Find("#fresh [data-copy]").AttrOr("data-copy", "")
	path, ok := strings.CutPrefix(link, w.url)
	if !ok || !strings.HasPrefix(path, "/invite/") {
		w.t.Fatalf("the link is %q", link)
	}
	if again := w.get(at); strings.Contains(again.text, path) {
		w.t.Error("the link is shown twice")
	}
	return path
}

// joinAs has somebody new join by a link.
func (w *browser) joinAs(link, name, email string) page {
	w.t.Helper()
	return w.submit(w.get(link), "#join", url.Values{"name": {name}, "email": {email}, "password": {passphrase}})
}

// Somebody is invited by mail, joins, is refused what their role does not allow,
// is given another role, and loses the account at once when they are removed.
func TestMembersComeAndGo(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	at := owner.home + "/settings/members"
	link := owner.invite("dana@example.com", gateway.RoleViewer)
	p := owner.get(at)
	if row := p.Find("#invited tbody tr").Text(); !strings.Contains(row, "dana@example.com") || !strings.Contains(row, "Viewer") || !strings.Contains(row, "Person of Acme") {
		t.Errorf("invited: %q", row)
	}
	dana := b.newBrowser(t)
	shown := dana.get(link)
	if shown.status != http.StatusOK || shown.Find("#email").AttrOr("value", "") != "dana@example.com" || !strings.Contains(shown.Find("main").Text(), "a viewer") {
		t.Errorf("the invitation says %q", shown.Find("main").Text())
	}
	if wrong := dana.joinAs(link, "Dana", "eve@example.com"); wrong.status != http.StatusUnprocessableEntity || wrong.errorBeside("email") == "" || wrong.Find("#name").AttrOr("value", "") != "Dana" {
		t.Errorf("with another address: %d", wrong.status)
	}
	p = dana.follow(dana.joinAs(link, "Dana <script>", "dana@example.com"))
	if p.path != owner.home {
		t.Errorf("joined, and at %s", p.path)
	}
	dana.home = owner.home

	refused := dana.get(dana.home + "/endpoints/new")
	refused.wantStatus(http.StatusForbidden)
	if text := refused.Find("main").Text(); !strings.Contains(text, "You are a viewer of “Acme”") || !strings.Contains(text, "An admin or an owner of the account can do it") {
		t.Errorf("refused with %q", text)
	}
	seen := dana.get(at)
	if seen.Find("#members tbody tr").Length() != 2 || seen.Find("#invited").Length() != 0 || seen.Find("main a[href$='/invite'], main a[href$='/role'], main a[href$='/remove']").Length() != 0 {
		t.Error("a viewer does not see the members, or is offered to change them")
	}
	if seen.Find("#roles th[aria-current]").Text() != "Viewer" || seen.Find("#roles tbody tr").Length() < 8 {
		t.Error("the page does not say what a viewer can do")
	}

	row := "#" + dana.person().String()
	role := owner.get(owner.get(at).Find(row+" a[href$='/role']").AttrOr("href", ""))
	owner.follow(owner.submit(role, "form.dialog", url.Values{"role": {"operator"}})).wantToast("Role changed")
	if got := owner.get(at).Find(row).Text(); !strings.Contains(got, "Operator") || !strings.Contains(got, "just now") {
		t.Errorf("dana is %q", got)
	}
	dana.get(dana.home + "/endpoints/new").wantStatus(http.StatusForbidden)
	dana.get(dana.home + "/reconcile/new").wantStatus(http.StatusOK)

	remove := owner.get(owner.get(at).Find(row+" a[href$='/remove']").AttrOr("href", ""))
	owner.follow(owner.submit(remove, "form.dialog", nil)).wantToast("removed")
	for _, path := range []string{dana.home, dana.home + "/events", at} {
		dana.get(path).wantStatus(http.StatusNotFound)
	}
	owner.follow(owner.submit(remove, "form.dialog", nil)).wantToast("no member any more")
}

// Why an invitation cannot be used, and what to do.
func TestInvitationsSayWhatToDo(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner, other := b.signedUp(t, "Acme"), b.signedUp(t, "Other")
	used, revoked, over := owner.invite("", gateway.RoleViewer), owner.invite("", gateway.RoleViewer), owner.invite("", gateway.RoleViewer)
	named := owner.invite("dana@example.com", gateway.RoleViewer)
	b.newBrowser(t).joinAs(used, "Dana", "dan@example.com").wantStatus(http.StatusSeeOther)
	ids := map[string]string{}
	for _, link := range []string{revoked, over} {
		i, err := b.account.InvitationByToken(t.Context(), strings.TrimPrefix(link, "/invite/"))
		if err != nil {
			t.Fatal(err)
		}
		ids[link] = i.ID.String()
	}
	owner.follow(owner.submit(owner.get(owner.home+"/settings/invitations/"+ids[revoked]+"/revoke"), "form.dialog", nil)).wantToast("revoked")
	id, err := gateway.ParseID[gateway.InvitationID](ids[over])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE invitations SET ends_at = now() WHERE id = $1`, id); err != nil {
		t.Fatal(err)
	}
	nobody := b.newBrowser(t)
	for link, want := range map[string]string{
		used:    "was used. Each lets one person in.",
		revoked: "was taken back. Ask Person of Acme",
		over:    "days are over. Ask Person of Acme",
		named:   "for somebody else. It works for dana@example.com alone, and you are logged in as " + other.email,
	} {
		for _, w := range []*browser{nobody, other} {
			p := w.get(link)
			text := strings.Join(strings.Fields(p.Find("#why").Text()), " ")
			if w == nobody && link == named {
				if p.Find("#join").Length() != 1 {
					t.Error("somebody new cannot join")
				}
				continue
			}
			if p.status != http.StatusOK || !strings.Contains(text, want) || p.Find("#join").Length() != 0 {
				t.Errorf("%d, it says %q, want %q", p.status, text, want)
			}
		}
		if p := other.post(link, nil); p.status != http.StatusConflict || p.Find("#why").Length() != 1 {
			t.Errorf("joining all the same: %d", p.status)
		}
	}
	if p := nobody.get("/invite/nothing"); p.status != http.StatusNotFound || !strings.Contains(p.Find("main").Text(), "Ask") && !strings.Contains(p.Find("main").Text(), "ask") {
		t.Errorf("a link that never was: %d %q", p.status, p.Find("main").Text())
	}
	if p := owner.get(named); !strings.Contains(p.Find("#why").Text(), "a member already") || p.Find("main a[href='"+owner.home+"']").Length() != 1 {
		t.Errorf("a member is told %q", p.Find("#why").Text())
	}
	if p := owner.post(named, nil); p.status != http.StatusConflict {
		t.Errorf("a member joins: %d", p.status)
	}
	fresh := owner.submit(owner.get(owner.home+"/settings/members"), "#"+ids[over]+" form", nil)
	link := owner.follow(fresh).Find("#fresh [data-copy]").AttrOr("data-copy", "")
	nobody.get(over).wantStatus(http.StatusNotFound)
	joined := other.follow(other.submit(other.get(strings.TrimPrefix(link, b.url)), "#join", nil))
	joined.wantToast("Welcome to “Acme”. You are a viewer.")
}

// Somebody with a log-in logs in on the way, and comes back to the invitation.
func TestLoggingInToJoin(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner, other := b.signedUp(t, "Acme"), b.signedUp(t, "Other")
	link := owner.invite(other.email, gateway.RoleAdmin)
	w := b.newBrowser(t)
	if taken := w.joinAs(link, "Me", other.email); taken.status != http.StatusUnprocessableEntity || !strings.Contains(taken.errorBeside("email"), "log in to join") {
		t.Errorf("signing up a second time: %d %q", taken.status, taken.errorBeside("email"))
	}
	login := w.get(w.get(link).Find("a[href^='/login']").AttrOr("href", ""))
	back := w.follow(w.submit(login, "main form", url.Values{"email": {other.email}, "password": {passphrase}}))
	if back.path != link {
		t.Errorf("after the log-in at %s", back.path)
	}
	if p := w.follow(w.submit(back, "#join", nil)); p.path != owner.home {
		t.Errorf("after joining at %s", p.path)
	}
}

// Where sign-up is closed nobody new comes in, and the pages say so.
func TestJoiningWhereSignUpIsClosed(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, signupAs(config.SignupClosed))
	link := b.signedUp(t, "Acme").invite("", gateway.RoleViewer)
	nobody := b.newBrowser(t)
	if p := nobody.get(link); !strings.Contains(p.Find("#why").Text(), "Sign-up is closed") || p.Find("a[href^='/login']").Length() == 0 {
		t.Errorf("it says %q", p.Find("#why").Text())
	}
	nobody.post(link, url.Values{"name": {"Eve"}, "email": {"eve@example.com"}, "password": {passphrase}}).wantStatus(http.StatusUnprocessableEntity)
	w := b.newBrowser(t)
	w.email = b.newPerson(t, "Dana")
	w.logIn(w.email, passphrase).wantStatus(http.StatusSeeOther)
	w.follow(w.submit(w.get(link), "#join", nil)).wantToast("Welcome to “Acme”")
}

// Who leaves is gone, the last owner stays, and an account is handed over by who
// knows their password.
func TestLeavingAndHandingOver(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	admin, viewer := owner.newMemberAs(gateway.RoleAdmin), owner.newMember()
	at := owner.home + "/settings/members"
	left := viewer.follow(viewer.submit(viewer.get(at+"/leave"), "form.dialog", nil))
	left.wantToast("You left “Acme”")
	viewer.get(at).wantStatus(http.StatusNotFound)
	owner.follow(owner.submit(owner.get(at+"/leave"), "form.dialog", nil)).wantToast("always has an owner")
	mine := at + "/" + owner.person().String()
	if p := owner.submit(owner.get(mine+"/role"), "form.dialog", url.Values{"role": {"viewer"}}); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.errorBeside("role"), "always has an owner") {
		t.Errorf("the last owner steps back: %d %q", p.status, p.errorBeside("role"))
	}
	for path, values := range map[string]url.Values{"/role": {"role": {"viewer"}}, "/remove": nil} {
		p := admin.post(mine+path, values)
		if text := p.Find("main").Text() + admin.toastAfter(p); !strings.Contains(text, "Only an owner") {
			t.Errorf("an admin at the owner's %s: %d %q", path, p.status, text)
		}
	}
	over := at + "/" + admin.person().String() + "/owner"
	admin.get(at + "/" + admin.person().String() + "/owner").wantStatus(http.StatusForbidden)
	if p := owner.submit(owner.get(over), "form.dialog", url.Values{"password": {"wrong"}}); p.status != http.StatusUnprocessableEntity || p.errorBeside("password") == "" {
		t.Errorf("with a wrong password: %d", p.status)
	}
	owner.follow(owner.submit(owner.get(over), "form.dialog", url.Values{"password": {passphrase}})).wantToast("is an owner now")
	owner.get(over).wantStatus(http.StatusForbidden)
	admin.get(at + "/" + owner.person().String() + "/owner").wantStatus(http.StatusOK)
}

// toastAfter is the message of the page that an answer leads to.
func (w *browser) toastAfter(p page) string {
	w.t.Helper()
	if p.status != http.StatusSeeOther {
		return ""
	}
	return w.get(p.location).toast()
}

// Too many invitations by mail are stopped, and what was typed stays.
func TestInvitationsByMailAreStopped(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	at := owner.home + "/settings/members"
	owner.invite("dana@example.com", gateway.RoleViewer)
	resend := owner.get(at)
	for range 4 {
		owner.follow(owner.submit(resend, "#invited form", nil))
	}
	owner.follow(owner.submit(resend, "#invited form", nil)).wantToast("Too many invitations were mailed")
	other := b.signedUp(t, "Other")
	p := other.submit(other.get(other.home+"/settings/members/invite"), "form.dialog", url.Values{"email": {"dana@example.com"}, "role": {"operator"}})
	p.wantStatus(http.StatusTooManyRequests)
	if p.Find("#email").AttrOr("value", "") != "dana@example.com" || !strings.Contains(p.errorBeside("email"), "pass the link on yourself") {
		t.Errorf("it says %q beside %q", p.errorBeside("email"), p.Find("#email").AttrOr("value", ""))
	}
	other.tenant().refused(http.StatusTooManyRequests, "rate_limited", http.MethodPost, "/invitations", object{"email": "dana@example.com", "role": "viewer"})
}

// An invitation into an account that is about to be deleted says so.
func TestAnInvitationIntoWhatIsClosing(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner, other := b.signedUp(t, "Acme"), b.signedUp(t, "Other")
	link := owner.invite("", gateway.RoleViewer)
	owner.follow(owner.submit(owner.get(owner.home+"/settings/delete"), "form.dialog", url.Values{"name": {"Acme"}}))
	for _, w := range []*browser{other, b.newBrowser(t)} {
		if p := w.get(link); !strings.Contains(p.Find("#why").Text(), "about to be deleted") || p.Find("#join").Length() != 0 {
			t.Errorf("it says %q", p.Find("#why").Text())
		}
	}
	other.post(link, nil).wantStatus(http.StatusConflict)
}
