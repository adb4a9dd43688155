package rule

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]bool{
		`body.amount > 100`:                                            true,
		`body.amount > 250`:                                            false,
		`body.amount == 250u`:                                          true,
		`body.amount >= 249.5`:                                         true,
		`body.half == "12.5"`:                                          true,
		`double(body.half) > 12.0`:                                     true,
		`double(body.amount) > 12.0`:                                   true,
		`body.big == 18446744073709551615u && body.big > 1`:            true,
		`body.vast == "18446744073709551616"`:                          true,
		`body.neg < -9223372036854775807`:                              true,
		`body.exp == "1e3"`:                                            true,
		`body.id == "a\u0000b"`:                                        true,
		`body.flag`:                                                    true,
		`!body.flag`:                                                   false,
		`body.none == null`:                                            true,
		`body.plan in ["pro", "team"]`:                                 true,
		`"vip" in body.customer.tags`:                                  true,
		`body.items.exists(i, i.sku == "b" && i.n > 1)`:                true,
		`body.items.all(i, i.n > 1)`:                                   false,
		`size(body.items) == 2`:                                        true,
		`has(body.discount)`:                                           false,
		`has(body.discount) && body.discount > 5`:                      false,
		`body.?discount.orValue(0) == 0`:                               true,
		`body.?customer.?country.orValue("") == "DE"`:                  true,
		`body["a-b"] == 1`:                                             true,
		"body.`a-b` == 1":                                              true,
		`body["in"] == 2`:                                              true,
		`headers["x-env"] == "live` + "\uFFFD" + `"`:                   true,
		`headers.accept == "a, b"`:                                     true,
		`"authorization" in headers`:                                   false,
		`query.env == "live" && query.tag == "a" && !("bad" in query)`: true,
		`type == "order.created" && type.startsWith("order.")`:         true,
		`subject.matches(r"^order_\d+$")`:                              true,
		`source.kind == "github" && source.name == "Shop" && source.uid == "shop" && source.id.startsWith("src_0")`: true,
		`body.none == 1 || true`:          true,
		`body.nothing > 1 || type != ""`:  true,
		"// a comment\nbody.amount > 100": true,
	} {
		if got, err := asked(t, filter, sample); got != want || err != nil {
			t.Errorf("%s: %t, %v", filter, got, err)
		}
	}
}

// What has no answer does not match, and says why.
func TestMatchFails(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]string{
		`body.amout > 100`:              "no such key: amout",
		`body.customer.plan.name == ""`: "no such key: plan",
		`body.half > 10`:                "values that do not go together, such as a text and a number",
		`body.none > 1`:                 "values that do not go together, such as a text and a number",
		`body.amount`:                   "it comes out as a number, not as true or false",
		`body.plan`:                     "it comes out as a text, not as true or false",
		`body.customer`:                 "it comes out as an object, not as true or false",
		`body.items`:                    "it comes out as a list, not as true or false",
		`body.none`:                     "it comes out as null, not as true or false",
		`headers["x-none"] == ""`:       "no such key: x-none",
		`source.nam == ""`:              "no such key: nam",
		`body.items[2].n == 1`:          "index out of bounds: 2",
		`body.amount / 0 == 1`:          "division by zero",
		`body.plan.exists(x, x == "a")`: "what is looped over is no list or object",
		`body[body.items] == 1`:         "a list or an object cannot name a field",
		`timestamp(body.plan) > timestamp("2026-01-01T00:00:00Z")`: "a text that is no time, such as 2026-07-01T12:00:00Z",
		`double(body.plan) > 1.0`:                                  "type conversion error from 'string' to 'double'",
		`type.matches("^a") || body.amount.matches("a")`:           "values that do not go together, such as a text and a number",
	} {
		got, err := asked(t, filter, sample)
		if got || reason(t, err) != want {
			t.Errorf("%s: %t, %q, want %q", filter, got, reason(t, err), want)
		}
	}
}

