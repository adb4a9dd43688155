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
	// gone tells that there is no payload any more, deleted that there is no
	// endpoint.
	gone, deleted bool
}

// again is a command that sends the payload with these headers; empty when it
// is gone.
func (s sending) again(headers []byte) string {
	if s.gone {
		return ""
	}
	return s.command(page.HeaderList(headers))
}

// unsigned is again without what an attempt was signed with: by now, receivers
// refuse it for its age.
func (s sending) unsigned(headers []byte) string {
	if s.gone {
		return ""
	}
	return s.command(slices.DeleteFunc(page.HeaderList(headers), func(h component.Header) bool {
		return slices.Contains(ofTheMoment, h.Name)
	}))
}

// inline tells that the payload stands in the command itself.
func (s sending) inline() bool { return len(s.body) <= inlineBody && pasteable(string(s.body)) }

// command writes it for a shell. Everything that came from outside stands
// between single quotes, and what could hide in a terminal does not stand in
// it at all. Of a secret there is what it was redacted to, for a person to fill
// in.
func (s sending) command(headers []component.Header) string {
	var b strings.Builder
	b.WriteString("curl -X POST " + s.flags() + shellWord(s.address))
	typed := false
	for _, h := range headers {
		if sendable(h) {
			typed = typed || h.Name == "Content-Type"
			b.WriteString(" \\\n  -H " + shellWord(h.Name+": "+h.Value))
		}
	}
	if !typed {
		b.WriteString(" \\\n  -H 'Content-Type:'") // or curl says that it is a form
	}
	if s.inline() {
		b.WriteString(" \\\n  --data-raw " + shellWord(string(s.body)))
	} else {
		b.WriteString(" \\\n  --data-binary " + shellWord("@"+s.file))
	}
	return b.String()
}

// flags have curl take the address as it is, where it would read more into it:
// several addresses into brackets, and a shorter path into dots.
func (s sending) flags() string {
	flags := ""
	if strings.ContainsAny(s.address, "[]{}") {
		flags += "--globoff "
	}
	if strings.Contains(s.address, "/.") {
		flags += "--path-as-is "
	}
	return flags
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
	"Accept-Encoding", "Connection", "Content-Length", "Cookie", "Expect", "Host", "Keep-Alive",
	"Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// ofTheMoment are headers that are made anew for every attempt.
var ofTheMoment = []string{"Webhook-Signature", "Webhook-Timestamp"}

// sendable tells that a header can be sent once more: it is not of the
// connection that is over, and no credential that was not redacted.
func sendable(h component.Header) bool {
	if h.Name == "Authorization" && h.Value != gateway.Redacted {
		return false
	}
	return h.Value != "" && !slices.Contains(ofTheConnection, h.Name) && pasteable(h.Name+h.Value)
}
