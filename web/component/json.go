package component

import (
	"bytes"
	"encoding/json"
	"strings"
)

const (
	// maxJSON is the largest body that is indented and coloured: what is read
	// here is read by people.
	maxJSON = 64 << 10
	// maxJSONLines bounds what indenting makes of a body. A page with more
	// lines is slow to scroll.
	maxJSONLines = 5000
	// maxJSONDepth bounds the indentation: each level makes lines longer.
	maxJSONDepth = 40
	// jsonIndent is one level.
	jsonIndent = "  "
)

// jsonLines indents and colours a body. It reports false for what is not JSON,
// or is too large to be read that way. Nothing but white space between tokens
// is changed: numbers, escapes and repeated names stay as they came.
func jsonLines(body []byte) ([]string, bool) {
	if len(body) > maxJSON || !json.Valid(body) {
		return nil, false
	}
	p := jsonPainter{text: string(body)}
	for p.rest() {
		p.token()
		if p.depth > maxJSONDepth || len(p.out.done) > maxJSONLines {
			return nil, false
		}
	}
	return p.out.html(), true
}

// jsonPainter walks over valid JSON.
type jsonPainter struct {
	text  string
	at    int
	depth int
	out   lines
}

// rest skips white space and tells whether a token follows.
func (p *jsonPainter) rest() bool {
	for p.at < len(p.text) && isJSONSpace(p.text[p.at]) {
		p.at++
	}
	return p.at < len(p.text)
}

func isJSONSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (p *jsonPainter) token() {
	c := p.text[p.at]
	switch c {
	case '{', '[':
		p.open(c)
	case '}', ']':
		p.at++
		p.newLine(-1)
		p.out.write(paintNone, string(c))
	case ',':
		p.at++
		p.out.write(paintNone, ",")
		p.newLine(0)
	case ':':
		p.at++
		p.out.write(paintNone, ": ")
	case '"':
		p.quoted()
	default:
		p.literal()
	}
}

// open begins an object or an array; an empty one stays on its line.
func (p *jsonPainter) open(c byte) {
	p.at++
	if p.rest() && (p.text[p.at] == '}' || p.text[p.at] == ']') {
		p.out.write(paintNone, string(c)+string(p.text[p.at]))
		p.at++
		return
	}
	p.out.write(paintNone, string(c))
	p.newLine(1)
}

func (p *jsonPainter) newLine(deeper int) {
	p.depth += deeper
	p.out.end()
	p.out.write(paintNone, strings.Repeat(jsonIndent, p.depth))
}

// quoted writes a string, or the name of a field when a colon follows.
func (p *jsonPainter) quoted() {
	start := p.at
	for p.at++; p.text[p.at] != '"'; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	token := p.text[start:p.at]
	paint := paintString
	if p.rest() && p.text[p.at] == ':' {
		paint = paintKey
	}
	p.out.write(paint, token)
}

// literal writes a number, true, false or null.
func (p *jsonPainter) literal() {
	start := p.at
	for p.at < len(p.text) && !isJSONSpace(p.text[p.at]) && !strings.ContainsRune(",:]}", rune(p.text[p.at])) {
		p.at++
	}
	paint := paintWord
	if c := p.text[start]; c == '-' || c >= '0' && c <= '9' {
		paint = paintNumber
	}
	p.out.write(paint, p.text[start:p.at])
}

const (
	// maxPlain is how much of a body that is not coloured is shown.
	maxPlain = 256 << 10
	// maxPlainLines is how many lines get numbers; a text with more is shown
	// as one block.
	maxPlainLines = 5000
)

// cutPlain returns what is shown of a body, and whether that is all.
func cutPlain(body []byte) (text string, whole bool) {
	if len(body) <= maxPlain {
		return string(body), true
	}
	return string(body[:maxPlain]), false
}

// plainLines splits a text into lines; nil when there are too many to number.
func plainLines(text string) []string {
	if bytes.Count([]byte(text), []byte("\n")) > maxPlainLines {
		return nil
	}
	var out lines
	out.write(paintNone, text)
	return out.html()
}

// plainBlock makes a text of many lines visible, its line ends kept.
func plainBlock(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		b.WriteString(visibleLine(strings.TrimSuffix(body, "\r")))
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
