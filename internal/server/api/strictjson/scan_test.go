package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/server/api/strictjson"
)

// pairs are members as texts, name and value in turn.
func pairs(members []strictjson.Member) []string {
	var out []string
	for _, m := range members {
		out = append(out, string(m.Name), string(m.Value))
	}
	return out
}

func TestMembersKeepsBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, document string
		want           []string
	}{
		{"empty", ` { } `, nil},
		{"trims around values", "{ \"a\" :\t{ \"b\" : 1 }\r\n, \"c\":[ ] }", []string{`"a"`, `{ "b" : 1 }`, `"c"`, `[ ]`}},
		{"numbers as written", `{"n":12345678901234567890,"e":1e400,"z":-0,"f":1E+2}`, []string{`"n"`, `12345678901234567890`, `"e"`, `1e400`, `"z"`, `-0`, `"f"`, `1E+2`}},
		{"escapes and odd bytes", "{\"a\":\"\\u0000\\ud83e\",\"b\":\"\xff\"}", []string{`"a"`, `"\u0000\ud83e"`, `"b"`, "\"\xff\""}},
		{"repeated names", `{"a":1,"a":2}`, []string{`"a"`, `1`, `"a"`, `2`}},
		{"words", `{"a":true,"b":false,"c":null}`, []string{`"a"`, `true`, `"b"`, `false`, `"c"`, `null`}},
		{"brackets in strings", `{"a":"}]\"","b":"\\"}`, []string{`"a"`, `"}]\""`, `"b"`, `"\\"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := strictjson.Members([]byte(c.document), 10)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, pairs(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// broken are texts that are not JSON, with the offset at which they stop
// being.
var broken = []struct {
	document string
	offset   int
}{
	{``, 0},
	{`   `, 3},
	{`{`, 1},
	{`{"a"`, 4},
	{`{"a":`, 5},
	{`{"a":1`, 6},
	{`{"a":1,}`, 7},
	{`{,}`, 1},
	{`{"a":1}}`, 7},
	{`{"a":1} x`, 8},
	{"\xef\xbb\xbf{}", 0},
	{`{a:1}`, 1},
	{`{'a':1}`, 1},
	{`{"a":01}`, 6},
	{`{"a":+1}`, 5},
	{`{"a":1.}`, 7},
	{`{"a":.5}`, 5},
	{`{"a":1e}`, 7},
	{`{"a":-}`, 6},
	{`{"a":tru}`, 5},
	{`{"a":NaN}`, 5},
	{"{\"a\":\"\n\"}", 6},
	{`{"a":"\x"}`, 7},
	{`{"a":"\u12g4"}`, 10},
	{`{"a":"`, 6},
	{`{"a":"\`, 7},
	{`{"a":[1,]}`, 8},
	{`{"a":[1 2]}`, 8},
	{`{"a":{]}`, 6},
	{"{\"a\":1\x00}", 6},
	{`[1`, 2},
	{`"a`, 2},
	{`// c`, 0},
}

func TestBrokenTextsTellWhere(t *testing.T) {
	t.Parallel()
	for _, c := range broken {
		if json.Valid([]byte(c.document)) {
			t.Fatalf("%q is JSON", c.document)
		}
		for name, split := range splits {
			err := split([]byte(c.document))
			var syntax *strictjson.SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset != c.offset {
				t.Errorf("%s(%q) = %v, want a fault at byte %d", name, c.document, err, c.offset)
			}
		}
	}
}

var splits = map[string]func([]byte) error{
	"Members": func(d []byte) error {
		_, err := strictjson.Members(d, 1)
		return err
	},
	"Elements": func(d []byte) error {
		_, err := strictjson.Elements(d, 1)
		return err
	},
}

func TestWrongContainer(t *testing.T) {
	t.Parallel()
	for _, document := range []string{`1`, `"a"`, `null`, `true`, `[{}]`, ` [] `} {
		if _, err := strictjson.Members([]byte(document), 1); !errors.Is(err, strictjson.ErrNotObject) {
			t.Errorf("Members(%s) = %v", document, err)
		}
	}
	for _, document := range []string{`1`, `"a"`, `null`, `{}`, ` {"a":[]} `} {
		if _, err := strictjson.Elements([]byte(document), 1); !errors.Is(err, strictjson.ErrNotArray) {
			t.Errorf("Elements(%s) = %v", document, err)
		}
	}
}

func TestLimitsEntries(t *testing.T) {
	t.Parallel()
	if got, err := strictjson.Elements([]byte(`[1,2,3]`), 3); err != nil || len(got) != 3 {
		t.Errorf("three of three: %q, %v", got, err)
	}
	if _, err := strictjson.Elements([]byte(`[1,2,3,4]`), 3); !errors.Is(err, strictjson.ErrTooMany) {
		t.Errorf("four of three: %v", err)
	}
	if _, err := strictjson.Members([]byte(`{"a":1,"b":2}`), 1); !errors.Is(err, strictjson.ErrTooMany) {
		t.Errorf("two of one: %v", err)
	}
	var syntax *strictjson.SyntaxError
	if _, err := strictjson.Elements([]byte(`[1,2,3,4`), 3); !errors.As(err, &syntax) {
		t.Errorf("four of three, broken: %v", err)
	}
}

func TestDepthCostsNoStack(t *testing.T) {
	t.Parallel()
	const depth = 1 << 20
	document := `{"data":` + strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth) + `}`
	got, err := strictjson.Members([]byte(document), 1)
	if err != nil || len(got[0].Value) != 2*depth {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func FuzzMembers(f *testing.F) {
	for _, c := range broken {
		f.Add([]byte(c.document))
	}
	for _, good := range []string{`{}`, ` {"a":[1,{"b":"\u00e9\"x"}],"a":-1.5E-7} `, `[1,2]`, `"x"`, "{\"\xff\":\"\\ud800\"}"} {
		f.Add([]byte(good))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		if bytes.Count(document, []byte("["))+bytes.Count(document, []byte("{")) > 5000 {
			return // deeper than encoding/json goes
		}
		members, err := strictjson.Members(document, len(document)+1)
		var syntax *strictjson.SyntaxError
		if isJSON := !errors.As(err, &syntax); isJSON != json.Valid(document) {
			t.Fatalf("%q: %v, but encoding/json says %v", document, err, json.Valid(document))
		}
		if err == nil {
			sameAsStandard(t, document, members)
		}
	})
}

// sameAsStandard checks that encoding/json finds the same members, of which it
// keeps the last of each name.
func sameAsStandard(t *testing.T, document []byte, members []strictjson.Member) {
	t.Helper()
	var standard map[string]json.RawMessage
	if err := json.Unmarshal(document, &standard); err != nil {
		t.Fatalf("%q: %v", document, err)
	}
	last := map[string]json.RawMessage{}
	for _, m := range members {
		var name string
		if err := json.Unmarshal(m.Name, &name); err != nil {
			t.Fatalf("%q: name %q: %v", document, m.Name, err)
		}
		last[name] = m.Value
	}
	if len(last) != len(standard) {
		t.Fatalf("%q: %d names, want %d", document, len(last), len(standard))
	}
	for name, value := range standard {
		if !bytes.Equal(value, last[name]) {
			t.Fatalf("%q: %q is %q, want %q", document, name, last[name], value)
		}
	}
}
