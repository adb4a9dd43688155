package dashboard

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// inlineBody is the largest body that stands in a command itself, in bytes. A
// larger one is read from the file that its download makes.
const inlineBody = 4 << 10

// sending is what one command sends, whatever the headers of the attempt.
type sending struct {
	address string
	// file is what the payload is called when it was downloaded.
	file string
	body []byte
	// gone tells that there is no payload any more.
	gone bool
}

// again is a command that sends the payload with these headers; empty when it
// is gone.
func (s sending) again(headers []byte) string {
	if s.gone {
		return ""
	}
	return s.command(page.HeaderList(headers))
}

// command writes it for a shell. Everything that came from outside stands
// between single quotes, and what could hide in a terminal does not stand in
// it at all.
func (s sending) command(headers []component.Header) string {
	var b strings.Builder
	b.WriteString("curl -X POST " + shellWord(s.address))
	for _, h := range headers {
		if sendable(h) {
			b.WriteString(" \\\n  -H " + shellWord(h.Name+": "+h.Value))
		}
	}
	if len(s.body) <= inlineBody && pasteable(string(s.body)) {
		b.WriteString(" \\\n  --data-raw " + shellWord(string(s.body)))
	} else {
		b.WriteString(" \\\n  --data-binary " + shellWord("@"+s.file))
	}
	return b.String()
}

// shellWord is a text as a shell takes it for one word.
func shellWord(text string) string { return `'` + strings.ReplaceAll(text, `'`, `'\''`) + `'` }

// pasteable tells that a text can be put into a terminal without doing there
// what it does not show: no control characters but line ends and tabs, nothing
// that has no shape.
func pasteable(text string) bool {
	return utf8.ValidString(text) && component.Visible(layoutSpace.Replace(text)) == layoutSpace.Replace(text)
}

var layoutSpace = strings.NewReplacer("\n", " ", "\t", " ")

// ofTheConnection are headers that belong to one connection, or that curl
// makes itself.
var ofTheConnection = []string{
	"Accept-Encoding", "Authorization", "Connection", "Content-Length", "Cookie", "Host", "Keep-Alive",
	"Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// sendable tells that a header can be sent once more: it is no secret, and not
// of the connection that is over.
func sendable(h component.Header) bool {
	return h.Value != "" && h.Value != gateway.Redacted && !slices.Contains(ofTheConnection, h.Name) && pasteable(h.Name+h.Value)
}
