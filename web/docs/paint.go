package docs

import (
	"fmt"
	"html"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// paint colours code with the classes that the product's style sheet has for
// it, line by line. What visitors and tenants send is never coloured here: the
// lexers' expressions are only fit for text that is known.
func paint(language, code string) (Prose, error) {
	lexer := lexers.Get(lexerOf(language))
	if lexer == nil {
		lexer = lexers.Fallback
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, code+"\n")
	if err != nil {
		return Prose{}, fmt.Errorf("colour the code: %w", err)
	}
	var out strings.Builder
	out.WriteString(`<pre class="code" data-plain tabindex="0">`)
	for _, line := range chroma.SplitTokensIntoLines(tokens.Tokens()) {
		out.WriteString(`<span class="ln">`)
		for _, token := range line {
			write(&out, token)
		}
		out.WriteString("\n</span>")
	}
	out.WriteString(`</pre>`)
	return Prose{out.String()}, nil
}

// lexerOf is what the library calls a language.
func lexerOf(language string) string {
	switch language {
	case "console":
		return "bash"
	case "cel":
		return "python" // its words, numbers and texts look alike
	default:
		return language
	}
}

func write(out *strings.Builder, token chroma.Token) {
	text := html.EscapeString(strings.TrimSuffix(token.Value, "\n"))
	class := classOf(token.Type)
	if text == "" || class == "" {
		out.WriteString(text)
		return
	}
	out.WriteString(`<span class="` + class + `">` + text + `</span>`)
}

// classOf is the style sheet's class for a kind of token.
func classOf(kind chroma.TokenType) string {
	switch {
	case kind.InCategory(chroma.Comment):
		return "c"
	case kind.InCategory(chroma.Keyword), kind == chroma.NameBuiltinPseudo:
		return "w"
	case kind.InSubCategory(chroma.LiteralString):
		return "s"
	case kind.InSubCategory(chroma.LiteralNumber):
		return "d"
	case kind.InSubCategory(chroma.NameFunction), kind == chroma.NameTag, kind == chroma.NameAttribute, kind == chroma.NameClass:
		return "k"
	default:
		return ""
	}
}
