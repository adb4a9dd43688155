package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// A team in browsers: somebody is invited by a link, joins, is refused what their
// role does not allow and told who can do it, is made an operator, and is removed;
// then the account is deleted and restored. With and without scripts.
func TestMembers(t *testing.T) {
	t.Parallel()
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, onDatabase(t, newDatabase(t, shared)))
			owner, guest := &visitor{tab: newTab(t, n.url)}, &visitor{tab: newTab(t, n.url)}
			for _, w := range []*visitor{owner, guest} {
				call(w.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
			}
			owner.signUp("Harbor Coffee", "mara@example.com")
			link := owner.invite("dana@example.com")
			if scripts {
				owner.inspect(owner.home + "/settings/members")
				guest.inspect(link)
			}
			guest.join(link, "Dana Reyes")
			guest.home = owner.home
			guest.isRefused()
			owner.promote("Dana Reyes")
			guest.operates()
			owner.removes("Dana Reyes")
			guest.hasLost()
			owner.deletesAndRestores(scripts)
		})
	}
}

// invite invites somebody to look, and returns the link.
func (w *visitor) invite(email string) string {
	w.t.Helper()
	w.open(w.home + "/settings/members")
	w.question("Invite…")
	w.fill("form.dialog #email", email)
	w.press("Invite")
	w.await("the link", `!!document.querySelector('#fresh [data-copy]')`)
	return eval[string](w.tab, `new URL(document.querySelector('#fresh [data-copy]').dataset.copy).pathname`)
}

func (w *visitor) join(link, name string) {
	w.t.Helper()
	w.open(link)
	w.awaitText("Mara Lindqvist invited you to be a viewer")
	w.fill("#name", name)
	w.fill("#password", passphrase)
	w.press("Join")
	w.await("the overview", `location.pathname.startsWith('/a/')`)
}

// isRefused tries what a viewer may not do.
func (w *visitor) isRefused() {
	w.t.Helper()
	w.open(w.home + "/endpoints")
	w.awaitText("An admin or an owner of the account can add the first one.")
	w.tolerate("403")
	w.open(w.home + "/endpoints/new")
	w.awaitText("Your role does not allow this")
	w.awaitText("You are a viewer of “Harbor Coffee”. An admin or an owner of the account can do it.")
	w.press("Go to the overview")
	w.await("the overview", fmt.Sprintf(`location.pathname === %q`, w.home))
}

// act chooses something to do with a member from their menu.
func (w *visitor) act(name, what string) {
	w.t.Helper()
	w.open(w.home + "/settings/members")
	w.press("Actions for " + name)
	w.question(what)
}

func (w *visitor) promote(name string) {
	w.t.Helper()
	w.act(name, "Change role…")
	eval[bool](w.tab, `(document.querySelector('form.dialog input[value=operator]').checked = true)`)
	w.press("Change role")
	w.done("Role changed")
}

// operates does what an operator may, with the session that was there before.
func (w *visitor) operates() {
	w.t.Helper()
	w.open(w.home + "/reconcile")
	w.press("New comparison")
	w.await("the form", `location.pathname.endsWith('/reconcile/new')`)
}

func (w *visitor) removes(name string) {
	w.t.Helper()
	w.act(name, "Remove…")
	w.press("Remove")
	w.done("Member removed")
}

func (w *visitor) hasLost() {
	w.t.Helper()
	w.tolerate("404")
	w.open(w.home + "/events")
	w.awaitText("There is nothing here")
	w.open("/accounts")
	w.awaitText("You are a member of no account")
}

func (w *visitor) deletesAndRestores(inspect bool) {
	w.t.Helper()
	w.open(w.home + "/settings")
	w.question("Delete account…")
	w.fill("form.dialog [name=name]", "Harbor Coffee")
	w.press("Delete account")
	w.done("The account is to be deleted")
	if inspect {
		w.inspect(w.home+"/settings", w.home+"/endpoints")
	}
	w.open(w.home + "/endpoints")
	w.awaitText("This account is deleted on")
	w.press("Restore account")
	w.done("The account is restored")
	w.await("the endpoints' page to offer a first one", `!document.querySelector('#closing')`)
}
