package signature

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDecodeSettings(t *testing.T) {
	t.Parallel()
	cases := map[string]string{ // settings: part of the error, "" is accepted
		``:                           "",
		` `:                          "",
		`null`:                       "",
		`{}`:                         "",
		`{"text":"a"}`:               "",
		`{"text":"a","flag":true}`:   "",
		`{"text":null}`:              "",
		"\n{ \"text\" : \"a\" }\n":   "",
		`{"t\u0065xt":"a"}`:          "",
		`{"Text":"a"}`:               `unknown setting "Text"`,
		`{"text ":"a"}`:              `unknown setting "text "`,
		`{"other":{"text":"a"}}`:     `unknown setting "other"`,
		`{"text":"a","text":"a"}`:    `"text" is given twice`,
		`{"text":null,"text":"a"}`:   `"text" is given twice`,
		`{"text":1}`:                 `"text" has the wrong type`,
		`{"text":["a"]}`:             `"text" has the wrong type`,
		`{"flag":"true"}`:            `"flag" has the wrong type`,
		`{"text":}`:                  `"text" has the wrong type`,
		`{"text":"a",}`:              "not one JSON object",
		`{"text":"a"`:                "not one JSON object",
		`{"text":"a"}}`:              "not one JSON object",
		`{"text":"a"} null`:          "not one JSON object",
		`{text:"a"}`:                 "not one JSON object",
		`{1:"a"}`:                    "not one JSON object",
		`[]`:                         "not one JSON object",
		`true`:                       "not one JSON object",
		`"text"`:                     "not one JSON object",
		`nul`:                        "not one JSON object",
		"\ufeff{}":                   "not one JSON object",
		"\x00":                       "not one JSON object",
		strings.Repeat("{", 100_000): "not one JSON object",
		`{"` + strings.Repeat("é", 100) + `":1}`: `unknown setting "` + strings.Repeat("é", 40) + `"`,
	}
	for raw, want := range cases {
		var text string
		var flag bool
		err := decodeSettings(json.RawMessage(raw), map[string]any{"text": &text, "flag": &flag})
		t.Run(raw[:min(len(raw), 40)], func(t *testing.T) { wantError(t, err, want) })
		if want == "" && strings.Contains(raw, `"a"`) && text != "a" {
			t.Errorf("%s: text is %q", raw, text)
		}
		if want == "" && strings.Contains(raw, "true") != flag {
			t.Errorf("%s: flag is %v", raw, flag)
		}
	}
}
