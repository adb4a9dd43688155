package page

import (
	"net/url"

	"github.com/rowlock/rowlock/web/docs"
	"github.com/rowlock/rowlock/web/layout"
)

// Doc is one page of the documentation.
type Doc struct {
	Reader layout.Reader
	Page   docs.Page
	// Language is the one in which the reader wants code; empty for the first.
	Language string
	// Before and After are the pages beside it; nil at either end.
	Before, After *docs.Page
}

// languages are the links that choose another language for all code of a page.
func (v Doc) languages(s *docs.Sample) []languageLink {
	chosen := s.Chosen(v.Language).Language
	links := make([]languageLink, len(s.Variants))
	for i, variant := range s.Variants {
		links[i] = languageLink{
			Label: variant.Label(), Current: variant.Language == chosen,
			Href: "?lang=" + url.QueryEscape(variant.Language) + "#" + url.QueryEscape(s.ID),
		}
	}
	return links
}

// languageLink chooses a language.
type languageLink struct {
	Label, Href string
	Current     bool
}

// DocsHome is the first page of the documentation, or what a search found.
type DocsHome struct {
	Reader layout.Reader
	// Missing is the address of a page that is not there; empty if none was
	// asked for.
	Missing  string
	Chapters []DocsChapter
	Results  []docs.Result
}

// DocsChapter is some pages under a title.
type DocsChapter struct {
	Title string
	Pages []DocsEntry
}

// DocsEntry is a page in a list.
type DocsEntry struct{ Title, Lede, Href string }
