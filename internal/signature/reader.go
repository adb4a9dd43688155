package signature

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"unicode/utf8"
)

// MaxEvents is how many events one request may bring. A list that is longer is
// not taken apart. The longest that any provider sends are SendGrid's, which end
// at 768 KiB and have events of some 270 bytes at the least.
const MaxEvents = 3_000

// maxApart bounds what is repeated when a request is taken apart, in bytes: each
// of its events is kept with what stands around the list, and with the request's
// header and address. One of which more would be repeated is not taken apart
// either: it is one event, as large as it came.
const maxApart = 16 << 20

// reader tells which events a request brings. Finders that are nil find
// nothing.
type reader struct {
	// id is the provider's own id; key is what repeats share, nil for the id.
	id, key finder
	// kind is the event's type.
	kind finder
	// list leads to the list of events in the body; nil for one event a request.
	list *listPath
}

// listPath are the exact names that lead to a list; none for a body that is
// the list itself.
type listPath struct{ names []string }

func listAt(names ...string) *listPath { return &listPath{names} }

// unproven returns the events of a request that is taken on a person's word: one
// at least, since that is what the person says it is.
func (e reader) unproven(r Request) []Identity {
	if events := e.read(newInput(r)); len(events) > 0 {
		return events
	}
	return []Identity{{}}
}

// read returns the events of a request. A body that does not hold the list is
// one event: it may be of a new form, and is not to be lost.
func (e reader) read(in *input) []Identity {
	if e.list == nil {
		return []Identity{e.identity(in)}
	}
	parts, ok := splitList(in.doc, e.list.names)
	if !ok || (len(parts.elements)-1)*(parts.around()+in.around()) > maxApart {
		return []Identity{e.identity(in)}
	}
	bodies := parts.bodies(in)
	events := make([]Identity, len(parts.elements))
	for i, element := range parts.elements {
		events[i] = e.identity(in.part(element))
		events[i].Body = bodies[i]
	}
	return events
}

func (e reader) identity(in *input) Identity {
	event := Identity{ID: found(e.id, in)}
	event.Key = event.ID
	if e.key != nil {
		event.Key = e.key(in)
	}
	event.Type = eventType(found(e.kind, in))
	return event
}

func found(find finder, in *input) string {
	if find == nil {
		return ""
	}
	return find(in)
}

// listParts is a body taken apart at a list in it.
type listParts struct {
	body     []byte
	elements [][]byte
	// first and last are where the first element begins and the last one ends.
	first, last int
}

// bodies are the body as it would be with each of its elements alone: one that
// has no other is what came.
func (p listParts) bodies(in *input) [][]byte {
	if len(p.elements) == 1 {
		return [][]byte{in.Body}
	}
	bodies := make([][]byte, len(p.elements))
	for i, element := range p.elements {
		bodies[i] = p.alone(element)
	}
	if in.unpacked {
		packAll(bodies)
	}
	return bodies
}

// alone is the body with one of its elements only. What stands around the list
// stays as it came, so that a receiver reads what the provider sends when it has
// one event to tell.
func (p listParts) alone(element []byte) []byte {
	return slices.Concat(p.body[:p.first], element, p.body[p.last:])
}

// packAll makes bodies what the headers of a compressed request say that they
// are: gzip, which holds them as they are.
func packAll(bodies [][]byte) {
	packer, err := gzip.NewWriterLevel(nil, gzip.NoCompression)
	if err != nil {
		return // there is such a level
	}
	for i, body := range bodies {
		var packed bytes.Buffer
		packer.Reset(&packed)
		_, _ = packer.Write(body) // a buffer takes everything
		_ = packer.Close()
		bodies[i] = packed.Bytes()
	}
}

// splitList finds the list to which exact names lead in a JSON body. A body
// that says it twice, or is not JSON, has none.
func splitList(body []byte, names []string) (listParts, bool) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return listParts{}, false
	}
	start, end := 0, len(body)
	for _, name := range names {
		var ok bool
		if start, end, ok = memberOf(body, start, end, name); !ok {
			return listParts{}, false
		}
	}
	return elementsOf(body, start, end)
}

// memberOf finds where the value of the one member of that name stands in the
// object at body[start:end].
func memberOf(body []byte, start, end int, name string) (from, to int, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(body[start:end]))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return 0, 0, false
	}
	for decoder.More() {
		key, err := decoder.Token()
		var value json.RawMessage
		if err != nil || decoder.Decode(&value) != nil {
			return 0, 0, false
		}
		if key != name {
			continue
		}
		if ok {
			return 0, 0, false // said twice
		}
		to = start + int(decoder.InputOffset())
		from, ok = to-len(value), true
	}
	return from, to, ok
}

func elementsOf(body []byte, start, end int) (listParts, bool) {
	parts := listParts{body: body}
	decoder := json.NewDecoder(bytes.NewReader(body[start:end]))
	if token, err := decoder.Token(); err != nil || token != json.Delim('[') {
		return listParts{}, false
	}
	for decoder.More() {
		var value json.RawMessage
		if decoder.Decode(&value) != nil || len(parts.elements) == MaxEvents {
			return listParts{}, false
		}
		parts.last = start + int(decoder.InputOffset())
		from := parts.last - len(value)
		if len(parts.elements) == 0 {
			parts.first = from
		}
		parts.elements = append(parts.elements, body[from:parts.last])
	}
	return parts, true
}

// around is the size of what stands around the list.
func (p listParts) around() int { return len(p.body) - (p.last - p.first) }

// around is the size of what comes with a body.
func (r Request) around() int {
	size := len(r.URL) + len(r.Query)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + len(": \r\n")
		}
	}
	return size
}

// isForm tells whether a body is the fields of a form.
func isForm(header http.Header) bool {
	media, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	return media == "application/x-www-form-urlencoded"
}
