package rule

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

// compiled compiles a rule that must compile.
func compiled(t testing.TB, r gateway.Rule) *Rule {
	t.Helper()
	c, err := CompileRule(r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestArrive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule gateway.Rule
		body string
		want Arrival
		why  string
	}{
		"nothing":           {gateway.Rule{Subject: "body.x"}, `{}`, Arrival{}, ""},
		"a text":            {gateway.Rule{Key: "body.id"}, `{"id":"a"}`, Arrival{Key: "a"}, ""},
		"exact":             {gateway.Rule{Key: "body.id"}, `{"id":9007199254740993}`, Arrival{Key: "9007199254740993"}, ""},
		"its neighbour":     {gateway.Rule{Key: "body.id"}, `{"id":9007199254740992}`, Arrival{Key: "9007199254740992"}, ""},
		"largest":           {gateway.Rule{Key: "body.id"}, `{"id":18446744073709551615}`, Arrival{Key: "18446744073709551615"}, ""},
		"beyond":            {gateway.Rule{Key: "body.id"}, `{"id":18446744073709551616}`, Arrival{Key: "18446744073709551616"}, ""},
		"a fraction":        {gateway.Rule{Key: "body.id"}, `{"id":1.50}`, Arrival{Key: "1.50"}, ""},
		"NUL is a byte":     {gateway.Rule{Key: "body.id"}, `{"id":"a\u0000b"}`, Arrival{Key: "a\x00b"}, ""},
		"key sees the type": {gateway.Rule{Type: "body.type", Key: "type + body.id"}, `{"id":"1","type":"a"}`, Arrival{"a", "a1"}, ""},
		"both fail":         {gateway.Rule{Type: "body.x", Key: "body.y"}, `{}`, Arrival{}, "the rule's type has no answer: no such key: x"},
		"only the type":     {gateway.Rule{Type: "body.x", Key: "type"}, `{}`, Arrival{Key: "t"}, "the rule's type has no answer: no such key: x"},
		"only the key":      {gateway.Rule{Type: "'a'", Key: "body.y"}, `{}`, Arrival{Type: "a"}, "the rule's key has no answer: no such key: y"},
		"no type":           {gateway.Rule{Type: "body.type"}, `{"type":"a\nb"}`, Arrival{}, "the rule's type has no answer: it comes out as no type of events: want 1 to 256 letters, digits, _ . : / or -, not beginning with a sign"},
		"a spoken type":     {gateway.Rule{Type: "body.type"}, `{"type":"Push Hook"}`, Arrival{Type: "Push Hook"}, ""},
		"null":              {gateway.Rule{Key: "body.id"}, `{"id":null}`, Arrival{}, "the rule's key has no answer: it comes out as null, not as a text or a whole number"},
		"empty":             {gateway.Rule{Key: "body.id"}, `{"id":""}`, Arrival{}, "the rule's key has no answer: it comes out empty"},
		"a truth":           {gateway.Rule{Key: "body.id"}, `{"id":true}`, Arrival{}, "the rule's key has no answer: it comes out as true or false, not as a text or a whole number"},
		"a double":          {gateway.Rule{Key: "double(body.id)  > 1.0 ? dyn(1.5) : dyn('')"}, `{"id":2}`, Arrival{}, "the rule's key has no answer: it comes out as a number, not as a text or a whole number"},
		"long":              {gateway.Rule{Key: "body.id"}, `{"id":"` + strings.Repeat("x", 1025) + `"}`, Arrival{}, "the rule's key has no answer: it comes out longer than 1024 bytes"},
		"no JSON":           {gateway.Rule{Key: "body.id"}, `id=1`, Arrival{}, "the rule's key has no answer: no such key: id (the payload is not JSON, so body is null)"},
	} {
		got, err := compiled(t, c.rule).Arrive(t.Context(), NewInput(sent(c.body)))
		if diff := cmp.Diff(c.want, got); diff != "" || reason(t, err) != c.why {
			t.Errorf("%s: %s%v", name, diff, err)
		}
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule gateway.Rule
		body string
		want Meaning
		why  string
	}{
		"nothing":               {gateway.Rule{Key: "body.x"}, `{}`, Meaning{}, ""},
		"all":                   {gateway.Rule{Subject: "body.id", State: "body.s", Emit: "'m.' + body.s"}, `{"id":7,"s":"sent"}`, Meaning{"7", "sent", "m.sent", false}, ""},
		"each sees the subject": {gateway.Rule{Subject: "body.id", State: "subject", Emit: "subject"}, `{"id":"a"}`, Meaning{"a", "a", "a", false}, ""},
		"no state":              {gateway.Rule{Subject: "body.id", State: "has(body.s) ? body.s : null"}, `{"id":"a"}`, Meaning{"a", "", "", false}, ""},
		"a number as a state":   {gateway.Rule{Subject: "body.id", State: "body.s"}, `{"id":"a","s":200}`, Meaning{"a", "200", "", false}, ""},
		"silent":                {gateway.Rule{Emit: "body.s == 'x' ? null : 'm.' + body.s"}, `{"s":"x"}`, Meaning{"", "", "", true}, ""},
		"not silent":            {gateway.Rule{Emit: "body.s == 'x' ? null : 'm.' + body.s"}, `{"s":"y"}`, Meaning{"", "", "m.y", false}, ""},
		"null first":            {gateway.Rule{Emit: "body.s != 'x' ? 'm' : null"}, `{"s":"x"}`, Meaning{"", "", "", true}, ""},
		"always silent":         {gateway.Rule{Emit: "null"}, `{}`, Meaning{"", "", "", true}, ""},
		"NUL":                   {gateway.Rule{Subject: "body.id"}, `{"id":"a\u0000"}`, Meaning{}, "the rule's subject has no answer: it comes out with a NUL character"},
		"reserved":              {gateway.Rule{Emit: "body.s"}, `{"s":"rowlock.x"}`, Meaning{}, "the rule's emit has no answer: it comes out as no type of events: types that begin with rowlock. are Rowlock's own"},
		"a number to emit":      {gateway.Rule{Emit: "body.s"}, `{"s":1}`, Meaning{}, "the rule's emit has no answer: it comes out as a number, not as a text"},
		"a long state":          {gateway.Rule{Subject: "'a'", State: "body.s"}, `{"s":"` + strings.Repeat("x", 257) + `"}`, Meaning{Subject: "a"}, "the rule's state has no answer: it comes out longer than 256 bytes"},
	} {
		got, err := compiled(t, c.rule).Decide(t.Context(), NewInput(sent(c.body)))
		if err != nil {
			got.Silent = false // it is said of what has an answer alone
		}
		if diff := cmp.Diff(c.want, got); diff != "" || reason(t, err) != c.why {
			t.Errorf("%s: %s%v", name, diff, err)
		}
	}
}

