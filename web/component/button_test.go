package component_test

import (
	"testing"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/web/component"
)

func TestButton(t *testing.T) {
	t.Parallel()
	doc := group(t,
		component.Button{Label: "Plain", Attrs: templ.Attributes{"id": "plain"}},
		component.Button{Label: "Send", Submit: true, Name: "do", Value: "it", Variant: component.Danger, Size: component.Small, Attrs: templ.Attributes{"id": "submit"}},
		component.Button{Label: "Off", Disabled: true, Attrs: templ.Attributes{"id": "off"}},
		component.Button{Label: "Link", Href: "/x", Attrs: templ.Attributes{"id": "link"}},
		component.Button{Label: "Rotate…", Href: "/rotate", Dialog: true, Attrs: templ.Attributes{"id": "dialog"}},
		component.Button{Label: "Dead", Href: "/x", Disabled: true, Attrs: templ.Attributes{"id": "dead"}},
		component.IconButton{Icon: "x", Label: "Close", Attrs: templ.Attributes{"id": "icon"}},
	)
	one(t, doc, `button#plain[type="button"]:not([name]):not([disabled]):not([data-variant])`)
	one(t, doc, `button#submit[type="submit"][name="do"][value="it"][data-variant="danger"][data-size="sm"]`)
	one(t, doc, `button#off[disabled]`)
	one(t, doc, `a#link[href="/x"]:not([type]):not([hx-get])`)
	one(t, doc, `a#dialog[href="/rotate"][hx-get="/rotate"][hx-target="#dialog"][aria-haspopup="dialog"]`)
	one(t, doc, `a#dead[aria-disabled="true"][role="link"]:not([href])`)
	if button := one(t, doc, `button#icon[data-icon][aria-label="Close"]`); text(button) != "" {
		t.Errorf("icon button shows %q", text(button))
	}
}

func TestLinksNeverRunScripts(t *testing.T) {
	t.Parallel()
	const script = "javascript:alert(1)"
	doc := group(t,
		component.Button{Label: "x", Href: script}, component.Link(script, "x"), component.MenuItem{Label: "x", Href: script},
		component.Pager{Newer: script, Older: script}, component.Seg("x", []component.Choice{{Text: "x", Href: script}}),
		component.TabLinks("x", []component.Choice{{Text: "x", Href: script}}), component.Title{Crumbs: []component.Crumb{{Text: "x", Href: script}}},
		component.LiveNew("x", "x", "x", script), component.Stat{Label: "x", Href: script},
		component.StackChart{Bins: []component.Bin{{Label: "x", OK: 1, Href: script}}}, component.Bulk{MatchText: "x", MatchHref: script},
	)
	links := doc.Find("[href]")
	if links.Length() < 11 {
		t.Errorf("%d links, want all of them", links.Length())
	}
	for i := range links.Nodes {
		if href := attr(links.Eq(i), "href"); href == script {
			t.Errorf("%s leads to a script", links.Eq(i).Text())
		}
	}
}

func TestMenu(t *testing.T) {
	t.Parallel()
	doc := group(t, component.Menu{Icon: "ellipsis", Name: "More", End: true}, component.MenuItem{Label: "Delete…", Href: "/d", Dialog: true, Tone: component.ToneBad}, component.MenuItem{Label: "Do", Name: "n", Value: "v"})
	one(t, doc, `details.menu[data-align="end"] > summary[aria-label="More"][data-icon]`)
	one(t, doc, `a.menu-item[href="/d"][hx-get="/d"][data-tone="bad"]`)
	one(t, doc, `button.menu-item[type="submit"][name="n"][value="v"]`)
}

func TestPager(t *testing.T) {
	t.Parallel()
	doc := render(t, component.Pager{Text: "Newest 50", Older: "/events?after=x"})
	one(t, doc, `nav a[rel="next"][href="/events?after=x"]`)
	one(t, doc, `nav span[aria-disabled="true"]`)
	if doc.Find("a").Length() != 1 {
		t.Error("a page that does not exist has a link")
	}
}
