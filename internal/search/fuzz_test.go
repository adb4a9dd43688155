package search_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/search"
)

// FuzzParse looks for what is neither read nor refused with a place in it, and
// for a body that cannot be looked at.
func FuzzParse(f *testing.F) {
	for _, typed := range []string{
		"ord_1", "$.a = 1", `$.a["b c"][0][*].* != "x\n"`, "header.x-id ~ 'y'", "$.a > -1.5e3 and $.b = null && header.c", "$.a =", "$[", `"`, "'", "header.", "$.é < ü",
	} {
		f.Add(typed, []byte(body))
		f.Add(typed, []byte(`[{"a":"\ud800"},"\\"]`))
	}
	f.Fuzz(func(t *testing.T, typed string, body []byte) {
		q, err := search.Parse(typed)
		if err != nil {
			if wrong, ok := err.(*search.SyntaxError); !ok || wrong.Column < 1 || wrong.Column > len(typed)+1 { //nolint:errorlint // it says so
				t.Fatalf("%q: %v", typed, err)
			}
			return
		}
		q.Matches(body, body)
	})
}

// FuzzNumber compares what is found with what Go's own packages find: a number
// at a place of any body.
func FuzzNumber(f *testing.F) {
	for _, number := range []string{"0", "-0.0", "12345678901234567890", "1e3", "1000", "0.001", "-1.50", "1E-2"} {
		f.Add([]byte(`{"a":1000,"b":{"a":[0.001,"1000"]}}`), "a", number)
		f.Add([]byte(`{"a":`+number+`}`), "a", number)
	}
	f.Fuzz(func(t *testing.T, body []byte, key, number string) {
		n, ok := rational(number)
		quoted, err := json.Marshal(key)
		if !ok || err != nil || strings.ContainsRune(key, 0xfffd) || len(key)+len(number) > 500 {
			return
		}
		for op, holds := range map[string]func(int) bool{
			"=": func(order int) bool { return order == 0 }, "<": func(order int) bool { return order < 0 }, ">": func(order int) bool { return order > 0 },
		} {
			q, err := search.Parse(fmt.Sprintf("$[%s] %s %s", quoted, op, number))
			if err != nil {
				t.Fatal(err)
			}
			want := false
			for _, found := range valuesOf(body, key) {
				if x, ok := rational(found); ok && holds(x.Cmp(n)) {
					want = true
				} else if !ok && found != "" {
					return // too large for the other side
				}
			}
			if got := q.Matches(nil, body); got != want {
				t.Errorf("%s %s %s in %q: %t, want %t", quoted, op, number, body, got, want)
			}
		}
	})
}

// rational reads a number of JSON whose exponent is small.
func rational(text string) (*big.Rat, bool) {
	if !json.Valid([]byte(text)) || strings.Trim(text, "+-.eE0123456789") != "" || text != strings.TrimSpace(text) {
		return nil, false
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 && len(text[at+1:]) > 4 {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// valuesOf are the numbers that an object has under a key, as they are written.
func valuesOf(body []byte, key string) (found []string) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if first, err := d.Token(); err != nil || first != json.Delim('{') || !json.Valid(body) {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil
		}
		if text := strings.TrimSpace(string(value)); name == key && strings.ContainsAny(text[:1], "-0123456789") {
			found = append(found, text)
		}
	}
	if _, err := d.Token(); err != nil && err != io.EOF {
		return nil
	}
	return found
}
