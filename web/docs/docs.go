// Package docs is the product's own documentation: the Markdown files of this
// folder, read once into pages that can be drawn, linked and searched.
//
// A paragraph that says nothing but {{name}} is replaced by a text that whoever
// loads the pages brings, such as the table of settings: what another part of
// the product knows is never typed a second time. Raw HTML is refused.
package docs

import (
	"embed"
	"fmt"
	"strings"
	"sync"
)

// Path is where the pages are, without a slash at the end.
const Path = "/docs"

//go:embed *.md
var files embed.FS

// Chapter is some pages under a title, in the order in which they are read.
type Chapter struct {
	Title string
	Pages []*Page
}

// contents are the chapters, with the names of their pages' files.
var contents = []struct {
	title string
	slugs []string
}{
	{"Start here", []string{"quickstart", "demo", "concepts"}},
	{"Your receiver", []string{"receiving", "verifying", "listen", "claims"}},
	{"The gateway", []string{"providers", "facts", "retries", "reconcile"}},
	{"Run and automate", []string{"operating", "deploying", "backups", "api"}},
}

// Library is every page.
type Library struct {
	Chapters []Chapter
	// pages are those of all chapters, in order.
	pages []*Page
}

// Load reads the pages. generated are the texts, in Markdown, that stand where
// a page names them.
func Load(generated map[string]string) (*Library, error) {
	l := &Library{}
	for _, c := range contents {
		chapter := Chapter{Title: c.title}
		for _, slug := range c.slugs {
			text, err := files.ReadFile(slug + ".md")
			if err != nil {
				return nil, fmt.Errorf("read the documentation: %w", err)
			}
			p, err := parse(slug, fillIn(string(text), generated))
			if err != nil {
				return nil, fmt.Errorf("read the documentation's page %s: %w", slug, err)
			}
			p.Chapter = c.title
			chapter.Pages = append(chapter.Pages, p)
		}
		l.Chapters = append(l.Chapters, chapter)
		l.pages = append(l.pages, chapter.Pages...)
	}
	return l, nil
}

// fillIn puts the generated texts in their places. A place without a text stays
// as it is.
func fillIn(text string, generated map[string]string) string {
	for name, value := range generated {
		text = strings.ReplaceAll(text, "\n{{"+name+"}}\n", "\n"+value+"\n")
	}
	return text
}

// Pages are those of all chapters, in order.
func (l *Library) Pages() []*Page { return l.pages }

// Page returns the page of this name, and whether there is one.
func (l *Library) Page(slug string) (*Page, bool) {
	for _, p := range l.pages {
		if p.Slug == slug {
			return p, true
		}
	}
	return nil, false
}

// Around are the pages before and after one; nil at either end.
func (l *Library) Around(slug string) (before, after *Page) {
	for i, p := range l.pages {
		if p.Slug != slug {
			continue
		}
		if i > 0 {
			before = l.pages[i-1]
		}
		if i+1 < len(l.pages) {
			after = l.pages[i+1]
		}
	}
	return before, after
}

// examples are the pages that code was taken of, by their names.
var examples sync.Map

// Example is a piece of code of a page, by the name of its file: what is shown
// in the documentation is what other pages show and what tests run. A name that
// is not there is a fault of the program.
func Example(slug, file string) Variant {
	p, err := exampleOf(slug)
	if err != nil {
		panic(err)
	}
	for _, b := range p.Blocks {
		if b.Sample == nil {
			continue
		}
		for _, v := range b.Sample.Variants {
			if v.File == file {
				return v
			}
		}
	}
	panic(fmt.Sprintf("docs: the page %s has no code called %s", slug, file))
}

// exampleOf reads a page that says everything itself.
func exampleOf(slug string) (*Page, error) {
	if p, ok := examples.Load(slug); ok {
		return p.(*Page), nil
	}
	text, err := files.ReadFile(slug + ".md")
	if err != nil {
		return nil, fmt.Errorf("read the documentation: %w", err)
	}
	p, err := parse(slug, string(text))
	if err != nil {
		return nil, fmt.Errorf("read the documentation's page %s: %w", slug, err)
	}
	examples.Store(slug, p)
	return p, nil
}
