package signature

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestParseTemplate(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		want string // filled, with [name] for each placeholder
		err  error
	}{
		"{body}":                            {"[body]", nil},
		"v0:{timestamp}:{body}":             {"v0:[timestamp]:[body]", nil},
		"{id}{timestamp}{url}{body}":        {"[id][timestamp][url][body]", nil},
		"{body}\n":                          {"[body]\n", nil},
		"é{body}":                           {"é[body]", nil},
		"":                                  {"", errTemplateBody},
		"body":                              {"", errTemplateBody},
		"{timestamp}":                       {"", errTemplateBody},
		"{Body}":                            {"", errTemplateHole},
		"{}{body}":                          {"", errTemplateHole},
		"{ body }":                          {"", errTemplateHole},
		"{{body}}":                          {"", errTemplateHole},
		"{body":                             {"", errTemplateBrace},
		"body}":                             {"", errTemplateBrace},
		"{body}}":                           {"", errTemplateBrace},
		"{body}{":                           {"", errTemplateBrace},
		"{body}{body}":                      {"", errTemplateTwice},
		"{id}{body}{id}":                    {"", errTemplateTwice},
		strings.Repeat("x", 251) + "{body}": {"", errTemplateLong},
	}
	for text, c := range cases {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			parsed, err := parseTemplate(text)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if got := fillWithNames(parsed); got != c.want {
				t.Errorf("filled to %q, want %q", got, c.want)
			}
		})
	}
}

func fillWithNames(parsed template) string {
	values := map[string][]byte{}
	for _, hole := range []string{holeBody, holeTimestamp, holeID, holeURL} {
		values[hole] = []byte("[" + hole + "]")
	}
	return string(bytes.Join(parsed.fill(values), nil))
}

// TestFillDoesNotCopy: the pieces are the values themselves.
func TestFillDoesNotCopy(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplate("{body}")
	if err != nil {
		t.Fatal(err)
	}
	body := []byte("abc")
	if pieces := parsed.fill(map[string][]byte{holeBody: body}); &pieces[0][0] != &body[0] {
		t.Error("the body was copied")
	}
}
