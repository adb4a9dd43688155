package schema_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/schema"
)

func mustNew(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s, err := schema.New([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schema, data string
		want         []schema.Fault
	}{
		{`true`, `{"a":[1]}`, nil},
		{`{}`, `null`, nil},
		{`false`, `1`, []schema.Fault{{"", "is not allowed here"}}},
		{`{"type":"object"}`, `[]`, []schema.Fault{{"", "want object"}}},
		{`{"type":["integer","null"]}`, `1.0`, nil},
		{`{"type":"integer"}`, `1.5`, []schema.Fault{{"", "want integer"}}},
		{`{"const":{"a":1,"b":[1e1]}}`, `{"b":[10],"a":1.0}`, nil},
		{`{"const":9007199254740993}`, `9007199254740992`, []schema.Fault{{"", "is not the one value that the schema allows"}}},
		{`{"enum":["a",null]}`, `"b"`, []schema.Fault{{"", "is not one of the values that the schema allows"}}},
		{`{"properties":{"a":false}}`, `{"a":1}`, []schema.Fault{{"/a", "is not allowed here"}}},
		{`{"required":["id"],"properties":{"n":{"minimum":0}}}`, `{"n":-1}`, []schema.Fault{{"", "lacks “id”"}, {"/n", "want at least 0"}}},
		{`{"items":{"properties":{"a/b~":{"maxLength":2}}}}`, `[{},{"a/b~":"xyz"}]`, []schema.Fault{{"/1/a~1b~0", "want at most 2 characters"}}},
		{`{"additionalProperties":false}`, `{"secret":1}`, []schema.Fault{{"", "has a field that the schema does not know"}}},
		{`{"unevaluatedProperties":false,"properties":{"a":true}}`, `{"a":1,"b":1}`, []schema.Fault{{"/b", "is not allowed here"}}},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, []schema.Fault{{"", "satisfies none of the schemas of which it has to satisfy one"}}},
		{`{"oneOf":[{"type":"number"},{"minimum":0}]}`, `1`, []schema.Fault{{"", "satisfies more than one of the schemas of which it has to satisfy one alone"}}},
		{`{"allOf":[{"minimum":3},{"multipleOf":2}]}`, `1`, []schema.Fault{{"", "want a multiple of 2"}, {"", "want at least 3"}}},
		{`{"not":{"type":"string"}}`, `"x"`, []schema.Fault{{"", "satisfies a schema that it must not satisfy"}}},
		{`{"pattern":"^a+$"}`, `"b"`, []schema.Fault{{"", "does not match the pattern ^a+$"}}},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, []schema.Fault{{"", "items 0 and 2 are equal"}}},
		{`{"contains":{"type":"string"}}`, `[1]`, []schema.Fault{{"", "has too few items of a kind that the schema wants"}}},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, []schema.Fault{{"", "has a field whose name the schema does not allow"}}},
		{`{"$ref":"#/$defs/n","$defs":{"n":{"type":"number"}}}`, `"x"`, []schema.Fault{{"", "want number"}}},
		{`{"$defs":{"n":{"$id":"n.json","type":"number"}},"$ref":"n.json"}`, `"x"`, []schema.Fault{{"", "want number"}}},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"n":{"type":"number"}},"items":[{"$ref":"#/definitions/n"}]}`, `["x"]`, []schema.Fault{{"/0", "want number"}}},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","format":"email"}`, `"x"`, nil},
		{`{"properties":{"c":{"items":{"$ref":"#"}},"n":{"type":"string"}}}`, `{"c":[{"c":[{"n":1}]}]}`, []schema.Fault{{"/c/0/c/0/n", "want string"}}},
		{`{"type":"object"}`, `{"a":1,"a":2}`, []schema.Fault{{"", "has a field twice"}}},
		{`{"minimum":0}`, `[{"n":1e999999999}]`, []schema.Fault{{"/0/n", "is a number that is too long to be checked"}}},
	} {
		if diff := cmp.Diff(tt.want, mustNew(t, tt.schema).Check([]byte(tt.data))); diff != "" {
			t.Errorf("%s with %s:\n%s", tt.data, tt.schema, diff)
		}
	}
}

