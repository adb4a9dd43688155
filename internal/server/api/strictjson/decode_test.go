package strictjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/server/api/strictjson"
)

type form struct {
	base

	Count  int                                 `json:"count"`
	Flag   *bool                               `json:"flag"`
	Inner  *inner                              `json:"inner"`
	Free   map[string]string                   `json:"free"`
	Raw    json.RawMessage                     `json:"raw"`
	Set    strictjson.Field[[]int]             `json:"set"`
	Nested strictjson.Field[map[string]string] `json:"nested"`
	Bound  *int                                `json:"bound" minimum:"1" maximum:"1000"`
	Codes  strictjson.Field[[]int]             `json:"codes" minimum:"300"`
	Hidden string                              `json:"-"`
}

type base struct {
	Name  *string  `json:"name,omitempty"`
	Types []string `json:"types"`
}

type inner struct {
	Text string `json:"text"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	got, err := strictjson.Decode[form]([]byte(`{"name":"n","types":["a","b"],"count":3,"flag":true,"inner":{"text":"t"},` +
		`"free":{"X":"1","x":"2"},"raw":{"n":1e400},"set":[1,2],"nested":null}`))
	if err != nil {
		t.Fatal(err)
	}
	name, flag := "n", true
	want := form{
		base: base{Name: &name, Types: []string{"a", "b"}}, Count: 3, Flag: &flag, Inner: &inner{"t"},
		Free: map[string]string{"X": "1", "x": "2"}, Raw: json.RawMessage(`{"n":1e400}`),
		Set:    strictjson.Field[[]int]{Given: true, Value: []int{1, 2}},
		Nested: strictjson.Field[map[string]string]{Given: true, Null: true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(form{})); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeNullIsLeftOut(t *testing.T) {
	t.Parallel()
	got, err := strictjson.Decode[form]([]byte(`{"name":null,"types":null,"count":null,"inner":null,"free":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(form{}, got, cmp.AllowUnexported(form{})); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeFaults(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, 40) + strings.Repeat(`]`, 40)
	for _, c := range []struct {
		document, path, detail string
	}{
		{`{"nmae":"secret"}`, "nmae", "unknown field"},
		{`{"Name":"x"}`, "Name", "unknown field"},
		{`{"COUNT":1}`, "COUNT", "unknown field"},
		{`{"Hidden":"x"}`, "Hidden", "unknown field"},
		{`{"-":"x"}`, "?", "unknown field"},
		{`{"":"x"}`, "?", "unknown field"},
		{`{"hunter2 is my password":1}`, "?", "unknown field"},
		{`{"inner":{"txet":"x"}}`, "inner.txet", "unknown field"},
		{`{"name":"x","name":"y"}`, "name", "more than once"},
		{`{"name":"x","n\u0061me":"y"}`, "name", "more than once"},
		{`{"free":{"a":"1","a":"2"}}`, "free.a", "more than once"},
		{`{"raw":{"a":[{"b":1,"b":2}]}}`, "raw.a[0].b", "more than once"},
		{`{"name":"a\u0000b"}`, "name", "NUL"},
		{"{\"name\":\"\xff\"}", "name", "UTF-8"},
		{`{"name":"\ud800"}`, "name", "UTF-8"},
		{"{\"na\xffme\":\"x\"}", "", "UTF-8"},
		{`{"types":["a","b\u0000"]}`, "types[1]", "NUL"},
		{`{"raw":{"a":["\u0000"]}}`, "raw.a[0]", "NUL"},
		{`{"free":{"a\u0000":"1"}}`, "free", "NUL"},
		{`{"types":["a",null]}`, "types[1]", "null"},
		{`{"free":{"a":null}}`, "free.a", "null"},
		{`{"types":"a"}`, "types", "array"},
		{`{"types":{"a":1}}`, "types", "array"},
		{`{"inner":"x"}`, "inner", "object"},
		{`{"inner":[]}`, "inner", "object"},
		{`{"name":1}`, "name", "want a string"},
		{`{"name":{}}`, "name", "single value"},
		{`{"name":` + strings.Repeat(`[`, 20000) + strings.Repeat(`]`, 20000) + `}`, "name", "single value"},
		{`{"count":"1"}`, "count", "whole number"},
		{`{"count":1.5}`, "count", "whole number"},
		{`{"count":1e400}`, "count", "whole number"},
		{`{"count":99999999999999999999}`, "count", "whole number"},
		{`{"flag":"yes"}`, "flag", "true or false"},
		{`{"set":[1,"2"]}`, "set[1]", "whole number"},
		{`{"set":[1,null]}`, "set[1]", "null"},
		{`{"set":[1,{}]}`, "set[1]", "single value"},
		{`{"nested":{"a":1}}`, "nested.a", "want a string"},
		{`{"types":["a",true]}`, "types[1]", "want a string"},
		{`{"bound":0}`, "bound", "want a whole number from 1 to 1000"},
		{`{"bound":1001}`, "bound", "want a whole number from 1 to 1000"},
		{`{"bound":1e400}`, "bound", "want a whole number from 1 to 1000"},
		{`{"bound":"1"}`, "bound", "want a whole number from 1 to 1000"},
		{`{"codes":[400,299]}`, "codes[1]", "want a whole number of at least 300"},
		{`{"raw":` + deep + `}`, "raw" + strings.Repeat("[0]", 32), "nested"},
		{`[]`, "", "object"},
		{`null`, "", "object"},
		{`"x"`, "", "object"},
	} {
		_, err := strictjson.Decode[form]([]byte(c.document))
		var faults strictjson.Faults
		if !errors.As(err, &faults) {
			t.Errorf("Decode(%.60s) = %v", c.document, err)
			continue
		}
		if len(faults) != 1 || faults[0].Path != c.path || !strings.Contains(faults[0].Detail, c.detail) {
			t.Errorf("Decode(%.60s) = %+v, want %q at %q", c.document, faults, c.detail, c.path)
		}
	}
}

func TestDecodeTellsEveryFaultWithinReason(t *testing.T) {
	t.Parallel()
	_, err := strictjson.Decode[form]([]byte(`{"a":1,"b":2,"name":"\u0000"}`))
	var faults strictjson.Faults
	if !errors.As(err, &faults) || len(faults) != 3 {
		t.Errorf("%v", err)
	}
	many := `{"types":[` + strings.Repeat(`null,`, 500) + `null]}`
	if _, err := strictjson.Decode[form]([]byte(many)); !errors.As(err, &faults) || len(faults) > 20 {
		t.Errorf("%d faults", len(faults))
	}
	tooMany := `{"types":[` + strings.Repeat(`"a",`, 1000) + `"a"]}`
	if _, err := strictjson.Decode[form]([]byte(tooMany)); !errors.As(err, &faults) || !strings.Contains(faults[0].Detail, "too many") {
		t.Errorf("%v", err)
	}
}

func TestDecodeSyntaxComesFirst(t *testing.T) {
	t.Parallel()
	for _, document := range []string{`{"nmae":1,`, `{"a":1,"a":`, "\xef\xbb\xbf{}", ``, `{"name":"x"} {}`} {
		_, err := strictjson.Decode[form]([]byte(document))
		if _, ok := errors.AsType[*strictjson.SyntaxError](err); !ok {
			t.Errorf("Decode(%q) = %v", document, err)
		}
	}
}

// FuzzDecode checks that what passes is what encoding/json reads, and that
// nothing else than a told fault can come of any document.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"name":"n","types":["a"],"set":null}`, `{"raw":{"a":[1]},"free":{"x":"y"}}`, `{"count":1e400}`, `{"inner":{"text":"\ud83c\udf89"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		got, err := strictjson.Decode[form](document)
		var faults strictjson.Faults
		var syntax *strictjson.SyntaxError
		switch {
		case errors.As(err, &syntax):
			if json.Valid(document) && len(document) < 5000 {
				t.Fatalf("%q: %v", document, err)
			}
		case errors.As(err, &faults):
			if !json.Valid(document) && len(document) < 5000 {
				t.Fatalf("%q: %v", document, err)
			}
		case err != nil:
			t.Fatalf("%q: %v", document, err)
		default:
			var standard form
			if err := json.Unmarshal(document, &standard); err != nil {
				t.Fatalf("%q: %v", document, err)
			}
			if diff := cmp.Diff(standard, got, cmp.AllowUnexported(form{})); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
