package signature

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTopLevelKey(t *testing.T) {
	t.Parallel()
	cases := map[string]string{ // body: key of "id"
		`{"id":"evt_1"}`:                       "evt_1",
		" {\n\t\"id\" : \"evt_1\" \r\n} ":      "evt_1",
		`{"id":"a","b":{"id":"c"},"d":[{}]}`:   "a",
		`{"id":"first","id":"last"}`:           "last",
		`{"id":"first","id":null}`:             "",
		`{"id":"exact","ID":"upper","Id":"m"}`: "exact",
		`{"ID":"upper"}`:                       "",
		`{"\u0069d":"escaped name"}`:           "escaped name",
		`{"id":"\u0041\n\u00e9"}`:              "A\né",
		`{"id":"\ud83e\udd84"}`:                "🦄",
		`{"id":"\ud83e"}`:                      `\ud83e`,
		`{"id":"\ud83f"}`:                      `\ud83f`,
		`{"id":"a\u0000b"}`:                    "a\x00b",
		`{"id":0}`:                             "0",
		`{"id": -12 }`:                         "-12",
		`{"id":820982911946154508}`:            "820982911946154508",
		`{"id":1.0}`:                           "",
		`{"id":1E2}`:                           "",
		`{"id":""}`:                            "",
		`{"id":true}`:                          "",
		`{"id":null}`:                          "",
		`{"id":["a"]}`:                         "",
		`{"id":{"a":1}}`:                       "",
		`{}`:                                   "",
		`null`:                                 "",
		`"id"`:                                 "",
		`[{"id":"a"}]`:                         "",
		`{"id":"a"} trailing`:                  "",
		`{"id":"a"}{"id":"b"}`:                 "",
		`{"id":"a"`:                            "",
		"\ufeff{\"id\":\"a\"}":                 "",
		"{\"id\":\"a\xff\"}":                   "",
		"id=a":                                 "",
		"":                                     "",
		`{"id":"a","n":1e400}`:                 "a",
		`{"id":"a","x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`: "",
	}
	for body, want := range cases {
		if got := keyOf(topLevel([]byte(body))["id"]); got != want {
			t.Errorf("%.60s: key %q, want %q", body, got, want)
		}
	}
}

func TestTextOf(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{`"a"`: "a", `17`: "", `null`: "", `{}`: "", ``: "", `"`: "", `"\`: ""} {
		if got := textOf(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}
