package component

import "strings"

// grammar is as much of a language as colouring an example needs.
type grammar struct {
	comment  string
	quotes   string
	keywords string
	// noNumbers leaves digits plain: in a command they are parts of addresses.
	noNumbers bool
}

// grammars are the languages of examples. One that is missing is shown plain.
var grammars = map[string]grammar{
	"go": {
		comment: "//", quotes: "\"'`",
		keywords: " break case const continue defer else false for func go if import nil package range return struct switch true type var ",
	},
	"javascript": {
		comment: "//", quotes: "\"'`",
		keywords: " async await break case catch class const continue else export false for from function if import let new null return throw true try undefined while ",
	},
	"python": {
		comment: "#", quotes: "\"'",
		keywords: " and as async await class def elif else except False for from if import in is None not or pass raise return True try while with ",
	},
	"shell": {comment: "#", quotes: "\"'", noNumbers: true},
}

// snippetLines colours an example.
func snippetLines(lang, code string) []string {
	s := snippetPainter{grammar: grammars[lang], text: strings.TrimRight(code, "\n")}
	for s.at < len(s.text) {
		s.token()
	}
	return s.out.html()
}

// snippetPainter walks over an example.
type snippetPainter struct {
	grammar
	text string
	at   int
	out  lines
}

func (s *snippetPainter) token() {
	rest := s.text[s.at:]
	switch c := rest[0]; {
	case s.comment != "" && strings.HasPrefix(rest, s.comment) && s.atWordStart():
		s.take(paintComment, lineLength(rest))
	case strings.IndexByte(s.quotes, c) >= 0:
		s.take(paintString, quotedLength(rest))
	case isDigit(c) && !s.noNumbers:
		s.take(paintNumber, lengthOf(rest, func(c byte) bool { return isDigit(c) || c == '.' || c == '_' }))
	case isLetter(c):
		n := lengthOf(rest, func(c byte) bool { return isLetter(c) || isDigit(c) })
		s.take(s.paintName(rest[:n], rest[n:]), n)
	default:
		s.take(paintNone, 1)
	}
}

// atWordStart tells whether a comment may begin here: in a shell, "a#b" has
// none, and nowhere does "https://".
func (s *snippetPainter) atWordStart() bool {
	return s.at == 0 || strings.IndexByte(" \t\n", s.text[s.at-1]) >= 0
}

func (s *snippetPainter) take(paint string, n int) {
	s.out.write(paint, s.text[s.at:s.at+n])
	s.at += n
}

// paintName colours keywords, and names that are called.
func (s *snippetPainter) paintName(name, rest string) string {
	switch {
	case strings.Contains(s.keywords, " "+name+" "):
		return paintWord
	case strings.HasPrefix(rest, "("):
		return paintKey
	default:
		return paintNone
	}
}

func lineLength(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

// quotedLength is how long the string is that a text begins with. One that
// does not end ends with the text.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] != '`':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return len(text)
}

func lengthOf(text string, belongs func(byte) bool) int {
	for i := range len(text) {
		if !belongs(text[i]) {
			return i
		}
	}
	return len(text)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter counts every byte of a longer character as a letter.
func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