func TestMatchWithoutJSON(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "a=b", "<a/>", `{"a":1`, `{"a":1}{"a":2}`, "{\"a\":\"\n\"}", "[1,]", strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 200_000)} {
		e := sent(body)
		_, err := asked(t, `body.a == 1`, e)
		if got := reason(t, err); !strings.HasSuffix(got, "(the payload is not JSON, so body is null)") {
			t.Errorf("%.20q: %s", body, got)
		}
		if ok, err := asked(t, `body == null && type == "t" && subject == "" && size(headers) == 0 && size(query) == 0`, e); !ok || err != nil {
			t.Errorf("%.20q: %t, %v", body, ok, err)
		}
	}
	if ok, err := asked(t, `!has(body.a)`, sent("")); !ok || err != nil {
		t.Errorf("a field of null: %t, %v", ok, err)
	}
}

// What came compressed is read as the text that it is.
func TestMatchACompressedBody(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(`{"amount":250}`)) // a buffer takes everything
	_ = w.Close()
	for encoding, want := range map[string]bool{"gzip": true, "br": false} {
		body := gateway.Body{Headers: gateway.EncodeHeaders(http.Header{"Content-Encoding": {encoding}}), Data: packed.Bytes()}
		if ok, err := asked(t, `body.amount == 250`, gateway.Content{Body: body}); ok != want || (err == nil) != want {
			t.Errorf("%s: %v, %v", encoding, ok, err)
		}
	}
}

// A body is decoded once, whoever asks for it, and not at all for who does not.
func TestBodyIsDecodedOnce(t *testing.T) {
	t.Parallel()
	in := NewInput(sample)
	match := func(filter string) {
		f, err := CompileFilter(filter)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := f.Match(t.Context(), in); !ok || err != nil {
			t.Errorf("%s: %t, %v", filter, ok, err)
		}
	}
	match(`type == "order.created"`)
	if in.decoded {
		t.Error("the body was decoded for nothing")
	}
	match(`body.amount == 250`)
	in.event.Body.Data = []byte(`{}`)
	match(`body.amount == 250`)
}

// One filter serves many at once.
func TestMatchAtOnce(t *testing.T) {
	t.Parallel()
	f, err := CompileFilter(`body.items.exists(i, i.sku.matches("^b$"))`)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if ok, err := f.Match(t.Context(), NewInput(sample)); !ok || err != nil {
					t.Errorf("%t, %v", ok, err)
				}
			}
		})
	}
	all.Wait()
}

// A caller who gave up gets no answer, and least of all "no".
func TestMatchOfWhoGaveUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, err := CompileFilter(`body.items.all(i, i.n > 0)`)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := f.Match(ctx, NewInput(sample)); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("%t, %v", ok, err)
	}
}

// large is an event with as much in it as one can have.
func large() gateway.Content {
	text := strings.Repeat("a", 300_000)
	return sent(`{"s":"` + text + `","t":"` + text + `","l":[` + strings.Repeat("1,", 100_000) + `1],` +
		`"m":[` + strings.Repeat(`{"a":[1]},`, 20_000) + `1],"n":[` + strings.Repeat(`{"a":[1]},`, 20_000) + `1],"e":[[]]}`)
}

// chained is an expression that does something to a value again and again.
func chained(n int, start, step, end string) string {
	return start + strings.Repeat(step, n) + end
}

