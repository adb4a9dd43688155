package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Page is one page.
type Page struct {
	// Slug is its name in addresses; Chapter is the title of its chapter.
	Slug, Chapter string
	// Title and Lede are its first heading and paragraph, as text.
	Title, Lede string
	// Blocks are what stands below its title, the lede included.
	Blocks []Block
	// sections are what is searched.
	sections []section
}

// Address is where the page is.
func (p *Page) Address() string { return Path + "/" + p.Slug }

// Headings are those that the page's own table of contents lists.
func (p *Page) Headings() (all []*Heading) {
	for _, b := range p.Blocks {
		if b.Heading != nil {
			all = append(all, b.Heading)
		}
	}
	return all
}

// Block is a part of a page; one of its fields is set.
type Block struct {
	Heading *Heading
	Sample  *Sample
	Table   *Prose
	Prose   *Prose
}

// Heading is a heading below the title.
type Heading struct {
	// Level is 2 or 3.
	Level int
	ID    string
	Text  string
}

// Prose is text with its markup. It comes from this folder's files alone.
type Prose struct{ html string }

// Render writes the markup.
func (p Prose) Render(_ context.Context, w io.Writer) error {
	_, err := io.WriteString(w, p.html)
	return err
}

var (
	errNoTitle = errors.New("it does not begin with a title")
	errRawHTML = errors.New("it has raw HTML")
	errNested  = errors.New("code stands in a list or a quotation, where it has no button that copies it")
	errLevel   = errors.New("a heading is deeper than the third level")
	errGap     = errors.New("a text that others bring has no name among them")
)

var markdown = goldmark.New(
	// Alignment would be an inline style, which the pages' policy forbids.
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
	goldmark.WithParserOptions(
		parser.WithAutoHeadingID(),
		parser.WithASTTransformers(util.Prioritized(links{}, 1000)),
	),
)

// parse reads a page.
func parse(slug, source string) (*Page, error) {
	r := pageReader{page: &Page{Slug: slug}, source: []byte(source)}
	doc := markdown.Parser().Parse(text.NewReader(r.source))
	if err := check(doc); err != nil {
		return nil, err
	}
	title, ok := doc.FirstChild().(*ast.Heading)
	if !ok || title.Level != 1 {
		return nil, errNoTitle
	}
	r.page.Title = plainText(title, r.source)
	r.begin("", "")
	for n := title.NextSibling(); n != nil; n = n.NextSibling() {
		if err := r.read(n); err != nil {
			return nil, err
		}
	}
	if err := r.flush(); err != nil {
		return nil, err
	}
	r.page.index()
	return r.page, nil
}

// check refuses what a page cannot show.
func check(doc ast.Node) error {
	return ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock, *ast.RawHTML:
			return ast.WalkStop, errRawHTML
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if n.Parent() != doc {
				return ast.WalkStop, errNested
			}
		case *ast.Heading:
			if n.Level > 3 {
				return ast.WalkStop, errLevel
			}
		}
		return ast.WalkContinue, nil
	})
}

// pageReader turns a document's parts into blocks.
type pageReader struct {
	page   *Page
	source []byte
	// prose are the nodes that have not become a block yet.
	prose []ast.Node
}

// read takes one part of the document.
func (r *pageReader) read(n ast.Node) error {
	switch n := n.(type) {
	case *ast.Heading:
		return r.heading(n)
	case *ast.FencedCodeBlock:
		return r.code(n)
	case *extast.Table:
		return r.table(n)
	default:
		return r.paragraph(n)
	}
}

func (r *pageReader) heading(n *ast.Heading) error {
	if err := r.flush(); err != nil {
		return err
	}
	id, _ := n.AttributeString("id")
	name, _ := id.([]byte)
	h := &Heading{Level: n.Level, ID: string(name), Text: plainText(n, r.source)}
	r.add(Block{Heading: h})
	r.begin(h.ID, h.Text)
	return nil
}

func (r *pageReader) table(n ast.Node) error {
	if err := r.flush(); err != nil {
		return err
	}
	markup, err := r.render(n)
	r.add(Block{Table: &Prose{markup}})
	r.note(n)
	return err
}

func (r *pageReader) paragraph(n ast.Node) error {
	words := plainText(n, r.source)
	if strings.HasPrefix(words, "{{") {
		return fmt.Errorf("%w: %s", errGap, words)
	}
	if r.page.Lede == "" {
		r.page.Lede = words
	}
	r.prose = append(r.prose, n)
	r.note(n)
	return nil
}

func (r *pageReader) add(b Block) { r.page.Blocks = append(r.page.Blocks, b) }

// flush makes a block of the prose that was read.
func (r *pageReader) flush() error {
	if len(r.prose) == 0 {
		return nil
	}
	markup, err := r.render(r.prose...)
	r.add(Block{Prose: &Prose{markup}})
	r.prose = nil
	return err
}

func (r *pageReader) render(nodes ...ast.Node) (string, error) {
	var out bytes.Buffer
	for _, n := range nodes {
		if err := markdown.Renderer().Render(&out, r.source, n); err != nil {
			return "", fmt.Errorf("draw: %w", err)
		}
	}
	return out.String(), nil
}

// plainText is what a node says, without its markup.
func plainText(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				out.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					out.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				out.Write(n.Value)
			}
		default:
			if n.Type() == ast.TypeBlock && !entering {
				out.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(out.String()), " ")
}
