package docs

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// links leads links between the files to the pages, so that they work in a
// checkout and in the product.
type links struct{}

var _ parser.ASTTransformer = links{}

// Transform changes the destinations of links to other files of the folder.
func (links) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(address(string(link.Destination)))
		}
		return ast.WalkContinue, nil
	})
}

// address is where a link leads in the product.
func address(to string) string {
	file, fragment, _ := strings.Cut(to, "#")
	slug, ok := strings.CutSuffix(file, ".md")
	if !ok || strings.Contains(slug, "/") {
		return to
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	return Path + "/" + slug + fragment
}