// Whatever is written, nothing takes long, and what would is told as such. The
// worst of them took hours.
func TestNothingTakesLong(t *testing.T) {
	t.Parallel()
	in := NewInput(large())
	in.ResolveName(varBody)
	for name, filter := range map[string]string{
		"two loops":            `body.l.all(i, body.l.all(j, i == j))`,
		"three loops":          `body.l.all(i, body.l.all(j, body.l.all(k, true)))`,
		"comparing":            chained(200, ``, `body.m == body.n && `, `true`),
		"comparing texts":      chained(150, ``, `body.s != body.t || `, `false`),
		"searching lists":      chained(200, ``, `"x" in body.l || `, `false`),
		"searching for a list": chained(150, ``, `body.m in body.m || `, `false`),
		"searching texts":      chained(150, ``, `body.s.contains("ab") || `, `false`),
		"measuring texts":      chained(150, ``, `size(body.s) == 3 || `, `false`),
		"growing texts":        chained(8, `[body.s]`, `.map(x, x + x)`, ` == []`),
		"growing dyn texts":    chained(8, `[dyn(body.s)]`, `.map(x, x + x + x)`, ` == []`),
		"growing lists":        chained(60, `[[1]]`, `.map(x, x + x)`, ` == []`),
		"growing deep lists":   chained(8, `[[body.m]]`, `.map(x, x + x)`, ` == []`),
		"nesting lists":        chained(60, `[[1]]`, `.map(x, [x, x])`, ` == `) + chained(60, `[[1]]`, `.map(x, [x, x])`, ``),
		"nesting objects":      chained(40, `[{"a": 1}]`, `.map(x, {"a": x, "b": x})`, ` == `) + chained(40, `[{"a": 1}]`, `.map(x, {"a": x, "b": x})`, ``),
		"nesting optionals":    chained(20, `optional.of(dyn([1]))`, `.optMap(x, [x, x])`, ` == `) + chained(20, `optional.of(dyn([1]))`, `.optMap(x, [x, x])`, ``),
		"lists of bodies":      `body.m.map(i, body.m).size() == 1`,
		"keys":                 `body.l.all(i, {string(i): i}.size() == 1) && body.l.all(i, {string(i): i}.size() == 1)`,
		"matching":             chained(90, ``, `body.s.matches("(a|aa)+b") || `, `false`),
		"times":                chained(120, ``, `timestamp(body.s) == body || `, `false`),
		"zones":                chained(50, ``, `timestamp("2026-01-01T00:00:00Z").getHours("Europe/Berlin") > 99 || `, `false`),
		"filtering":            `body.l.filter(x, x > 5).size() > 3`,
	} {
		f, err := CompileFilter(short(t, name, filter))
		if err != nil {
			if _, ok := errors.AsType[*SyntaxError](err); !ok {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		begun := time.Now()
		_, err = f.Match(t.Context(), in)
		if took := time.Since(begun); took > 20*deadline { // far above, for a busy machine
			t.Errorf("%s took %s", name, took)
		}
		_ = reason(t, err)
	}
}

// short fails for an attack that is refused for its length alone.
func short(t *testing.T, name, filter string) string {
	t.Helper()
	if len(filter) > 4096 {
		t.Errorf("%s is too long to say anything", name)
	}
	return filter
}

// Hundreds of dear filters take no longer together than they may, and those
// beside them that are not dear are asked like before.
func TestDearFiltersTogether(t *testing.T) {
	t.Parallel()
	in, filters := NewInput(large()), NewFilters()
	in.ResolveName(varBody)
	dear := func(i int) string { return fmt.Sprintf("body.l.all(i, body.l.all(j, i + j > -%d))", i+1) }
	const n = 400
	for i := range n {
		if _, err := filters.Filter(dear(i)); err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	for i := range n {
		if ok, err := filters.Wants(t.Context(), nil, dear(i), in); ok || err == nil {
			t.Fatalf("%t, %v", ok, err)
		}
		if ok, err := filters.Wants(t.Context(), nil, fmt.Sprintf("body.l[0] == 1 && size(body.m) > %d", i), in); !ok || err != nil {
			t.Fatalf("%t, %v beside %d dear ones", ok, err, i)
		}
	}
	if took := time.Since(begun); took > 20*time.Second { // far above, for a busy machine
		t.Errorf("%d dear filters took %s", n, took)
	}
}

func TestTooManySteps(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{`body.l.all(i, body.l.all(j, true))`, `[body.m, body.m, body.m, body.m] == [1]`, `[body.s + body.s].map(x, x + x).map(x, x + x) == []`} {
		_, err := asked(t, filter, large())
		if why := reason(t, err); why != "it takes too many steps for an event like this" && why != "it takes too long" { // on a busy machine
			t.Errorf("%s: %v", filter, err)
		}
	}
	if _, err := asked(t, `body.s.matches("(ab|a.){20}")`, large()); reason(t, err) != "the text is too long for the pattern of matches()" {
		t.Errorf("a long match: %v", err)
	}
}
