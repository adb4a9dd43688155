package signature

import (
	"errors"
	"fmt"
	"strings"
)

// The placeholders of a template of signed text.
const (
	holeBody      = "body"
	holeTimestamp = "timestamp"
	holeID        = "id"
	holeURL       = "url"
)

// maxTemplateLen is the longest template, in bytes: the templates in use are
// under thirty.
const maxTemplateLen = 256

var (
	errTemplateLong  = fmt.Errorf("is longer than %d bytes", maxTemplateLen)
	errTemplateBrace = errors.New("has a brace without its pair")
	errTemplateHole  = errors.New("has a placeholder that is not {body}, {timestamp}, {id} or {url}")
	errTemplateTwice = errors.New("has a placeholder twice")
	errTemplateBody  = errors.New("leaves out {body}: such a signature would say nothing about what was sent")
)

// template is text with holes, such as "v0:{timestamp}:{body}".
type template []templatePart

// templatePart is literal text or, if hole is set, a placeholder.
type templatePart struct {
	literal []byte
	hole    string
}

// signs is a template made of its pieces: each placeholder, braces included,
// is a piece of its own.
func signs(pieces ...string) template {
	parts := make(template, len(pieces))
	for i, piece := range pieces {
		switch hole := strings.Trim(piece, "{}"); piece {
		case "{" + hole + "}":
			parts[i].hole = hole
		default:
			parts[i].literal = []byte(piece)
		}
	}
	return parts
}

// parseTemplate reads the template of what a sender signs. Braces only ever
// enclose a placeholder, so that a misspelled one is found when it is saved.
func parseTemplate(text string) (template, error) {
	if len(text) > maxTemplateLen {
		return nil, errTemplateLong
	}
	var parts template
	for text != "" {
		literal, rest, found := strings.Cut(text, "{")
		if strings.Contains(literal, "}") {
			return nil, errTemplateBrace
		}
		if literal != "" {
			parts = append(parts, templatePart{literal: []byte(literal)})
		}
		if !found {
			break
		}
		hole, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, errTemplateBrace
		}
		if err := parts.accepts(hole); err != nil {
			return nil, err
		}
		parts = append(parts, templatePart{hole: hole})
		text = after
	}
	if !parts.has(holeBody) {
		return nil, errTemplateBody
	}
	return parts, nil
}

// accepts tells whether a placeholder may come next. None comes twice: a body
// hashed forty times over would be a cheap way to keep a server busy.
func (t template) accepts(hole string) error {
	switch hole {
	case holeBody, holeTimestamp, holeID, holeURL:
	default:
		return errTemplateHole
	}
	if t.has(hole) {
		return errTemplateTwice
	}
	return nil
}

// has tells whether a placeholder occurs.
func (t template) has(hole string) bool {
	for _, part := range t {
		if part.hole == hole {
			return true
		}
	}
	return false
}

// fill returns the signed text in pieces, none of them copied.
func (t template) fill(values map[string][]byte) [][]byte {
	pieces := make([][]byte, 0, len(t))
	for _, part := range t {
		if part.hole != "" {
			pieces = append(pieces, values[part.hole])
			continue
		}
		pieces = append(pieces, part.literal)
	}
	return pieces
}
