package signature

import (
	"fmt"
	"net/http"
	"strings"
)

// maxLabelled caps the values in one header. Senders use one for each secret
// in rotation; a header full of public-key signatures would buy an anonymous
// sender a lot of our time.
const maxLabelled = 32

// signatureHeader returns the value of a header that must be there once.
// Repeats are refused even when they are equal: another reader of the same
// request might take the other one.
func signatureHeader(header http.Header, name string) (string, error) {
	values := header.Values(name)
	switch {
	case len(values) > 1:
		return "", malformed(name, "The header "+name+" came more than once.")
	case len(values) == 0 || values[0] == "":
		return "", missing(name)
	}
	return values[0], nil
}

// identityHeader returns the value of a header that names an event or its
// type. Absent or ambiguous is "": an event without a key is kept, a wrong key
// could make it vanish as a duplicate.
func identityHeader(header http.Header, name string) string {
	if values := header.Values(name); len(values) == 1 {
		return values[0]
	}
	return ""
}

// labelled is one value of a header that carries several, such as
// "t=1760000000,v1=0f43" or "v1,K1cs v1a,hnO3".
type labelled struct{ label, value string }

// splitLabelled takes such a header apart. What has no label gets the label ""
// and is left for the reader to judge.
func splitLabelled(name, header, between, inside string) ([]labelled, error) {
	pieces := strings.SplitN(header, between, maxLabelled+1)
	if len(pieces) > maxLabelled {
		return nil, malformed(name, fmt.Sprintf("The header %s has more than %d values.", name, maxLabelled))
	}
	list := make([]labelled, 0, len(pieces))
	for _, piece := range pieces {
		label, value, ok := strings.Cut(piece, inside)
		if !ok {
			label, value = "", piece
		}
		list = append(list, labelled{label, value})
	}
	return list, nil
}

// version says how the signatures under one label of a header look.
type version struct {
	size   int // bytes, decoded
	decode decoder
}

// sentSignatures decodes the signatures of the versions that a scheme knows,
// by label. Other labels are skipped, and one readable signature is enough:
// senders add new versions beside the old, and a broken one must not hide a
// good one.
func sentSignatures(name string, list []labelled, known map[string]version) (map[string][][]byte, error) {
	sent := make(map[string][][]byte, len(known))
	unreadable := false
	for _, entry := range list {
		v, ok := known[entry.label]
		if !ok {
			unreadable = unreadable || entry.label == ""
			continue
		}
		raw, ok := v.decode(entry.value, v.size)
		if !ok {
			unreadable = true
			continue
		}
		sent[entry.label] = append(sent[entry.label], raw)
	}
	switch {
	case len(sent) > 0:
		return sent, nil
	case unreadable:
		return nil, malformed(name, "The header "+name+" holds no signature of the right form and length.")
	default:
		return nil, &Refusal{Code: CodeMismatch, Header: name, Detail: "The header " + name + " holds no signature of a known version."}
	}
}
