package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromiumNames are what the browser is called on different systems.
var chromiumNames = []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"}

// plainHost is a name of this machine that browsers do not know for one: what
// is there without https they trust less.
const plainHost = "rowlock.test"

// errNoChromium says how to get what is missing.
var errNoChromium = errors.New("no Chromium on this machine; on Debian: apt-get install chromium")

var (
	// chromium is the one browser of all tests, started when the first needs it.
	chromium = sync.OnceValues(startChromium)
	// stopChromium ends it, if it was started.
	stopChromium = func() {}
)

// startChromium starts a browser, in which each test has a window with cookies
// of its own.
func startChromium() (context.Context, error) {
	path, err := findChromium()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rowlock-chromium-")
	if err != nil {
		return nil, fmt.Errorf("make the browser's directory: %w", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(dir))
	options = append(options, chromedp.Flag("host-resolver-rules", "MAP "+plainHost+" 127.0.0.1"))
	for _, name := range []string{"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "hide-scrollbars"} {
		options = append(options, chromedp.Flag(name, true))
	}
	allocated, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocated)
	stopChromium = func() {
		cancel()
		cancelAllocator()
		_ = os.RemoveAll(dir) // a temporary directory, whatever is left in it
	}
	if err := chromedp.Do(ctx); err != nil {
		stopChromium()
		return nil, fmt.Errorf("start the browser: %w", err)
	}
	return ctx, nil
}

func findChromium() (string, error) {
	for _, name := range chromiumNames {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoChromium
}

// tab is a window of the browser, in which nobody is logged in yet. What the
// page complains about in its console fails the test.
type tab struct {
	t   testing.TB
	ctx context.Context
	// base is where paths begin.
	base string
	// inspected is how many pages were inspected.
	inspected int

	mu sync.Mutex
	// received is how many bytes came over the network since the last look.
	received int
	// answered is the status of the last answer to a form, before the page that
	// it led to.
	answered int
	// tolerated is the status of a page that is meant to be answered so.
	tolerated string
}

// tabLimit bounds what a test does in a browser altogether: far above what the
// slowest needs on a machine that does much else.
const tabLimit = 20 * time.Minute

func newTab(t testing.TB, base string) *tab {
	t.Helper()
	browser, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, expire := context.WithTimeout(ctx, tabLimit)
	t.Cleanup(expire)
	b := &tab{t: t, ctx: ctx, base: base}
	b.do(chromedp.Func(func(context.Context, *chromedp.Target) error { return nil }))
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	call(b, log.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	return b
}

// hear takes what the browser tells of the page.
func (b *tab) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			b.complain(fmt.Sprintf("console %s: %s", e.Type, describe(e.Args)))
		}
	case *runtime.EventExceptionThrown:
		b.complain("exception: " + e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if (e.Entry.Level == "error" || e.Entry.Level == "warning") && !b.tolerates(e.Entry.Text) {
			b.complain(fmt.Sprintf("log: %s %s", e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		if e.RedirectResponse != nil && e.Type == "Document" {
			b.mu.Lock()
			b.answered = int(e.RedirectResponse.Status)
			b.mu.Unlock()
		}
	case *network.EventLoadingFinished:
		b.mu.Lock()
		b.received += int(e.EncodedDataLength)
		b.mu.Unlock()
	}
}

func describe(args []*runtime.RemoteObject) string {
	var words []string
	for _, a := range args {
		words = append(words, string(a.Value)+a.Description)
	}
	return strings.Join(words, " ")
}

// tolerate has the browser say of a page that it was answered with a status.
func (b *tab) tolerate(status string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tolerated = status
}

func (b *tab) tolerates(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tolerated != "" && strings.Contains(text, "responded with a status of "+b.tolerated)
}

func (b *tab) complain(what string) { b.t.Errorf("the page complains: %s", what) }

// bytes is how much came over the network since it was last asked.
func (b *tab) bytes() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.received
	b.received = 0
	return n
}

// done waits for a form's answer: a redirect to a page, and the message there.
func (b *tab) done(message string) {
	b.t.Helper()
	b.await(fmt.Sprintf("the message %q", message), fmt.Sprintf(
		`[...document.querySelectorAll('[data-toast]')].some((e) => e.innerText.includes(%q))`, message))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answered != http.StatusSeeOther {
		b.t.Errorf("before %q the form was answered with %d, want 303", message, b.answered)
	}
	b.answered = 0
}

// call sends the browser a command.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("%v, at %s", err, b.where())
	}
}

// where tells on which page something went wrong, and what it says.
func (b *tab) where() string {
	address, err := chromedp.Run(b.ctx, chromedp.Location())
	if err != nil {
		return "no page"
	}
	text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText.slice(0, 1500) : ""`))
	return address + ":\n" + text
}

// eval evaluates JavaScript in the page.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.t.Fatalf("evaluate %s: %v, at %s", script, err, b.where())
	}
	return value
}

// open goes to a path.
func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + path))
}

// path is where the tab is.
func (b *tab) path() string {
	b.t.Helper()
	return eval[string](b, `location.pathname`)
}

// look sets the width and the system's theme. Nothing moves on the way
// from one to the other.
func (b *tab) look(l look) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(int64(l.width), 900))
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: l.theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
}

// fill puts text into a field, as typing does.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
	eval[bool](b, fmt.Sprintf(`(document.querySelector(%q).value = '') === ''`, selector))
	b.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// press clicks what has this text: a button or a link, in the open dialog if
// there is one.
func (b *tab) press(text string) {
	b.t.Helper()
	quoted := fmt.Sprintf("%q", text)
	found := `(() => {
		const within = document.querySelector('dialog[open]') || document;
		const named = (e) => (e.innerText || '').trim().replace(/\s+/g, ' ') === ` + quoted + ` || e.getAttribute('aria-label') === ` + quoted + `;
		const hit = [...within.querySelectorAll('button, a, summary, [role=tab]')].find((e) => named(e) && e.offsetParent !== null);
		document.querySelectorAll('[data-pressed]').forEach((e) => e.removeAttribute('data-pressed'));
		hit?.setAttribute('data-pressed', '');
		return !!hit;
	})()`
	b.await("a button "+quoted, found)
	b.do(chromedp.Click(chromedp.CSS("[data-pressed]")))
}

// await waits until a script says true.
func (b *tab) await(what, script string) {
	b.t.Helper()
	waitFor(b.t, patience, what+", at "+b.base, func() bool {
		yes, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](script))
		return err == nil && yes
	})
}

// awaitText waits until the page says something.
func (b *tab) awaitText(text string) {
	b.t.Helper()
	b.await(fmt.Sprintf("the page says %q", text), fmt.Sprintf(`document.body.innerText.includes(%q)`, text))
}
