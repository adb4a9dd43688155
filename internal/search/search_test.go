package search_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/search"
)

var headers = gateway.EncodeHeaders(http.Header{
	"X-Request-Id": {"7f3a-11", "second"}, "Content-Type": {"application/json"}, "X-Retry": {"3"},
})

const body = `{
	"id": 12345678901234567890, "n": 1.50, "big": 1e400, "neg": -2, "zero": 0.0,
	"name": "Ada \"L\" \u00e9", "path\/key": 1, "": {"x": true}, "a.b": "dotted",
	"flag": true, "off": false, "nothing": null, "text": "123", "empty": "", "url": "https:\/\/example.com\/x",
	"items": [ {"sku": "A-1", "n": 1} , {"sku":"B-2","n":[2,3]}, [] , "word" ],
	"twice": 1, "twice": 2,
	"brackets": "}]{[,", "deep": {"er": {"at": "2026-11-30T12:00:00Z"}}
}`

func TestMatches(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		// texts
		"A-1": true, `"A-1"`: true, "'A-1'": true, "b-9": false, "application/json": true, "X-Request-Id": false, "7f3a": true,
		`"$.data"`: false, "12345678901234567890": true,
		// numbers, to the last digit
		"$.id = 12345678901234567890": true, "$.id=12345678901234567891": false, "$.id = 1.2345678901234567890e19": true,
		"$.id > 12345678901234567889": true, "$.id < 12345678901234567891": true, "$.id >= 12345678901234567890": true, "$.id > 12345678901234567890": false,
		"$.n = 1.5": true, "$.n == 1.5": true, "$.n = 15e-1": true, "$.n = 1.51": false, "$.n < 2": true, "$.n >= 1.5": true, "$.n <= 1.4999": false, "$.n != 1.5": false, "$.n != 2": true,
		"$.big = 1e400": true, "$.big > 1e399": true, "$.neg < 0": true, "$.neg > -3": true, "$.neg <= -2": true, "$.neg = 2": false, "$.zero = 0": true, "$.zero = -0": true, "$.zero > -1": true,
		// texts at a place
		`$.name = "Ada \"L\" é"`: true, `$.name ~ Ada`: true, `$.name ~ "\"L\""`: true, `$.name ~ Bob`: false, "$.text = 123": false, `$.text = "123"`: true, `$.text ~ 2`: true, `$.empty = ""`: true, `$.empty = ''`: true,
		`$.url = "https://example.com/x"`: true, `$.url ~ example.com/x`: true, "$.deep.er.at > 2026-11-29": true, "$.deep.er.at < 2026-11-30": false,
		"$.flag = true": true, "$.flag = false": false, "$.flag != false": true, `$.flag = "true"`: false, "$.off=false": true, "$.nothing = null": true, "$.nothing != null": false, "$.flag = null": false,
		// places
		"$.items[0].sku = A-1": true, "$.items[1].sku = A-1": false, "$.items[*].sku = B-2": true, "$.items.*.sku = B-2": true, "$.items[*].n = 1": true, "$.items[1].n[1] = 3": true, "$.items[9].sku": false, "$.items[2][0]": false,
		"$.items.sku = A-1": false, `$["a.b"] = dotted`: true, "$['a.b'] = dotted": true, "$.a.b = dotted": false, `$["path/key"] = 1`: true, `$[""].x = true`: true, "$.twice = 1": true, "$.twice = 2": true, "$.twice = 3": false,
		`$.brackets = "}]{[,"`: true, "$.deep.er": true, "$.deep.no": false, "$.deep.er.at.more": false, "$ ~ x": false, "$": true, "$.missing != 1": false,
		// several
		"$.flag = true and $.n = 1.5": true, "$.flag = true AND $.n = 2": false, "$.flag && $.off": true, `$.text = "123" and header.x-retry = 3`: true,
		// headers
		"header.x-request-id = 7f3a-11": true, "headers.X-REQUEST-ID = second": true, "header.x-request-id ~ 7f3a": true, "header.x-request-id = 7f3a": false, "header.x-retry > 2": true, "header.x-retry > 3": false,
		"header.x-retry = 3": true, "header.x-retry != 3": false, "header.content-type": true, "header.missing": false, `header.x-retry = "3"`: true, "header.content-type > 1": false, "header.x-retry = true": false,
	} {
		q, err := search.Parse(query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if got := q.Matches(headers, []byte(body)); got != want {
			t.Errorf("%s: %t, want %t", query, got, want)
		}
	}
}

