package rule

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

func TestCompileTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]string{
		`bdy.amount > 1`:          "line 1, column 1: undeclared reference to 'bdy' (did you mean 'body'?). Variables are body, headers, query, type, subject and source",
		"type == 'a' &&\n  xyz.b": "line 2, column 3: undeclared reference to 'xyz'. Variables are body, headers, query, type, subject and source",
		`body.amount >`:           "line 1, column 14: something is missing at the end",
		`body.amount = 1`:         "line 1, column 13: to compare, write ==",
		`body.a & body.b`:         "line 1, column 8: for and, write &&",
		`body.a | body.b`:         "line 1, column 8: for or, write ||",
		`body.a == 'x`:            "line 1, column 11: a text that is not closed: a quote is missing",
		`body.a == 1 1`:           "line 1, column 13: '1' is not expected here",
		`body.a.`:                 "line 1, column 8: '.' is not expected here",
		`lower(type) == 'a'`:      "line 1, column 6: there is no function 'lower'",
		`type.lower() == 'a'`:     "line 1, column 11: there is no function 'lower'",
		`type > 1`:                "line 1, column 6: > cannot be applied to (string, int)",
		`source == "Shop"`:        "line 1, column 8: == cannot be applied to (map(string, string), string)",
		`type in "a"`:             "line 1, column 6: in cannot be applied to (string, string)",
		`has(body)`:               "line 1, column 5: has() asks for a field, such as has(body.amount)",
		`1 + 1`:                   "comes out as a number, and a filter has to be true or false",
		`type`:                    "comes out as a text, and a filter has to be true or false",
		`[type]`:                  "comes out as a list, and a filter has to be true or false",
		``:                        "is empty",
		" \n\t":                   "is empty",
		"type == 'a\x00'":         "want UTF-8 without NUL characters",
		"type == 'a\xff'":         "want UTF-8 without NUL characters",
		`type.matches("[")`:       "the pattern of matches() is no regular expression",
		`type.matches("(a{50}){20}(b{50}){20}(c{50}){20}")`: "the pattern of matches() is too large: repeat less in it",
		`type.matches(subject)`:                             "line 1, column 13: the pattern of matches() has to be written out, such as r'^a+$'",
		`int("x") == 1`:                                     "type conversion error from 'string' to 'int'",
		`body.a.all(a, body.b.all(b, body.c.all(c, body.d.all(d, a == b))))`: "takes too long where lists have 100 items: put fewer loops (all, exists, filter, map) into each other",
		"type == '" + strings.Repeat("x", 5000) + "'":                        "want at most 4096 bytes",
	} {
		_, err := CompileFilter(filter)
		if wrong, ok := errors.AsType[*SyntaxError](err); !ok || wrong.Error() != want {
			t.Errorf("%.60q: %v\nwant %s", filter, err, want)
		}
	}
}

// What CEL repeats of an expression is cut.
func TestCompileTellsLittleOfWhatIsLong(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{strings.Repeat("x", 4000) + " == 1", "type == $" + strings.Repeat("é", 2000), strings.Repeat("(", 4000), strings.Repeat("!", 4000) + "true", strings.Repeat("[", 240) + strings.Repeat("]", 240) + " > 1"} {
		err := CheckFilter(filter)
		if _, ok := errors.AsType[*SyntaxError](err); err != nil && (!ok || len(err.Error()) > 1000 || !utf8.ValidString(err.Error())) {
			t.Errorf("%.20q: %.2000q", filter, err)
		}
	}
}

// Filters as people write them are not too dear.
func TestCompileTakesWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{
		`body.data.object.lines.data.exists(l, l.price.metadata.exists(k, k == "plan"))`,
		`body.commits.exists(c, c.modified.exists(f, f.startsWith("docs/")) || c.added.exists(f, f.matches("^docs/.*\\.md$")))`,
		`body.orders.all(o, o.lines.all(l, l.taxes.all(t, t.rate > 0)))`,
		`body.?items.orValue([]).exists(i, i.sku in ["a", "b"])`,
		`body.items.filter(i, i.n > 1).map(i, i.sku).exists(s, s == "a")`,
		`timestamp(body.created_at) > timestamp("2026-01-01T00:00:00Z") + duration("24h")`,
		strings.Repeat(`type == "order.created" || `, 140) + `false`,
		`type in [` + strings.Repeat(`"order.created", `, 200) + `"x"]`,
	} {
		if err := CheckFilter(filter); err != nil {
			t.Errorf("%s: %v", filter, err)
		}
	}
}

// The race detector is what tells: whoever types a wrong name must not disturb
// others, from the first expression on.
func TestEnvironmentIsShared(t *testing.T) {
	t.Parallel()
	env, err := newEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, issues := env.Compile("[1].exists(n, n == 1)"); issues.Err() != nil {
				t.Error(issues.Err())
			}
		})
		all.Go(func() {
			if _, issues := env.Compile("nobody"); issues.Err() == nil {
				t.Error("a name that nobody gave is known")
			}
		})
	}
	all.Wait()
}
