package dashboard

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/signature"
)

// docsTexts are the parts of the documentation that the product writes itself,
// in Markdown, by the names that its pages give them.
func docsTexts() map[string]string {
	return map[string]string{
		"settings":   docsSettings(),
		"errors":     docsErrors(),
		"catalogue":  docsCatalogue(),
		"lifecycles": docsLifecycles(),
	}
}

// docsSettings is the table of settings.
func docsSettings() string {
	var t docsTable
	t.row("variable", "default", "meaning")
	for _, v := range config.Variables() {
		value := "empty"
		if v.Default != "" {
			value = code(v.Default)
		}
		t.row(code(v.Name), value, plain(v.Meaning))
	}
	return t.String()
}

// docsErrors is the table of codes.
func docsErrors() string {
	var t docsTable
	t.row("status", "code", "what happened", "what to do")
	for _, m := range problem.Meanings {
		t.row(strconv.Itoa(m.Status), code(string(m.Code)), plain(m.Title), plain(m.Advice))
	}
	return t.String()
}

// docsCatalogue is a table of kinds of sources for each group.
func docsCatalogue() string {
	var out strings.Builder
	for _, group := range signature.Groups() {
		var t docsTable
		t.row("kind", "how it is proven", "repeats are known by", "it wants")
		for _, kind := range signature.Kinds() {
			scheme, _ := signature.Lookup(kind) // the registry names only what it has
			if info := scheme.Info(); info.Group == group {
				t.row(kindName(info), plain(info.Summary), plain(info.Key.From), plain(info.Answer))
			}
		}
		fmt.Fprintf(&out, "### %s\n\n%s\n", plain(string(group)), t.String())
	}
	return out.String()
}

// kindName is a kind's name, which leads to what the provider says itself.
func kindName(info *signature.Info) string {
	name := plain(info.Name)
	if info.Docs != "" {
		name = "[" + name + "](" + info.Docs + ")"
	}
	return name + " " + code(info.Kind)
}

// docsLifecycles is the table of rules to begin with.
func docsLifecycles() string {
	var t docsTable
	t.row("for", "subject, state", "in this order", "the last word", "what that means")
	for _, l := range rule.Lifecycles() {
		t.row(plain(l.Title), code(l.Rule.Subject)+", "+code(l.Rule.State), codes(l.Rule.Rank), codes(l.Rule.Terminal), plain(l.Text))
	}
	return t.String()
}

// docsTable is a table in Markdown. Its first row is its head.
type docsTable struct {
	strings.Builder

	rows int
}

func (t *docsTable) row(cells ...string) {
	t.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	if t.rows++; t.rows == 1 {
		t.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
	}
}

// plain is a text with nothing in it that Markdown would read as markup.
func plain(text string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "|", `\|`, "\n", " ").Replace(text)
}

// code is a word as machines write it.
func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

func codes(texts []string) string {
	shown := make([]string, len(texts))
	for i, text := range texts {
		shown[i] = code(text)
	}
	return strings.Join(shown, ", ")
}
