package signature

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

// input is what finders look at: the request, and one event of it.
type input struct {
	Request

	// provenID is the id that was signed, where the proof covers one.
	provenID string
	// whole is the request of which this is a part; nil for the request itself.
	// All of its parts share it, so that it is read once.
	whole *input
	// doc is the event's own JSON: an element of a list, or the whole body as it
	// can be read.
	doc []byte
	// unpacked tells that doc is the text of a compressed body.
	unpacked bool
	// members are the top level of doc, once they were looked at.
	members map[string]json.RawMessage
	// form are the fields of a body that is a form, once they were looked at.
	form url.Values
}

// newInput is a request to look at.
func newInput(r Request) *input {
	in := &input{Request: r}
	in.doc, in.unpacked = gateway.Readable(r.Header, r.Body)
	return in
}

// part is a part of what is looked at, which is JSON too.
func (in *input) part(doc []byte) *input {
	return &input{Request: in.Request, provenID: in.provenID, whole: in.request(), doc: doc}
}

// request is what is looked at as a whole.
func (in *input) request() *input {
	if in.whole != nil {
		return in.whole
	}
	return in
}

// finder finds a text in a request; "" where it is not.
type finder func(*input) string

// header finds the one value of a header. An ambiguous one is not taken: an
// event without a key is kept, a wrong key could make it vanish as a duplicate.
func header(name string) finder {
	return func(in *input) string { return identityHeader(in.Header, name) }
}

// provenID finds the id that was signed. With several sets of headers it is
// that of the set which was looked at.
func provenID(in *input) string { return in.provenID }

// field finds a string's text or an integer's digits in the event's JSON, by
// the exact names that lead to it.
func field(path ...string) finder {
	return func(in *input) string { return keyOf(in.value(path)) }
}

// number is field for a number of any form, as it is written.
func number(path ...string) finder {
	return func(in *input) string {
		value := in.value(path)
		if len(value) > 0 && (value[0] == '-' || isDigits(string(value[:1]))) {
			return string(value)
		}
		return textOf(value)
	}
}

// outer is field in the request's JSON, for events that are elements of it.
func outer(path ...string) finder {
	return func(in *input) string { return keyOf(in.request().value(path)) }
}

// unlisted finds what names the whole request, where it is one event. In a list
// each of the events would have that name, and all but the first were repeats.
func unlisted(find finder) finder {
	return func(in *input) string {
		if in.whole != nil {
			return ""
		}
		return find(in)
	}
}

// formField finds the one value of a field of a form.
func formField(name string) finder {
	return func(in *input) string {
		if values := in.request().formFields()[name]; len(values) == 1 {
			return values[0]
		}
		return ""
	}
}

// firstOf is the first finder that finds something.
func firstOf(finders ...finder) finder {
	return func(in *input) string {
		for _, find := range finders {
			if text := find(in); text != "" {
				return text
			}
		}
		return ""
	}
}

// alone is what one finder finds, with its colons escaped: never what another
// one finds after a prefix, or several join.
func alone(find finder) finder { return all(find) }

// prefixed puts a word and a colon before what a finder finds, so that it is
// never what another one finds alone.
func prefixed(prefix string, find finder) finder {
	return func(in *input) string {
		if text := find(in); text != "" {
			return prefix + ":" + text
		}
		return ""
	}
}

// all joins what several finders find to one key, with colons between. It is
// "" if one of them finds nothing: what is left may be the same for two events.
func all(finders ...finder) finder {
	return func(in *input) string {
		parts := make([]string, len(finders))
		for i, find := range finders {
			part := find(in)
			if part == "" {
				return ""
			}
			parts[i] = joinable.Replace(part)
		}
		return strings.Join(parts, ":")
	}
}

// dotted joins what two finders find with a full stop, as types are written.
func dotted(first, second finder) finder {
	return func(in *input) string {
		a, b := first(in), second(in)
		if a == "" || b == "" {
			return a + b
		}
		return a + "." + b
	}
}

// joinable keeps a colon inside a part from looking like one between parts.
var joinable = strings.NewReplacer(`\`, `\\`, ":", `\:`)

// hashed finds the hash of the event's bytes, for providers whose equal bodies
// are the same event told twice.
func hashed(in *input) string {
	sum := sha256.Sum256(in.doc)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// topLevel are the members of the event's JSON; what is no object has none.
func (in *input) topLevel() map[string]json.RawMessage {
	if in.members == nil {
		if in.members = topLevel(in.doc); in.members == nil {
			in.members = map[string]json.RawMessage{}
		}
	}
	return in.members
}

// value follows exact names into the event's JSON.
func (in *input) value(path []string) json.RawMessage {
	members, value := in.topLevel(), json.RawMessage(nil)
	for i, name := range path {
		if i > 0 {
			members = topLevel(value)
		}
		value = members[name]
	}
	return value
}

// formFields reads the body as a form; what is none has no fields.
func (in *input) formFields() url.Values {
	if in.form == nil {
		in.form = url.Values{}
		if isForm(in.Header) {
			in.form = readForm(in.doc)
		}
	}
	return in.form
}

// readForm reads the fields of a form. An escape that is none stands for itself:
// what came is read, whatever it is.
func readForm(body []byte) url.Values {
	form := url.Values{}
	for pair := range strings.SplitSeq(string(body), "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, value = unescape(name), unescape(value)
		form[name] = append(form[name], value)
	}
	return form
}

func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}
