package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/pquerna/otp/totp"
)

// Two-step log-in in a browser: it is turned on with a first code, a code lets in
// after the password and not a second time, a recovery code does once, and the
// password turns it off. With and without scripts.
func TestTwoStep(t *testing.T) {
	t.Parallel()
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, onDatabase(t, newDatabase(t, shared)))
			w := &visitor{tab: newTab(t, n.url)}
			call(w.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
			w.signUp("Harbor Coffee", "mara@example.com")
			key, recovery := w.turnsTwoStepOn(scripts)
			// A clock that is a step ahead is taken: so nobody waits for the next code.
			code := codeOf(t, key, 1)
			w.logsInHalf("mara@example.com")
			if scripts {
				w.inspect("/login/code", "/login/code?recovery=1")
				w.open("/login/code")
			}
			w.shows(code)
			w.await("the overview", fmt.Sprintf(`location.pathname === %q`, w.home))
			w.logsInHalf("mara@example.com")
			w.tolerate("422") // what is refused now
			w.shows(code)
			w.awaitText("This code has let you in once.")
			w.showsRecovery(recovery[0])
			w.awaitText("You used a recovery code. You have 9 codes left.")
			w.logsInHalf("mara@example.com")
			w.showsRecovery(recovery[0])
			w.awaitText("This is none of your recovery codes.")
			w.showsRecovery(recovery[1])
			w.awaitText("You have 8 codes left.")
			w.turnsTwoStepOff()
			w.logsOut()
			w.logsIn("mara@example.com")
			w.await("the overview, without a code", fmt.Sprintf(`location.pathname === %q`, w.home))
		})
	}
}

// codeOf is the code of a key after a number of steps.
func codeOf(t testing.TB, key string, steps int) string {
	t.Helper()
	code, err := totp.GenerateCode(key, time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// turnsTwoStepOn turns it on with the code of this step, and returns the key and
// the recovery codes.
func (w *visitor) turnsTwoStepOn(inspect bool) (key string, recovery []string) {
	w.t.Helper()
	w.open("/me/two-step")
	w.question("Turn on…")
	w.fill("form.dialog [name=password]", passphrase)
	w.press("Go on")
	w.await("the key", `!!document.querySelector('#key [data-copy]')`)
	key = eval[string](w.tab, `document.querySelector('#key [data-copy]').dataset.copy`)
	if inspect {
		w.inspectHere("the key's page")
	}
	w.fill("#first-code [name=code]", codeOf(w.t, key, 0))
	w.press("Turn on")
	w.done("Two-step log-in is on.")
	if inspect {
		w.inspectHere("the codes' page")
	}
	codes := eval[string](w.tab, `[...document.querySelectorAll('#fresh-codes li')].map(c => c.textContent).join(' ')`)
	return key, strings.Fields(codes)
}

func (w *visitor) logsOut() {
	w.t.Helper()
	w.await("a way out", `!!document.querySelector("form[action='/logout'] button")`)
	eval[bool](w.tab, `(document.querySelector("form[action='/logout'] button").click(), true)`)
	w.awaitText("You are logged out.")
}

func (w *visitor) logsIn(email string) {
	w.t.Helper()
	w.fill("[name=email]", email)
	w.fill("[name=password]", passphrase)
	w.press("Log in")
}

// logsInHalf logs out, and in again with the password alone.
func (w *visitor) logsInHalf(email string) {
	w.t.Helper()
	w.logsOut()
	w.logsIn(email)
	w.await("the question for a code", `location.pathname === '/login/code' && !!document.querySelector('[name=code]')`)
}

// shows shows a code after the password.
func (w *visitor) shows(code string) {
	w.t.Helper()
	w.fill("[name=code]", code)
	w.press("Log in")
}

func (w *visitor) showsRecovery(code string) {
	w.t.Helper()
	if eval[bool](w.tab, `!document.querySelector('[name=recovery]')`) {
		w.press("Use a recovery code")
		w.await("the question for a recovery code", `!!document.querySelector('[name=recovery]')`)
	}
	w.shows(code)
}

func (w *visitor) turnsTwoStepOff() {
	w.t.Helper()
	w.open("/me/two-step")
	w.question("Turn off…")
	w.fill("form.dialog [name=password]", passphrase)
	w.press("Turn off")
	w.done("Two-step log-in is off.")
}
