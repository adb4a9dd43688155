package e2e

import "testing"

// Somebody who forgot their password gets a link, sets another one, and comes in
// with it. Whoever was logged in elsewhere is not any more, and the link is good
// once. Without a mail server the link is read by the owner of the instance.
func TestResetPassword(t *testing.T) {
	t.Parallel()
	const other = "another long passphrase 8"
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	owner, guest := &visitor{tab: newTab(t, n.url)}, &visitor{tab: newTab(t, n.url)}
	owner.signUp("Harbor Coffee", "mara@example.com")
	guest.join(owner.invite("dana@example.com"), "Dana Reyes")
	guest.home = owner.home

	forgetful := newTab(t, n.url)
	forgetful.open("/login")
	forgetful.press("Forgot password?")
	forgetful.await("the form", `location.pathname === '/forgot'`)
	forgetful.fill("#email", "dana@example.com")
	forgetful.press("Make the link")
	forgetful.await("the answer", `location.search.includes('sent=1')`)

	owner.open("/instance/mail")
	owner.await("the mail's page", `(() => {
		const mail = [...document.querySelectorAll('#mails tr')].find((r) => r.innerText.includes('dana@example.com') && r.innerText.toLowerCase().includes('password'));
		mail?.querySelector('a').click();
		return location.pathname.startsWith('/instance/mail/');
	})()`)
	owner.await("the link", `!!document.body.innerText.match(/\/reset\/\S+/)`)
	link := eval[string](owner.tab, `document.body.innerText.match(/\/reset\/\S+/)[0]`)

	forgetful.tolerate("422") // what is wrong is answered so
	guest.tolerate("422")
	forgetful.open(link)
	forgetful.fill("#password", "short")
	forgetful.press("Change password")
	forgetful.await("what is wrong stands beside the field", `document.querySelector('#password').getAttribute('aria-invalid') === 'true'`)
	forgetful.fill("#password", other)
	forgetful.press("Change password")
	forgetful.await("the entrance or the overview", `location.pathname === '/login' || location.pathname.startsWith('/a/')`)

	guest.open(guest.home)
	guest.await("who was logged in is not any more", `location.pathname === '/login'`)
	guest.fill("#email", "dana@example.com")
	guest.fill("#password", passphrase)
	guest.press("Log in")
	guest.await("the old one is refused", `location.pathname === '/login' && document.querySelector('#password').getAttribute('aria-invalid') === 'true'`)
	guest.fill("#email", "dana@example.com")
	guest.fill("#password", other)
	guest.press("Log in")
	guest.await("the overview", `location.pathname.startsWith('/a/')`)
	guest.tolerate("404")
	guest.open(link)
	guest.await("the link is over", `!document.querySelector('#password')`)
}
