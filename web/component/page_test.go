package component_test

import (
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/web/component"
)

func TestTabsShowEverythingWithoutAScript(t *testing.T) {
	t.Parallel()
	doc := render(t, component.Tabs{ID: "body", Label: "Event content", Panels: []component.Panel{
		{Title: "Payload", Body: component.Tag("one")}, {Title: "Headers", Count: "4", Body: component.Tag("two")},
	}})
	one(t, doc, `[role="tablist"][hidden][aria-label="Event content"]`)
	tabs := doc.Find(`[role="tab"]`)
	if tabs.Length() != 2 || doc.Find(`[role="tab"][aria-selected="true"]`).Length() != 1 {
		t.Errorf("%d tabs, want two of which one is selected", tabs.Length())
	}
	tabs.Each(func(_ int, tab *goquery.Selection) {
		panel := one(t, doc, `[role="tabpanel"]#`+attr(tab, "aria-controls"))
		if attr(panel, "aria-labelledby") != attr(tab, "id") {
			t.Errorf("panel %s is not labelled by its tab", attr(panel, "id"))
		}
		if _, hidden := panel.Attr("hidden"); hidden || panel.Find(".panel-title").Length() != 1 {
			t.Errorf("panel %s is hidden, or has no title", attr(panel, "id"))
		}
	})
}

func TestAttempt(t *testing.T) {
	t.Parallel()
	doc := group(t,
		component.Attempt{ID: "a1", Name: evil[0], Number: 3, Code: 503, Took: 189 * time.Millisecond, Open: true, Next: "retry in 5 s"},
		component.Attempt{ID: "a2", Name: "ERP", Number: 1, Failure: "Timeout", Took: 15 * time.Second},
	)
	open := one(t, doc, "details#a1[open] summary")
	for _, want := range []string{evil[0], "attempt 3", "503", "retry in 5 s", "189 ms"} {
		if !strings.Contains(open.Text(), want) {
			t.Errorf("%q lacks %q", open.Text(), want)
		}
	}
	closed := one(t, doc, "details#a2:not([open]) summary")
	if got := text(closed.Find(".code-status")); got != "Timeout" {
		t.Errorf("failure = %q", got)
	}
}

func TestTimingBarLeavesOutWhatDidNotHappen(t *testing.T) {
	t.Parallel()
	if got := markup(t, component.TimingBar(component.Timing{})); got != "" {
		t.Errorf("no timing is %q", got)
	}
	doc := render(t, component.TimingBar(component.Timing{Wait: 120 * time.Millisecond, Receive: time.Microsecond}))
	if got := doc.Find("rect").Length(); got != 2 {
		t.Errorf("%d phases, want 2", got)
	}
	if got, want := attr(one(t, doc, "svg"), "aria-label"), "Timing: Waiting 120 ms, Receive <1 ms"; got != want {
		t.Errorf("label = %q, want %q", got, want)
	}
}

func TestSecret(t *testing.T) {
	t.Parallel()
	hidden := render(t, component.Secret{Label: "signing secret", Hint: "whsec_…Qm4e", RevealAction: "/reveal"})
	one(t, hidden, `form[method="post"][action="/reveal"] button[aria-label="Reveal signing secret"]`)
	if hidden.Find("[data-copy]").Length() != 0 {
		t.Error("what is not shown can be copied")
	}
	shown := render(t, component.Secret{Label: "signing secret", Value: "whsec_abc", RevealAction: "/reveal"})
	one(t, shown, `[data-copy="whsec_abc"]`)
	if shown.Find("form").Length() != 0 {
		t.Error("what is shown can be revealed")
	}
}

func TestDialogForm(t *testing.T) {
	t.Parallel()
	form := component.DialogForm{
		Title: "Rotate", Action: "/rotate", Cancel: "/back", Submit: component.Button{Label: "Rotate secret"},
		Hidden: component.Hidden("token", `"x`),
	}
	doc := render(t, form)
	one(t, doc, `form.dialog[method="post"][action="/rotate"][aria-labelledby="dialog-title"]`)
	one(t, doc, `h2#dialog-title`)
	one(t, doc, `a[href="/back"][data-close]`)
	one(t, doc, `button[type="submit"][data-variant="primary"]`)
	if got := attr(one(t, doc, `input[type="hidden"][name="token"]`), "value"); got != `"x` {
		t.Errorf("hidden value = %q", got)
	}
	form.Heading = true
	one(t, render(t, form), "h1#dialog-title")
}

func TestChipSendsItsChoices(t *testing.T) {
	t.Parallel()
	doc := group(t,
		component.Chip{Label: "Status", Name: "status", Value: strings.Repeat("long ", 20), Options: []component.Option{{Value: "failed", Label: evil[1], Selected: true, Count: "23"}, {Value: "held", Label: "Held"}}},
		component.Chip{Label: "Since", Name: "since", Single: true, Options: []component.Option{{Value: "1h", Label: "Last hour"}}},
	)
	one(t, doc, `summary.chip[data-on]`)
	one(t, doc, `input[type="checkbox"][name="status"][value="failed"][checked]`)
	one(t, doc, `input[type="radio"][name="since"][value="1h"]:not([checked])`)
	if doc.Find(`button[type="submit"]`).Length() != 2 {
		t.Error("a chip cannot be applied")
	}
}

func TestToastsThatReportErrorsAlert(t *testing.T) {
	t.Parallel()
	doc := group(t, component.Toast{Title: "Saved"}, component.Toast{Title: evil[0], Tone: component.ToneBad})
	one(t, doc, `[data-toast][role="status"][data-tone="ok"]`)
	one(t, doc, `[data-toast][role="alert"][data-tone="bad"]`)
}

