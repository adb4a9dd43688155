package dashboard

import (
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/rowlock/rowlock/web/docs"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// languageCookie holds in which language this browser's reader wants code.
	languageCookie = "rowlock_language"
	// maxDocsQuery bounds what is searched for, in bytes.
	maxDocsQuery = 200
)

// library is the documentation, read when somebody first asks for it: a start
// need not wait for its code to be coloured.
var library = sync.OnceValues(func() (*docs.Library, error) { return docs.Load(docsTexts()) })

func addDocsRoutes(r router) {
	r.open(get, docs.Path, showDocs)
	r.open(get, docs.Path+"/:page", showDoc)
}

// showDocs lists the pages, or what a search found.
func showDocs(v *visit) error {
	query := strings.ToValidUTF8(strings.TrimSpace(v.QueryParam("q")), "")
	for len(query) > maxDocsQuery {
		_, last := utf8.DecodeLastRuneInString(query)
		query = query[:len(query)-last]
	}
	l, err := library()
	if err != nil {
		return err
	}
	home := v.docsHome(l, "Contents")
	home.Reader.Query = query
	if query != "" {
		home.Reader.Title, home.Results = "Search", l.Search(query)
	}
	return v.page(page.DocsHomePage(home))
}

func showDoc(v *visit) error {
	l, err := library()
	if err != nil {
		return err
	}
	slug := v.Param("page")
	p, ok := l.Page(slug)
	if !ok {
		home := v.docsHome(l, "No such page")
		home.Missing = strings.ToValidUTF8(slug, "")
		return v.render(http.StatusNotFound, page.DocsHomePage(home))
	}
	view := page.Doc{Reader: v.reader(l, p.Title), Page: *p, Language: v.language()}
	view.Before, view.After = l.Around(slug)
	return v.page(page.DocPage(view))
}

// language is the one in which the reader wants code. One that is chosen in the
// address is remembered, for the other pages.
func (v *visit) language() string {
	chosen := v.QueryParam("lang")
	if !docs.Speaks(chosen) {
		return v.cookie(languageCookie)
	}
	if chosen != v.cookie(languageCookie) {
		v.remember(languageCookie, chosen)
	}
	return chosen
}

func (v *visit) docsHome(l *docs.Library, title string) page.DocsHome {
	home := page.DocsHome{Reader: v.reader(l, title)}
	for _, c := range l.Chapters {
		chapter := page.DocsChapter{Title: c.Title}
		for _, p := range c.Pages {
			chapter.Pages = append(chapter.Pages, page.DocsEntry{Title: p.Title, Lede: p.Lede, Href: p.Address()})
		}
		home.Chapters = append(home.Chapters, chapter)
	}
	return home
}

// reader is what stands around a page of the documentation.
func (v *visit) reader(l *docs.Library, title string) layout.Reader {
	r := layout.Reader{Title: title, Theme: v.theme(), Here: v.here(), Known: v.known()}
	for _, c := range l.Chapters {
		chapter := layout.ReaderChapter{Title: c.Title}
		for _, p := range c.Pages {
			chapter.Pages = append(chapter.Pages, layout.ReaderPage{Title: p.Title, Href: p.Address(), Current: p.Address() == v.Request().URL.Path})
		}
		r.Chapters = append(r.Chapters, chapter)
	}
	return r
}
