package docs

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Sample is a piece of code, in one language or in several of which the reader
// sees the one of their choice.
type Sample struct {
	ID       string
	Variants []Variant
}

// Variant is a piece of code in one language.
type Variant struct {
	// Language is its name in addresses and in Markdown: go, js, python.
	Language string
	// File is the name of the file that it would be; often empty.
	File string
	// Text is the code, without a line end at its end.
	Text string
	// Lines are the code with its colours.
	Lines Prose
}

// Language is one that readers can choose.
type Language struct {
	// Name is its name in addresses, Label the one for people.
	Name, Label string
}

// Languages are those that samples come in, in the order of the switch.
var Languages = []Language{
	{"bash", "curl"},
	{"go", "Go"},
	{"js", "Node"},
	{"python", "Python"},
	{"php", "PHP"},
	{"ruby", "Ruby"},
	{"java", "Java"},
}

// others are languages that are never one of several.
var others = []Language{{"json", "JSON"}, {"http", "HTTP"}, {"sql", "SQL"}, {"text", "Text"}, {"cel", "CEL"}, {"console", "Terminal"}, {"yaml", "YAML"}}

// Label is the language's name for people.
func (v Variant) Label() string {
	for _, l := range append(Languages, others...) {
		if l.Name == v.Language {
			return l.Label
		}
	}
	return v.Language
}

// Title is what stands above the code.
func (v Variant) Title() string { return cmp.Or(v.File, v.Label()) }

// Chosen is the variant in a language, or the first where there is none.
func (s *Sample) Chosen(language string) Variant {
	for _, v := range s.Variants {
		if v.Language == language {
			return v
		}
	}
	return s.Variants[0]
}

// Speaks tells whether a language can be chosen.
func Speaks(language string) bool {
	for _, l := range Languages {
		if l.Name == language {
			return true
		}
	}
	return false
}

// code takes a fenced block. Several that stand below one another without an
// empty line between them are one sample in several languages.
func (r *pageReader) code(n *ast.FencedCodeBlock) error {
	if err := r.flush(); err != nil {
		return err
	}
	v, err := r.variant(n)
	if err != nil {
		return err
	}
	if bytes.HasSuffix(r.source[:n.Pos()], []byte("```\n")) {
		s := r.page.Blocks[len(r.page.Blocks)-1].Sample
		s.Variants = append(s.Variants, v)
		return nil
	}
	r.add(Block{Sample: &Sample{ID: "code-" + strconv.Itoa(r.samples()+1), Variants: []Variant{v}}})
	return nil
}

// samples is how many the page has so far.
func (r *pageReader) samples() (n int) {
	for _, b := range r.page.Blocks {
		if b.Sample != nil {
			n++
		}
	}
	return n
}

// variant reads a block's code. Behind the language stands the file's name.
func (r *pageReader) variant(n *ast.FencedCodeBlock) (Variant, error) {
	var v Variant
	if n.Info != nil {
		v.Language, v.File, _ = strings.Cut(string(n.Info.Segment.Value(r.source)), " ")
	}
	v.Text = strings.TrimRight(string(n.Lines().Value(r.source)), "\n")
	r.noteCode(v.Text)
	var err error
	v.Lines, err = paint(v.Language, v.Text)
	return v, err
}