func TestBodiesThatAreNoJSON(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{", `{"a":1}x`, "\x00\xff", `{"a":1`, "a=1", `{"a" 1}`, strings.Repeat("[", 20_000)} {
		for _, query := range []string{"$.a = 1", "$", "$[0]", "$.a != 2"} {
			if q := parse(t, query); q.Matches(nil, []byte(body)) {
				t.Errorf("%s matches %.20q", query, body)
			}
		}
	}
	if q := parse(t, "a=1"); !q.Matches(nil, []byte("x a=1 y")) || q.Text() != "a=1" {
		t.Error("a text is looked for in any body")
	}
	if q := parse(t, "$ = 5"); !q.Matches(nil, []byte(" 5 ")) || q.Matches(nil, []byte("6")) {
		t.Error("a body can be one value")
	}
}

func parse(t *testing.T, query string) search.Query {
	t.Helper()
	q, err := search.Parse(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return q
}

func TestWhatIsTypedWrong(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]search.SyntaxError{
		"$.a =":                            {6, "want a value"},
		"  $.a = ":                         {8, "want a value"},
		"$.a = b c":                        {9, `want "and"`},
		"$.a b":                            {5, "want one of ="},
		"$.é = ":                           {6, "want a value"},
		"$. = 1":                           {3, "want a name"},
		"$..a = 1":                         {3, "want a name"},
		"$[x] = 1":                         {3, "want a number"},
		"$[-1] = 1":                        {3, "want a number"},
		"$[1 = 1":                          {4, "want ]"},
		`$["a = 1`:                         {3, `want " at the end`},
		"$['a = 1":                         {3, "want ' at the end"},
		`$.a = "b`:                         {7, `want " at the end`},
		`$.a = "\x"`:                       {7, "want a text as JSON"},
		"$.a = [1]":                        {7, "want a value; a text with"},
		"$.a > true":                       {11, "true is compared with"},
		"$.a = 1 and ":                     {9, `want "and"`},
		"$.a = 1 and b":                    {13, "want a place such as"},
		"$.a = 1 and header.":              {13, "want a place such as"},
		"header. = 1":                      {9, "want the name of a header"},
		"$.a = 1e9999999":                  {7, "want a number with a smaller"},
		"$.a = 1e99999999999999999999":     {7, "want a number with a smaller"},
		strings.Repeat("$.a and ", 9):      {65, "want at most 8"},
		"$" + strings.Repeat(".a", 33):     {66, "want at most 32"},
		strings.Repeat("x", 1025):          {1, "want at most 1024"},
		"a\x00b":                           {1, "want text"},
		"\xff":                             {1, "want text"},
		"$[99999999999999999999999999999]": {3, "want a number"},
	} {
		_, err := search.Parse(typed)
		wrong, ok := errors.AsType[*search.SyntaxError](err)
		if !ok || wrong.Column != want.Column || !strings.HasPrefix(wrong.Text, want.Text) {
			t.Errorf("%.40s: %v, want %v", typed, err, &want)
		}
	}
}

func TestNothingIsLookedFor(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"", "  ", "\t\n"} {
		if q := parse(t, typed); !q.IsZero() {
			t.Errorf("%q looks for something", typed)
		}
	}
	for _, typed := range []string{"x", "$", "header.x"} {
		if q := parse(t, typed); q.IsZero() {
			t.Errorf("%q looks for nothing", typed)
		}
	}
}
