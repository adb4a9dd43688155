package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// key presses keys, one after the other, wherever the focus is.
func (b *tab) key(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// row is which row of the list has the focus, from 1; zero is none.
const row = `1 + [...document.querySelectorAll('#events tbody tr')].findIndex((r) => r.contains(document.activeElement))`

func (b *tab) wantRow(want int) {
	b.t.Helper()
	b.await(fmt.Sprintf("row %d has the focus", want), fmt.Sprintf("%s === %d", row, want))
}

// goToEvents goes to the list of events, which has so many or more. Two keys are one
// command when they come soon enough after each other: a busy machine may need
// several tries.
func (b *tab) goToEvents(rows int) {
	b.t.Helper()
	waitFor(b.t, patience, "the list of events", func() bool {
		there, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`location.pathname.endsWith('/events')`))
		if err == nil && !there {
			b.key("g", "e")
		}
		return there
	})
	b.await("its rows", fmt.Sprintf(`document.readyState === 'complete' && document.querySelectorAll('#events tbody tr').length >= %d`, rows))
}

// A day's work on the list of events, without a mouse: rows are gone through,
// looked at beside the list, chosen, and sent again; the focus is where the reader
// left it after each.
func TestEventsByKeyboard(t *testing.T) {
	t.Parallel()
	o := newOutage(t, 5, func() time.Duration { return 0 })
	b := newTab(t, o.node.url)
	b.logIn("owner@example.com")
	b.goToEvents(5)
	b.key("j")
	b.wantRow(1)
	b.key("j", "j", "k")
	b.wantRow(2)
	second := eval[string](b, `document.activeElement.pathname`)

	b.key("p")
	b.await("the second event beside the list", fmt.Sprintf(`document.querySelector('dialog[open] .drawer a.btn')?.pathname === %q`, second))
	b.awaitText("Failed")
	b.key("j") // moves nothing behind the dialog
	b.key(kb.Escape)
	b.await("it is closed", `!document.querySelector('dialog[open]')`)
	b.wantRow(2)

	b.key("x", "j", "x")
	b.awaitText("2 selected")
	b.awaitText("Paused while rows are selected")
	b.wantRow(3)
	b.key("r")
	b.awaitText("Redeliver 2 events?")
	b.awaitText("2 deliveries match.")
	b.key(kb.Escape)
	b.await("the question is closed", `!document.querySelector('dialog[open]')`)
	b.key("x")
	b.awaitText("1 selected")
	b.key("r")
	b.awaitText("Redeliver 1 event?")
	b.await("the choice has the focus", `document.activeElement.name === 'which'`)
	b.do(chromedp.KeyEvent(kb.Enter)) // sends the form
	b.await("the operation's page", `location.pathname.includes('/operations/op_')`)
	waitFor(t, patience, "one was delivered", func() bool { return o.count("delivered") == 1 })

	b.goToEvents(5)
	b.key("?")
	b.awaitText("Keyboard shortcuts")
	b.key(kb.Escape)
	b.await("the help is closed", `!document.querySelector('dialog[open]')`)
	b.key("j", "j")
	b.wantRow(2)
	opened := eval[string](b, `document.activeElement.pathname`)
	b.key(kb.Enter)
	b.await("the event's page", fmt.Sprintf(`location.pathname === %q && document.readyState === 'complete'`, opened))
	b.key("r")
	b.awaitText("Redeliver “")
	b.key(kb.Escape)
	b.await("it is closed, too", `!document.querySelector('dialog[open]')`)
}

// What is typed into the search is no command, and leads to the list.
func TestSearchByKeyboard(t *testing.T) {
	t.Parallel()
	o := newOutage(t, 3, func() time.Duration { return 0 })
	b := newTab(t, o.node.url)
	b.logIn("owner@example.com")
	b.open(home(o.account) + "/events")
	b.key("/")
	b.await("the search has the focus", `document.activeElement.closest('.filters') !== null && document.activeElement.name === 'q'`)
	eval[bool](b, `(document.activeElement.value = '', true)`) // the browser is told of the letter apart from the key
	for _, letter := range "$.no.such.jkxpr? =" {
		b.key(string(letter))
	}
	b.key(kb.Enter)
	b.awaitText("want a value")
	b.await("what was typed has the focus", `document.activeElement.name === 'q' && document.activeElement.value === '$.no.such.jkxpr? ='`)
	for _, letter := range " 1" {
		b.key(string(letter))
	}
	if typed := eval[string](b, `document.activeElement.value`); !strings.Contains(typed, "1") {
		t.Errorf("the field says %q", typed)
	}
	eval[bool](b, `(document.activeElement.value = '$ = [1]', document.activeElement.form.requestSubmit(), true)`)
	b.awaitText("a text with such characters stands in quotes")
}

// A stretch of the histogram is dragged over, and the list is of its time.
func TestHistogramIsDraggedOver(t *testing.T) {
	t.Parallel()
	o := newOutage(t, 3, func() time.Duration { return 0 })
	b := newTab(t, o.node.url)
	b.logIn("owner@example.com")
	b.look(look{1440, "light"})
	b.open(home(o.account) + "/events")
	b.await("the histogram", `document.querySelectorAll('#histogram a.bin').length > 20`)
	at := func(n int) (x, y float64) {
		const middle = `(() => { const r = document.querySelectorAll('#histogram a.bin .hit')[%d].getBoundingClientRect(); return %s; })()`
		return eval[float64](b, fmt.Sprintf(middle, n, "r.x + r.width / 2")), eval[float64](b, fmt.Sprintf(middle, n, "r.y + r.height / 2"))
	}
	fromX, fromY := at(8)
	toX, toY := at(4)
	b.do(chromedp.DragAndDropXY(fromX, fromY, toX, toY))
	b.await("the list of that time", `(() => {
		const q = new URLSearchParams(location.search);
		return q.has('since') && (new Date(q.get('until')) - new Date(q.get('since'))) === 5 * 3600 * 1000;
	})()`)
	b.awaitText("No events in this time")
}
