package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// The documentation is for everybody: signed out and signed in.
func TestDocumentationIsForEverybody(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	nobody, owner := b.newBrowser(t), b.signedUp(t, "Acme")
	for _, w := range []*browser{nobody, owner} {
		home := w.get("/docs")
		home.wantStatus(http.StatusOK)
		if title := home.Find("h1").Text(); title != "Documentation" {
			t.Errorf("the first page is called %q", title)
		}
		for _, link := range home.Find("main .doc-list a").EachIter() {
			p := w.get(link.AttrOr("href", ""))
			p.wantStatus(http.StatusOK)
			if title := p.Find("main h1").Text(); title != link.Text() {
				t.Errorf("%s leads to %q", link.Text(), title)
			}
		}
	}
	if nobody.get("/docs").Find("a[href='/login']").Length() != 1 || owner.get("/docs").Find("header a[href='/']").Length() != 1 {
		t.Error("the way on is missing")
	}
}

// A page that is not there says so, and offers the others.
func TestDocumentationWithoutAPage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).newBrowser(t)
	for _, slug := range []string{"nothing", "claims.md", "%3Cscript%3E", "%ff", "..%2Fgo.mod", strings.Repeat("x", 500)} {
		p := w.get("/docs/" + slug)
		p.wantStatus(http.StatusNotFound)
		if !strings.Contains(p.Find("h1").Text(), "There is no page") || p.Find(".doc-list a").Length() == 0 {
			t.Errorf("%.20s: %q", slug, p.Find("h1").Text())
		}
	}
}

func TestDocumentationSearch(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).newBrowser(t)
	p := w.get("/docs?q=choosing+a+lease")
	p.wantStatus(http.StatusOK)
	first := p.Find(".doc-found a").First()
	if first.AttrOr("href", "") != "/docs/claims#choosing-a-lease" || p.Find(".doc-found mark").Length() == 0 {
		t.Errorf("it finds %q", first.AttrOr("href", ""))
	}
	target := w.get("/docs/claims")
	if target.Find("h2#choosing-a-lease").Length() != 1 {
		t.Error("the place that was found is not there")
	}
	if value := p.Find("input[name='q']").AttrOr("value", ""); value != "choosing a lease" {
		t.Errorf("the field says %q", value)
	}
	for _, query := range []string{"zebra", "\"><script>alert(1)</script>", "\xff\x00", strings.Repeat("é", 5000)} {
		p := w.get("/docs?q=" + url.QueryEscape(query))
		p.wantStatus(http.StatusOK)
		if p.Find("script:not([src])").Length() != 0 || !strings.Contains(p.Find(".doc-lede").Text(), "Nothing in the documentation") {
			t.Errorf("%.20q: %q", query, p.Find(".doc-lede").Text())
		}
	}
}

// The language of code is chosen by a link, and remembered for other pages.
func TestDocumentationInALanguage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).newBrowser(t)
	shown := func(p page) (files []string) {
		for _, e := range p.Find(".doc-code:has(nav) .pane-h .mono").EachIter() {
			files = append(files, e.Text())
		}
		return files
	}
	first := w.get("/docs/claims")
	if files := shown(first); len(files) != 2 || files[0] != "welcome.sh" {
		t.Fatalf("without a choice it shows %v", files)
	}
	link := first.Find(".doc-code nav a").FilterFunction(func(_ int, s *goquery.Selection) bool { return s.Text() == "Python" }).First()
	to := link.AttrOr("href", "")
	chosen := w.get("/docs/claims" + to[:strings.IndexByte(to, '#')])
	if files := shown(chosen); len(files) != 2 || files[0] != "welcome.py" || files[1] != "charge.py" {
		t.Errorf("with %s it shows %v", to, files)
	}
	if current := chosen.Find(".doc-code nav").First().Find("[aria-current]"); current.Text() != "Python" {
		t.Errorf("%q is marked", current.Text())
	}
	if chosen.Find(to[strings.IndexByte(to, '#'):]).Length() != 1 {
		t.Errorf("%s leads to nothing", to)
	}
	if files := shown(w.get("/docs/claims")); files[0] != "welcome.py" {
		t.Errorf("it is forgotten: %v", files)
	}
	if files := shown(w.get("/docs/claims?lang=cobol")); files[0] != "welcome.py" {
		t.Errorf("another language shows %v", files)
	}
	if files := shown(w.get("/docs/claims?lang=ruby")); files[0] != "welcome.sh" {
		t.Errorf("a language that the page has not shows %v", files)
	}
}
