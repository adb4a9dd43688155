package component_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/web/component"
)

func TestJSONIsIndentedAndColoured(t *testing.T) {
	t.Parallel()
	doc := render(t, component.JSON([]byte(`{"a":{"b":[1,-2.50,{}],"c":[]},"a":"x\"y","d":true,"e":null}`)))
	want := `{
  "a": {
    "b": [
      1,
      -2.50,
      {}
    ],
    "c": []
  },
  "a": "x\"y",
  "d": true,
  "e": null
}
`
	if diff := cmp.Diff(want, one(t, doc, "pre.code").Text()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	for selector, count := range map[string]int{"span.k": 6, "span.s": 1, "span.d": 2, "span.w": 2, "span.ln": 13} {
		if got := doc.Find(selector).Length(); got != count {
			t.Errorf("%d %s, want %d", got, selector, count)
		}
	}
}

func TestJSONShowsWhatHides(t *testing.T) {
	t.Parallel()
	doc := render(t, component.JSON([]byte("{\"a\u202eb\":\"<script>\u200b\xff\",\"c\":\"\\u202e\\u0000\"}")))
	got := one(t, doc, "pre.code").Text()
	for _, want := range []string{`"a⟨U+202E⟩b"`, `"<script>⟨U+200B⟩⟨0xFF⟩"`, `"\u202e\u0000"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %s", got, want)
		}
	}
	if doc.Find("script").Length() != 0 {
		t.Error("a script got into the page")
	}
}

func TestWhatIsNotJSONIsPlain(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	long := "[" + strings.Repeat("1,", 20000) + "1]"
	for name, tt := range map[string]struct {
		body string
		want string
	}{
		"text":         {"hello\nworld", "hello\nworld\n"},
		"broken":       {`{"a":`, `{"a":` + "\n"},
		"two values":   {"{} {}", "{} {}\n"},
		"NUL":          {"a\x00b", "a⟨U+0000⟩b\n"},
		"line ends":    {"a\r\nb\rc\n", "a\nb⟨U+000D⟩c\n"},
		"tab":          {"a\tb", "a\tb\n"},
		"markup":       {evil[0], evil[0] + "\n"},
		"too deep":     {deep, deep + "\n"},
		"too many":     {long, long + "\n"},
		"over 64 KiB":  {`["` + strings.Repeat("a", 64<<10) + `"]`, `["` + strings.Repeat("a", 64<<10) + `"]` + "\n"},
		"many lines":   {strings.Repeat("a\x00\n", 6000), strings.Repeat("a⟨U+0000⟩\n", 6000)},
		"only newline": {"\n", "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := render(t, component.JSON([]byte(tt.body)))
			if got := one(t, doc, "pre.code").Text(); got != tt.want {
				t.Errorf("text = %.200q, want %.200q", got, tt.want)
			}
			if doc.Find(".k, .s, .d, .w").Length() != 0 {
				t.Error("it is coloured")
			}
		})
	}
}

func TestEmptyBodySaysSo(t *testing.T) {
	t.Parallel()
	if got := render(t, component.JSON(nil)).Text(); got != "No body." {
		t.Errorf("an empty body shows %q", got)
	}
	if got := render(t, component.Headers(nil)).Text(); got != "No headers." {
		t.Errorf("no headers show %q", got)
	}
}

func TestLargeBodyIsCut(t *testing.T) {
	t.Parallel()
	doc := render(t, component.JSON(bytes.Repeat([]byte("x"), 300<<10)))
	if got := len(one(t, doc, "pre.code").Text()); got > 257<<10 {
		t.Errorf("%d bytes are shown", got)
	}
	if got := doc.Text(); !strings.Contains(got, "The first 262 kB of 307 kB are shown.") {
		t.Error("it does not say that it was cut")
	}
}

// FuzzJSON holds that showing JSON changes nothing but the white space between
// its tokens.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{}`, `[1,2]`, `"x"`, `{"a":[{"b":null}],"c":"\\\""}`, `-0.5e+10`, "[ ]", " {\n} ", `{"<b>":"&amp;'"}`, `"\u2028"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) == 0 {
			return
		}
		doc := render(t, component.JSON(body))
		shown := one(t, doc, "pre.code").Text()
		if strings.ContainsFunc(strings.NewReplacer("\n", "", "\t", "").Replace(shown), unicode.IsControl) {
			t.Errorf("%q still hides something", shown)
		}
		if !json.Valid(body) || component.Visible(string(body)) != string(body) {
			return
		}
		var want, got bytes.Buffer
		if err := json.Compact(&want, body); err != nil {
			t.Fatalf("compact body: %v", err)
		}
		if err := json.Compact(&got, []byte(shown)); err != nil {
			t.Fatalf("compact %q: %v", shown, err)
		}
		if want.String() != got.String() {
			t.Errorf("%q became %q", want.String(), got.String())
		}
	})
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ lang, give, want string }{
		"go":            {"go", `if err != nil { f("a//b", 401) } // done`, `<span class="w">if</span> err != <span class="w">nil</span> { <span class="k">f</span>(<span class="s">&#34;a//b&#34;</span>, <span class="d">401</span>) } <span class="c">// done</span>`},
		"port":          {"shell", "curl 127.0.0.1:8122/a", `curl 127.0.0.1:8122/a`},
		"address":       {"shell", "curl https://x.example/a#b # go", `curl https://x.example/a#b <span class="c"># go</span>`},
		"two lines":     {"go", "a := `x\ny`", "a := <span class=\"s\">`x</span>\n<span class=\"s\">y`</span>"},
		"open string":   {"python", `x = "never`, `x = <span class="s">&#34;never</span>`},
		"escaped quote": {"javascript", `'a\'b' c`, `<span class="s">&#39;a\&#39;b&#39;</span> c`},
		"unknown":       {"cobol", "MOVE 1.", `MOVE <span class="d">1.</span>`},
		"hostile":       {"go", "<b>\u202e", "&lt;b&gt;⟨U+202E⟩"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, component.SnippetText(tt.lang, tt.give)); diff != "" {
				t.Errorf("HTML (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("go", "a(\"b\") // c\n'd")
	f.Add("shell", "# x\n\\")
	f.Fuzz(func(t *testing.T, lang, code string) {
		if component.Visible(strings.NewReplacer("\n", "", "\t", "").Replace(code)) != strings.NewReplacer("\n", "", "\t", "").Replace(code) {
			return
		}
		want := strings.TrimRight(code, "\n")
		got := strings.TrimRight(one(t, render(t, component.Snippet(lang, code)), "pre.code").Text(), "\n")
		if got != want {
			t.Errorf("%q became %q", want, got)
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	var body bytes.Buffer
	body.WriteString("[\n")
	for i := 0; body.Len() < 63<<10; i++ {
		fmt.Fprintf(&body, "  {\"id\": \"evt_%d\", \"type\": \"checkout.session.completed\", \"amount\": %d.5, \"live\": true, \"note\": \"für Łukasz <b>\"},\n", i, i)
	}
	body.WriteString("null]")
	b.SetBytes(int64(body.Len()))
	for b.Loop() {
		var out bytes.Buffer
		if err := component.JSON(body.Bytes()).Render(b.Context(), &out); err != nil {
			b.Fatalf("render: %v", err)
		}
	}
}
