package component

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// The classes of coloured code, as in the style sheet.
const (
	paintNone    = ""
	paintKey     = "k" // names of fields and functions
	paintString  = "s"
	paintNumber  = "d"
	paintWord    = "w" // keywords, true, false, null
	paintComment = "c"
)

// lines collects code as HTML, line by line. All text passes through
// visibleLine and is escaped.
type lines struct {
	done []string
	line strings.Builder
}

// write adds a text in a colour. Line ends in it end lines.
func (l *lines) write(paint, text string) {
	for {
		part, rest, more := strings.Cut(text, "\n")
		l.span(paint, strings.TrimSuffix(part, "\r"))
		if !more {
			return
		}
		l.end()
		text = rest
	}
}

func (l *lines) span(paint, text string) {
	if text == "" {
		return
	}
	text = templ.EscapeString(visibleLine(text))
	if paint == paintNone {
		l.line.WriteString(text)
		return
	}
	l.line.WriteString(`<span class="` + paint + `">` + text + `</span>`)
}

// end closes a line.
func (l *lines) end() {
	l.done = append(l.done, l.line.String())
	l.line.Reset()
}

// html returns every line, the open one too.
func (l *lines) html() []string {
	if l.line.Len() > 0 {
		l.end()
	}
	return l.done
}

// code shows lines of HTML; plain ones have no numbers. Each line holds its
// line end, so that copied text has it too.
func code(painted []string, plain bool) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		b.WriteString(`<pre class="code"`)
		if plain {
			b.WriteString(` data-plain`)
		}
		b.WriteString(` tabindex="0">`)
		for _, line := range painted {
			b.WriteString(`<span class="ln">` + line + "\n</span>")
		}
		b.WriteString(`</pre>`)
		_, err := io.WriteString(w, b.String())
		return err
	})
}
