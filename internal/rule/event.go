package rule

import (
	"net/url"
	"strings"
	"time"

	"cel.dev/cel-go/interpreter"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Input is an event for any number of evaluations, one after the other: each
// of its parts is decoded once, when an expression first asks for it. It is not
// safe for use by several goroutines.
type Input struct {
	event gateway.Content

	// spent is how long all evaluations took so far.
	spent                  time.Duration
	body                   any
	decoded, json          bool
	headers, query, source map[string]string
}

// NewInput makes an Input. The event's bytes are kept and not changed.
func NewInput(e gateway.Content) *Input { return &Input{event: e} }

// Spent is how long all evaluations took so far.
func (in *Input) Spent() time.Duration { return in.spent }

// Type is the event's type.
func (in *Input) Type() string { return in.event.Type }

// notJSON tells that an expression asked for a body that is no JSON.
func (in *Input) notJSON() bool { return in.decoded && !in.json }

var _ interpreter.Activation = (*Input)(nil)

// ResolveName gives CEL a variable.
func (in *Input) ResolveName(name string) (any, bool) {
	switch name {
	case varBody:
		if !in.decoded {
			text, _ := gateway.Readable(gateway.DecodeHeaders(in.event.Body.Headers), in.event.Body.Data)
			in.body, in.json = decode(text)
			in.decoded = true
		}
		return in.body, true
	case varHeaders:
		if in.headers == nil {
			in.headers = headers(in.event.Body.Headers)
		}
		return in.headers, true
	case varQuery:
		if in.query == nil {
			in.query = query(in.event.Body.Query)
		}
		return in.query, true
	case varType:
		return in.event.Type, true
	case varSubject:
		return in.event.Subject, true
	case varSource:
		if in.source == nil {
			in.source = source(in.event.Source)
		}
		return in.source, true
	default:
		return nil, false
	}
}

// Parent is none: there are no other variables.
func (in *Input) Parent() interpreter.Activation { return nil }

// source is where the event came from; uid is empty for none.
func source(s gateway.Source) map[string]string {
	uid := ""
	if s.UID != nil {
		uid = *s.UID
	}
	return map[string]string{"id": s.ID.String(), "uid": uid, "name": s.Name, "kind": s.Kind}
}

// headers are by their names in lower case, several values of one with commas
// between. Those that carried a secret are not there.
func headers(wire []byte) map[string]string {
	all := map[string]string{}
	for name, values := range gateway.DecodeHeaders(wire) {
		if text := strings.Join(values, ", "); text != gateway.Redacted {
			all[strings.ToLower(plain(name))] = plain(text)
		}
	}
	return all
}

// query are the parameters that can be read; of several of one name the first.
func query(raw []byte) map[string]string {
	all := map[string]string{}
	values, _ := url.ParseQuery(string(raw)) // what cannot be read is left out
	for name := range values {
		all[plain(name)] = plain(values.Get(name))
	}
	return all
}

// plain replaces what is not UTF-8: every text of CEL is.
func plain(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