func TestTitle(t *testing.T) {
	t.Parallel()
	doc := render(t, component.Title{
		Text: evil[2], Lede: "About it.", Badge: component.Badge("active"),
		Crumbs: []component.Crumb{{Text: "Endpoints", Href: "/e"}, {Text: evil[3]}},
	})
	if got := text(one(t, doc, "h1 > span:first-child")); got != "a⟨U+202E⟩b" {
		t.Errorf("title = %q", got)
	}
	if got := text(one(t, doc, `nav [aria-current="page"]`)); got != "nul⟨U+0000⟩" {
		t.Errorf("last crumb = %q", got)
	}
	if bare := render(t, component.Title{Text: "x"}); bare.Find("nav, .lede").Length() != 0 {
		t.Error("a bare title has more than itself")
	}
}

// Nothing that a component is given gets out of the text it belongs to.
func TestHostileTextsStayText(t *testing.T) {
	t.Parallel()
	for _, s := range evil {
		choices := []component.Choice{{Text: s, Href: s, Count: s}}
		doc := group(t,
			component.Badge(s), component.BadgeText(s, s), component.Tag(s), component.Outcome(s, s), component.Copy(s, s), component.Link(s, s),
			component.Button{Label: s, Href: s, Name: s, Value: s}, component.IconButton{Icon: s, Label: s},
			component.Field{Name: "a", Label: s, Value: s, Hint: s, Error: s, Placeholder: s}, component.TextArea{Name: "b", Value: s},
			component.Select{Name: "c", Options: []component.Option{{Value: s, Label: s}}},
			component.RadioCards{Name: "d", Options: []component.Option{{Value: s, Label: s, Hint: s}}, Icons: true},
			component.Checkboxes{Name: "e", Label: s, Hint: s, Error: s, Options: []component.Option{{Value: s, Label: s}}},
			component.Callout{Title: s, Text: s, Icon: s}, component.Empty{Icon: s, Title: s, Text: s}, component.Toast{Title: s, Text: s},
			component.StackChart{Title: s, Marks: []string{s}, Bins: []component.Bin{{Label: s, OK: 1, Href: s}}}, component.Sparkline{Values: []float64{1}, Label: s},
			component.Ticks([]string{s}, s), component.Stat{Label: s, Value: s, Change: s, Note: s}, component.Step{Time: s, Icon: s, Title: s, Note: s, End: s},
			component.Attempt{Name: s, Failure: s, Next: s}, component.CodeText(s, s), component.ChecklistItem{Title: s, Text: s},
			component.Secret{Value: s, Label: s}, component.Secret{Hint: s, RevealAction: s}, component.MenuItem{Label: s, Note: s, Href: s},
			component.Chip{Label: s, Value: s, Options: []component.Option{{Value: s, Label: s}}}, component.Search{Value: s}, component.Seg(s, choices),
			component.TabLinks(s, choices), component.Title{Text: s, Lede: s, Crumbs: []component.Crumb{{Text: s}}}, component.SourceName(s, s), component.Avatar(s),
			component.JSON([]byte(s)), component.Snippet(s, s), component.Headers([]component.Header{{Name: s, Value: s}}), component.SelectRow(s, s, s, s),
			component.LiveNew(s, s, s, s), component.DialogForm{Title: s, Action: s, Cancel: s},
		)
		if found := doc.Find("script, img, [onerror], [onfocus]"); found.Length() != 0 {
			t.Errorf("%q made markup: %v", s, found.Nodes[0].Data)
		}
		doc.Find("textarea").Remove() // gives back what was typed
		if shown := doc.Text(); strings.ContainsAny(shown, "\u202e\x00") || strings.Contains(shown, "\xff") {
			t.Errorf("%q hides something in the text", s)
		}
	}
}

func TestKitObeysTheContentSecurityPolicy(t *testing.T) {
	t.Parallel()
	doc := render(t, component.Kit())
	if got := doc.Find("[style], style, script").Length(); got != 0 {
		t.Errorf("%d inline styles or scripts", got)
	}
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Nodes[0].Attr {
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s has the handler %s", goquery.NodeName(s), a.Key)
			}
		}
	})
}

func TestKitHasNoIDTwice(t *testing.T) {
	t.Parallel()
	doc := render(t, component.Kit())
	seen := map[string]bool{"dialog-title": true} // pages have one dialog, the kit shows two
	doc.Find("[id]").Each(func(_ int, s *goquery.Selection) {
		id := attr(s, "id")
		if seen[id] && id != "dialog-title" {
			t.Errorf("the id %q is there twice", id)
		}
		seen[id] = true
	})
	doc.Find("[aria-describedby], [aria-controls], label[for]").Each(func(_ int, s *goquery.Selection) {
		for _, name := range []string{"aria-describedby", "aria-controls", "for"} {
			for id := range strings.FieldsSeq(attr(s, name)) {
				if !seen[id] {
					t.Errorf("%s names %q, which is not there", name, id)
				}
			}
		}
	})
}

func TestKitNamesItsControls(t *testing.T) {
	t.Parallel()
	render(t, component.Kit()).Find("button, a, summary").Each(func(_ int, s *goquery.Selection) {
		if text(s) == "" && attr(s, "aria-label") == "" && !s.Is(".live-new, .bin") {
			html, _ := goquery.OuterHtml(s)
			t.Errorf("a control has no name: %.120s", html)
		}
	})
}

var _ templ.Component = component.Button{}
