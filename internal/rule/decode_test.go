package rule

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]any{
		`5`:                       int64(5),
		` [1 , 2] ` + "\n":        []any{int64(1), int64(2)},
		"\xef\xbb\xbf{\"a\":1}":   map[string]any{"a": int64(1)},
		`{"a":1,"a":2}`:           map[string]any{"a": int64(2)},
		`{"a":{"b":1},"a":{}}`:    map[string]any{"a": map[string]any{}},
		`{"a":1,"A":2}`:           map[string]any{"a": int64(1), "A": int64(2)},
		`"\ud83e"`:                "\uFFFD",
		`"\udd14\ud83e"`:          "\uFFFD\uFFFD",
		`"\ud83e\udd14"`:          "🤔",
		`"a\u0000b"`:              "a\x00b",
		"\"a\xffb\"":              "a\uFFFDb",
		`-0`:                      int64(0),
		`0.10`:                    "0.10",
		`1E+2`:                    "1E+2",
		`1e400`:                   "1e400",
		`9007199254740993`:        int64(9007199254740993),
		`9223372036854775807`:     int64(9223372036854775807),
		`9223372036854775808`:     uint64(9223372036854775808),
		`-9223372036854775809`:    "-9223372036854775809",
		`18446744073709551616`:    "18446744073709551616",
		`null`:                    nil,
		`{"a":[null,true,"x",1]}`: map[string]any{"a": []any{nil, true, "x", int64(1)}},
	} {
		got, ok := decode([]byte(body))
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %t %s", body, ok, diff)
		}
	}
	for _, body := range []string{``, ` `, `{`, `{}{}`, `{} x`, `01`, `+1`, `NaN`, `'a'`, `{"a":}`, "\"\x01\"", `{a:1}`, "\xef\xbb", strings.Repeat("[", 1<<20), strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)} {
		if got, ok := decode([]byte(body)); ok {
			t.Errorf("%.30q is read as %v", body, got)
		}
	}
	deepest := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	if _, ok := decode([]byte(deepest)); !ok {
		t.Errorf("%d levels are not read", maxDepth)
	}
}

// whole is an integer as JSON writes it.
var whole = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// wantNumber is what a number is, said in another way: with numbers of any
// length.
func wantNumber(text string) any {
	n, ok := new(big.Int).SetString(text, 10)
	switch {
	case !ok || !whole.MatchString(text):
		return text
	case n.IsInt64():
		return n.Int64()
	case n.IsUint64():
		return n.Uint64()
	default:
		return text
	}
}

// someNumber writes a number in one of the many ways, near the edges often.
func someNumber(r *rand.Rand) string {
	edges := []string{"0", "-0", "9223372036854775807", "18446744073709551615", "-9223372036854775808", "9007199254740992", "1"}
	n, _ := new(big.Int).SetString(edges[r.IntN(len(edges))], 10)
	text := n.Add(n, big.NewInt(r.Int64N(5)-2)).String()
	switch r.IntN(5) {
	case 0:
		return text + "." + strconv.Itoa(r.IntN(1000))
	case 1:
		return text + []string{"e", "E", "e+", "E-"}[r.IntN(4)] + strconv.Itoa(r.IntN(400))
	case 2:
		return text + strings.Repeat(strconv.Itoa(r.IntN(10)), r.IntN(40))
	default:
		return text
	}
}

func TestNumbersAreWhatTheyAre(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text := someNumber(r)
		got, ok := decode([]byte(`{"n":[` + text + `]}`))
		if text[0] != '-' && len(text) > 1 && text[0] == '0' && text[1] != '.' && text[1] != 'e' && text[1] != 'E' {
			continue // no JSON
		}
		if !ok {
			if json.Valid([]byte(text)) {
				t.Fatalf("%s is not read", text)
			}
			continue
		}
		if diff := cmp.Diff(map[string]any{"n": []any{wantNumber(text)}}, got); diff != "" {
			t.Fatalf("%s: %s", text, diff)
		}
	}
}

// FuzzDecode reads whatever is sent, and agrees with encoding/json on what is
// JSON.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":1.0,"b":[18446744073709551615,-1]}`, `"\ud800"`, "[[[[", `{"a":1,"a":2}`, "\xef\xbb\xbf1", "\xff", `1e999`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		value, ok := decode(body)
		if valid := json.Valid([]byte(strings.TrimPrefix(string(body), "\xef\xbb\xbf"))); ok != valid {
			t.Fatalf("%q: read %t, JSON %t", body, ok, valid)
		}
		wantKnown(t, value)
	})
}

// wantKnown fails for a value that CEL would be surprised by.
func wantKnown(t *testing.T, value any) {
	t.Helper()
	switch v := value.(type) {
	case nil, bool, int64, uint64:
	case string:
		if !utf8.ValidString(v) {
			t.Fatalf("%q is not UTF-8", v)
		}
	case []any:
		for _, one := range v {
			wantKnown(t, one)
		}
	case map[string]any:
		for name, one := range v {
			wantKnown(t, name)
			wantKnown(t, one)
		}
	default:
		t.Fatalf("a %T", v)
	}
}

// FuzzMatch compiles and evaluates whatever is written and sent: it says yes,
// no or why not.
func FuzzMatch(f *testing.F) {
	for _, filter := range []string{
		`body.a > 1`, `has(body.a.b) && body.a.b.exists(x, x == "y")`, `headers.a == query.b`, `type.matches("^a")`, `body.map(x, x + x) == body`,
		`body.?a.optMap(x, x + 1).orValue(2) == 3`, `[body].filter(x, x in [body])[0] == body`, `timestamp(body.t).getHours("Europe/Berlin") == 1`,
		`string(body) + "a" == subject`, `body[body] || {body: 1}[body] == 1`, `duration(subject) > duration("1s")`, `"\u0000" in source`, `type(body) == string`,
	} {
		for _, body := range []string{`{"a":{"b":["y"]},"t":"2026-01-01T00:00:00Z"}`, `[1,"x",null]`, `"\ud800"`, `nothing`} {
			f.Add(filter, []byte(body), []byte("A: b\r\n"), "order.created")
		}
	}
	f.Fuzz(func(t *testing.T, filter string, body, wire []byte, text string) {
		compiled, err := CompileFilter(filter)
		if err != nil {
			if !utf8.ValidString(err.Error()) || len(err.Error()) > 2000 {
				t.Fatalf("%q", err)
			}
			if _, ok := err.(*SyntaxError); !ok { //nolint:errorlint // as it is returned
				t.Fatal(err)
			}
			return
		}
		matches, err := compiled.Match(t.Context(), NewInput(gateway.Content{Type: text, Subject: text, Body: gateway.Body{Query: wire, Headers: wire, Data: body}}))
		if err == nil {
			return
		}
		why, ok := err.(*EvalError) //nolint:errorlint // as it is returned
		if !ok || matches || why.Reason == "" || !utf8.ValidString(why.Reason) || strings.Contains(why.Reason, "internal error") {
			t.Fatalf("%t, %v", matches, err)
		}
	})
}

func ExampleFilter_Match() {
	f, err := CompileFilter(`body.amount > 100 && has(body.customer)`)
	if err != nil {
		fmt.Println(err)
		return
	}
	in := NewInput(gateway.Content{Type: "order.created", Body: gateway.Body{Data: []byte(`{"amount":250,"customer":"ada"}`)}})
	fmt.Println(f.Match(context.Background(), in))
	// Output: true <nil>
}