// All that is wrong with a rule is told at once, each under its field.
func TestCompileRuleTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := CompileRule(gateway.Rule{Key: "true", Type: "1", Subject: "null", State: "[1]", Emit: "bdy"})
	want := strings.Join([]string{
		"key: comes out as true or false, and a key has to be a text or a whole number",
		"type: comes out as a number, and a type has to be a text",
		"subject: comes out as null, and a subject has to be a text or a whole number",
		"state: comes out as a list, and a state has to be a text, a whole number or null",
		"emit: line 1, column 1: undeclared reference to 'bdy' (did you mean 'body'?). Variables are body, headers, query, type, subject and source",
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if wrong, ok := errors.AsType[*FieldError](err); !ok || wrong.Field != "key" {
		t.Errorf("%v is no FieldError", err)
	}
}

// A rule that builds a gigabyte is stopped within 100 ms, without taking the
// memory, and others are asked meanwhile as ever.
func TestAGigabyteIsStopped(t *testing.T) {
	t.Parallel()
	doubled, listed := "body.s", "[body.s]"
	for range 24 {
		doubled = "[" + doubled + "].map(x, x + x)[0]"
		listed = "[" + listed + "].map(x, x + x)[0]"
	}
	body := `{"s":"` + strings.Repeat("x", 1024) + `"}`
	for _, text := range []string{doubled, "[" + listed + "].map(x, string(size(x)))[0]", listed + ".map(x, x + x + x + x)[0]"} {
		dear := compiled(t, gateway.Rule{Key: text, Subject: text})
		fine := compiled(t, gateway.Rule{Key: "body.s.size()"})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var others sync.WaitGroup
		others.Go(func() {
			for range 100 {
				if got, err := fine.Arrive(t.Context(), NewInput(sent(body))); got.Key != "1024" {
					t.Errorf("another one's key is %q, %v", got.Key, err)
				}
			}
		})
		for name, ask := range map[string]func() error{
			"arrive": func() error { _, err := dear.Arrive(t.Context(), NewInput(sent(body))); return err },
			"decide": func() error { _, err := dear.Decide(t.Context(), NewInput(sent(body))); return err },
		} {
			begun := time.Now()
			err := ask()
			if took := time.Since(begun); reason(t, err) == "" || took > tries*deadline+deadline {
				t.Errorf("%s %.40s: %v after %s", name, text, err, took)
			}
		}
		others.Wait()
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<29 {
			t.Errorf("%.40s took %d MiB", text, grown>>20)
		}
	}
}

func TestArriveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := compiled(t, gateway.Rule{Key: "body.all(x, true) ? 'a' : 'b'"}).Arrive(ctx, NewInput(sent(`[1]`)))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A rule is compiled once for each of its versions.
func TestRulesByVersion(t *testing.T) {
	t.Parallel()
	rules, a, b := NewRules(), gateway.SourceID{1}, gateway.SourceID{2}
	get := func(source gateway.SourceID, n int, key string) *Rule {
		t.Helper()
		r, err := rules.Rule(source, n, gateway.Rule{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := get(a, 1, "'x'")
	if get(a, 1, "'x'") != first {
		t.Error("it was compiled twice")
	}
	if get(a, 2, "'y'").Key != "'y'" || get(b, 1, "'z'").Key != "'z'" {
		t.Error("another rule was taken for it")
	}
	if _, err := rules.Rule(a, 3, gateway.Rule{Key: "."}); err == nil {
		t.Error("no error")
	}
}
