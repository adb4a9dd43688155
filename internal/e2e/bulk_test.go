package e2e

import (
	"fmt"
	"testing"
	"time"
)

// A bad day is repaired in two clicks: Recover, and the button with the number.
// Its progress moves by itself, and so does the end.
func TestRecoverInABrowser(t *testing.T) {
	t.Parallel()
	const events = 300
	o := newOutage(t, events, func() time.Duration { return 5 * time.Millisecond })
	b := newTab(t, o.node.url)
	b.logIn("owner@example.com")
	b.open(home(o.account) + "/endpoints/" + o.endpoint)
	b.press("Recover failed…")
	b.awaitText("300 deliveries match.")
	// The numbers follow what is chosen, and who chooses stays where they are.
	choose := func(name, value string) {
		t.Helper()
		eval[bool](b, fmt.Sprintf(`(() => {
			const field = document.querySelector('dialog [name=%s]');
			field.focus();
			field.value = %q;
			return field.dispatchEvent(new Event('change', {bubbles: true}));
		})()`, name, value))
	}
	choose("per_second", "50")
	b.awaitText("About 6 s.")
	b.await("the focus stays", `document.activeElement.name === 'per_second' && document.activeElement.value === '50'`)
	b.press("Recover 300")
	b.await("the operation's page", `location.pathname.includes('/operations/op_')`)
	b.awaitText("of 300 deliveries")
	b.await("it moves by itself", `parseInt(document.querySelector('#operation h2').innerText) > 50`)
	b.await("and ends so", `document.querySelector('#operation-head .badge').innerText.includes('Done')`)
	b.await("all are delivered", `[...document.querySelectorAll('#operation .stat')].some((e) => e.innerText.includes('Delivered since') && e.innerText.includes('300'))`)
	o.wantOnceMore(nil)
}

// Some are chosen, and sent again; a stop asks with its effect.
func TestChooseSeveralInABrowser(t *testing.T) {
	t.Parallel()
	o := newOutage(t, 60, func() time.Duration { return 0 })
	b := newTab(t, o.node.url)
	b.logIn("owner@example.com")
	list := home(o.account) + "/deliveries?status=failed"
	b.open(list)
	if hidden := eval[bool](b, `document.querySelector('#chosen-bar').hidden`); !hidden {
		t.Error("the bar shows before anything is chosen")
	}
	eval[bool](b, `(document.querySelectorAll('#deliveries tbody .check')[1].click(), true)`)
	eval[bool](b, `(document.querySelectorAll('#deliveries tbody .check')[3].click(), true)`)
	b.awaitText("2 selected")
	b.awaitText("all 60 that match")
	b.awaitText("Paused while rows are selected")
	b.press("Redeliver…")
	b.awaitText("Redeliver 2 deliveries?")
	b.press("Redeliver 2")
	b.await("the operation's page", `location.pathname.includes('/operations/op_')`)
	b.await("it is done", `document.querySelector('#operation-head .badge').innerText.includes('Done')`)
	waitFor(t, patience, "two were delivered", func() bool { return o.count("delivered") == 2 })
	b.open(list)
	if chosen := eval[int](b, `document.querySelectorAll('#deliveries .check:checked').length`); chosen != 0 {
		t.Errorf("%d are still chosen", chosen)
	}
	eval[bool](b, `(document.querySelector('#deliveries thead .check').click(), true)`)
	b.awaitText("50 selected")
	b.press("all 58 that match")
	b.awaitText("58 deliveries match.")
	eval[bool](b, `(document.querySelector('[name=per_second]').value = '5', true)`)
	b.press("Redeliver 58")
	b.awaitText("of 58 deliveries")
	b.press("Stop…")
	b.awaitText("are not touched any more.")
	b.press("Stop it")
	b.await("it is stopped", `document.querySelector('#operation-head .badge').innerText.includes('Stopped')`)
	waitFor(t, patience, "nothing is open", func() bool { return o.count("pending")+o.count("sending") == 0 })
	if left := o.count("failed"); left == 0 || left == 58 {
		t.Errorf("%d are as they were, of 58", left)
	}
}