// No reason repeats what was sent, whatever is asked.
func TestFaultsDoNotEcho(t *testing.T) {
	t.Parallel()
	for _, asked := range []string{
		`{"type":"null"}`, `{"const":1}`, `{"enum":[1]}`, `{"pattern":"^x$"}`, `{"maxLength":1}`, `{"not":{}}`,
		`{"type":"object","format":"email"}`, `{"anyOf":[{"const":"a"},{"pattern":"b"}]}`, `false`,
	} {
		for _, fault := range mustNew(t, asked).Check([]byte(`"hunter2"`)) {
			if strings.Contains(fault.Reason+fault.Pointer, "hunter2") {
				t.Errorf("%s: %+v", asked, fault)
			}
		}
	}
	for _, asked := range []string{`{"additionalProperties":false}`, `{"propertyNames":{"maxLength":1}}`, `{"maxProperties":0}`} {
		faults := mustNew(t, asked).Check([]byte(`{"hunter2":1}`))
		if len(faults) != 1 || strings.Contains(fmt.Sprint(faults), "hunter2") {
			t.Errorf("%s: %+v", asked, faults)
		}
	}
}

func TestFaultsAreBounded(t *testing.T) {
	t.Parallel()
	faults := mustNew(t, `{"items":{"type":"string"}}`).Check([]byte(`[` + strings.Repeat("1,", 100) + `1]`))
	if len(faults) != schema.MaxFaults {
		t.Errorf("%d faults are told", len(faults))
	}
	deep := strings.Repeat(`{"`+strings.Repeat("k", 100)+`":`, 50) + `1` + strings.Repeat("}", 50)
	faults = mustNew(t, `{"additionalProperties":{"$ref":"#"},"type":"object"}`).Check([]byte(deep))
	if len(faults) != 1 || len(faults[0].Pointer) > 256 {
		t.Errorf("%+v", faults)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                                      "is not JSON",
		`{"type":`:                              "is not JSON",
		`{} {}`:                                 "is not one JSON value",
		`"x"`:                                   "an object, true or false",
		`null`:                                  "an object, true or false",
		`{"type":1}`:                            "at /type",
		`{"properties":{"a":{"minLength":-1}}}`: "at /properties/a/minLength",
		`{"$ref":"other.json"}`:                 "refers to another document",
		`{"$ref":"file:///etc/passwd"}`:         "refers to another document",
		`{"$ref":"http://169.254.169.254/x"}`:   "refers to another document",
		`{"items":{"$dynamicRef":"https://example.com/s#m"}}`:          "refers to another document",
		`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`:      "refers to another document",
		`{"$id":"file:///etc/","$ref":"passwd"}`:                       "refers to another document",
		`{"$schema":"https://example.com/meta"}`:                       "$schema that is not known",
		`{"$ref":"#/$defs/none"}`:                                      "leads nowhere",
		`{"$ref":"#none"}`:                                             "leads nowhere",
		`{"pattern":"(?=a)"}`:                                          "RE2",
		`{"patternProperties":{"(":{}}}`:                               "RE2",
		`{"pattern":"` + strings.Repeat("a", 1025) + `"}`:              "more than 1024 bytes",
		`{"pattern":"` + strings.Repeat("a{1000}", 100) + `"}`:         "too large together",
		`{"maximum":1e999999}`:                                         "at /maximum, is a number that is too long",
		`{"title":"` + strings.Repeat("a", 64<<10) + `"}`:              "longer than 65536 bytes",
		strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat(`}`, 70): "nested more than 64",
		`{"enum":[` + strings.Repeat("1,", 10_000) + `1]}`:             "more than 10000 values",
		`{"type":"string","type":"number"}`:                            "has a field twice",
	} {
		_, err := schema.New([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

// What would take longer than anybody waits is ended, and soon.
func TestCostIsBounded(t *testing.T) {
	t.Parallel()
	ones := `[` + strings.Repeat("1,", 200_000) + `1]`
	for name, tt := range map[string]struct{ schema, data, want string }{
		"references that double": {doubling(40, "allOf", `true`), `1`, "takes too long"},
		"doubling that fails":    {doubling(40, "anyOf", `{"type":"null"}`), `1`, "too"},
		"doubling under not":     {`{"not":{"$ref":"#/$defs/d0"},` + strings.TrimPrefix(doubling(40, "anyOf", `false`), `{"$ref":"#/$defs/d0",`), `1`, "too"},
		"doubling by depth":      {`{"not":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/a"},"contains":{"$ref":"#/$defs/a"}}}}`, strings.Repeat("[", 200) + "1" + strings.Repeat("]", 200), "too"},
		"doubling by names":      {`{"patternProperties":{"a":{"$ref":"#"},"":{"$ref":"#"}}}`, strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200), "takes too long"},
		"a long list of values":  {`{"items":{"enum":[` + numbers(9000) + `]}}`, ones, "too many places"},
		"many faults":            {`{"items":{"type":"string"}}`, ones, "too many places"},
		"patterns on long texts": {`{"pattern":"` + strings.Repeat("(a?){20}", 100) + `b"}`, `"` + strings.Repeat("a", 1<<20) + `"`, "takes too long"},
		"many patterns":          {`{"patternProperties":{` + manyPatterns(900) + `}}`, `{` + manyFields(20_000) + `}`, "takes too long"},
		"unique at every depth":  {`{"uniqueItems":true,"items":{"$ref":"#"}}`, strings.Repeat("[1,", 200) + ones + strings.Repeat("]", 200), "takes too long"},
		"a schema in a circle":   {`{"$ref":"#"}`, `1`, "circle"},
		"data that is too deep":  {`{}`, strings.Repeat("[", 9999) + strings.Repeat("]", 9999), "too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults := mustNew(t, tt.schema).Check([]byte(tt.data))
			if len(faults) != 1 || !strings.Contains(faults[0].Reason, tt.want) {
				t.Errorf("%+v, want %q", faults, tt.want)
			}
		})
	}
}

// doubling is a schema that asks the last of n twice as often as the one before.
func doubling(n int, word, last string) string {
	var text strings.Builder
	text.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&text, `"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, word, i+1, i+1)
	}
	fmt.Fprintf(&text, `"d%d":%s}}`, n, last)
	return text.String()
}

func numbers(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d,", i+2)
	}
	return strings.TrimSuffix(text.String(), ",")
}

func manyPatterns(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `"x%d":{},`, i)
	}
	return strings.TrimSuffix(text.String(), ",")
}

func manyFields(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `"f%d":1,`, i)
	}
	return strings.TrimSuffix(text.String(), ",")
}

// A large document that is as it should be passes.
func TestLargeDataPasses(t *testing.T) {
	t.Parallel()
	s := mustNew(t, `{"type":"array","items":{"type":"object","required":["id"],"additionalProperties":false,"properties":{"id":{"type":"integer"},"state":{"enum":["a","b"]},"name":{"type":"string","maxLength":20,"pattern":"^[a-z]+$"}}}}`)
	var data strings.Builder
	data.WriteByte('[')
	for i := range 20_000 {
		fmt.Fprintf(&data, `{"id":%d,"state":"b","name":"somebody"},`, i)
	}
	text := strings.TrimSuffix(data.String(), ",") + "]"
	if faults := s.Check([]byte(text)); faults != nil {
		t.Errorf("%+v", faults)
	}
}

// Many ask at once, and each is counted by itself.
func TestCheckAtOnce(t *testing.T) {
	t.Parallel()
	s := mustNew(t, `{"type":"object","required":["id"]}`)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for range 50 {
				data, want := `{"id":1}`, 0
				if i%2 == 0 {
					data, want = `{}`, 1
				}
				if faults := s.Check([]byte(data)); len(faults) != want {
					t.Errorf("%s: %+v", data, faults)
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkCheck(b *testing.B) {
	s, err := schema.New([]byte(`{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"items":{"type":"array","items":{"type":"object"}}}}`))
	if err != nil {
		b.Fatal(err)
	}
	data := []byte(`{"id":12,"name":"somebody","items":[{"a":1},{"b":2},{"c":[1,2,3]}]}`)
	for b.Loop() {
		s.Check(data)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":1}}`)
	f.Add(`{"$defs":{"a":{"uniqueItems":true}},"anyOf":[{"$ref":"#/$defs/a"},false]}`, `[1,1]`)
	f.Add(`{"$schema":"http://json-schema.org/draft-04/schema#","dependencies":{"a":["b"]},"items":[{}]}`, `{"a":1e5}`)
	f.Fuzz(func(_ *testing.T, text, data string) {
		if s, err := schema.New([]byte(text)); err == nil {
			s.Check([]byte(data))
		}
	})
}
