package e2e

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/runtime"
)

// axe checks a page for faults that keep people out (axe-core, MPL 2.0).
//
//go:embed testdata/axe/axe.min.js
var axe string

// finding is one kind of fault on a page.
type finding struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// runAxe evaluates what axe finds by the rules of WCAG 2.2 AA.
const runAxe = `axe.run(document, {
	runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'],
	resultTypes: ['violations'],
}).then((r) => JSON.stringify(r.violations))`

// accessible fails the test for what axe finds on the page that is open.
func (b *tab) accessible(what string) {
	b.t.Helper()
	var found []finding
	if err := json.Unmarshal([]byte(b.evaluate(runAxe)), &found); err != nil {
		b.t.Fatalf("read what axe found: %v", err)
	}
	for _, f := range found {
		if len(f.Nodes) > 0 { // the first stands for the others
			b.t.Errorf("%s: %d × %s (%s)\n%s\n%s", what, len(f.Nodes), f.Help, f.ID, f.Nodes[0].HTML, f.Nodes[0].Summary)
		}
	}
}

// evaluate runs a script and waits for what it promises.
func (b *tab) evaluate(script string) string {
	b.t.Helper()
	wait, byValue := true, true
	r := call(b, runtime.Evaluate, runtime.EvaluateParams{Expression: script, AwaitPromise: &wait, ReturnByValue: &byValue})
	if r.ExceptionDetails != nil {
		b.t.Fatalf("evaluate: %s", r.ExceptionDetails.Text)
	}
	var text string
	if r.Result != nil && len(r.Result.Value) > 0 {
		_ = json.Unmarshal(r.Result.Value, &text) // axe itself evaluates to no text
	}
	return text
}

// look is how a page is looked at: a width in pixels and a theme.
type look struct {
	width int
	theme string
}

// looks are taken in turn: a page has both widths and both themes, and what pages
// have in common has each width in each theme.
var looks = [][]look{{{1440, "light"}, {390, "dark"}}, {{1440, "dark"}, {390, "light"}}}

// inspect looks at pages in both widths and themes: axe finds nothing, nothing
// has a style or a script of its own, nothing needs to be scrolled sideways and
// no cell of a table stands out of its own.
func (b *tab) inspect(paths ...string) {
	b.t.Helper()
	for _, path := range paths {
		b.open(path)
		b.inspectHere(path)
	}
}

// inspectHere is inspect for the page that is open, such as one that shows
// something once.
func (b *tab) inspectHere(page string) {
	b.t.Helper()
	b.evaluate(axe) // the page's policy allows no foreign script; the debugger is not the page
	for _, l := range looks[b.inspected%len(looks)] {
		what := fmt.Sprintf("%s, %d, %s", page, l.width, l.theme)
		b.look(l)
		b.accessible(what)
		b.inPlace(what)
	}
	b.inspected++
}

// inPlace fails the test for what has a style or a script of its own, and for
// what stands out of its place.
func (b *tab) inPlace(what string) {
	b.t.Helper()
	if n := eval[int](b, `document.querySelectorAll('[style], style, script:not([src]), [onclick]').length`); n > 0 {
		b.t.Errorf("%s: %d elements have a style or script of their own", what, n)
	}
	if wide := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
		b.t.Errorf("%s: %d pixels stand out sideways", what, wide)
	}
	if text := eval[string](b, `[...document.querySelectorAll('main td')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.innerText).join()`); text != "" {
		b.t.Errorf("%s: stands out of its cell: %s", what, text)
	}
}

func TestEntrancePages(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	b := newTab(t, n.url)
	b.inspect("/signup", "/login", "/forgot", "/forgot?sent=1")
}

// The longest pages of the documentation, one with each kind of thing.
func TestDocumentationPages(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	b := newTab(t, n.url)
	b.open("/docs")
	b.fill("input[name=q]", "choose a lease")
	b.evaluate(`document.querySelector('[role=search]').requestSubmit()`)
	b.await("it is found", `document.querySelector('.doc-found a')?.getAttribute('href') === '/docs/claims#choosing-a-lease'`)
	b.inspect("/docs", "/docs/claims?lang=python", "/docs/operating", "/docs/providers", "/docs?q=lease")
	for _, path := range []string{"/docs/claims", "/docs/verifying", "/docs/providers", "/docs/api"} {
		b.bytes()
		b.open(path)
		if sent := b.bytes(); sent > laterVisit {
			t.Errorf("%s sends %d bytes, want at most %d", path, sent, laterVisit)
		}
	}
}
