package strictjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/server/api/strictjson"
)

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, want string
		err         error
	}{
		{`""`, "", nil},
		{`"plain é 🎉"`, "plain é 🎉", nil},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", nil},
		{`"\u00e9\u00E9"`, "éé", nil},
		{`"\ud83c\udf89"`, "🎉", nil},
		{`"\ufffd"`, "\ufffd", nil},
		{"\"\ufffd\"", "\ufffd", nil},
		{`"\u0000"`, "", strictjson.ErrNUL},
		{`"a\u0000b\ud800"`, "", strictjson.ErrUTF8},
		{`"\ud83c"`, "", strictjson.ErrUTF8},
		{`"\ud83c x"`, "", strictjson.ErrUTF8},
		{`"\ud83c\n    "`, "", strictjson.ErrUTF8},
		{`"\udf89\ud83c"`, "", strictjson.ErrUTF8},
		{`"\ud83c\ud83c\udf89"`, "", strictjson.ErrUTF8},
		{"\"\xff\"", "", strictjson.ErrUTF8},
		{"\"\\n\xc3\"", "", strictjson.ErrUTF8},
		{`1`, "", strictjson.ErrNotText},
		{`null`, "", strictjson.ErrNotText},
		{`["a"]`, "", strictjson.ErrNotText},
		{``, "", strictjson.ErrNotText},
	} {
		got, err := strictjson.Text([]byte(c.value))
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("Text(%q) = %q, %v; want %q, %v", c.value, got, err, c.want, c.err)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{`"a"`, `"\u0041\ud83c\udf89"`, `"\ud800"`, "\"\xff\"", `"\u0000"`, `"\\u"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if !json.Valid(value) || value[0] != '"' || value[len(value)-1] != '"' {
			return // Text is for values whose syntax was checked
		}
		got, err := strictjson.Text(value)
		var standard string
		if json.Unmarshal(value, &standard) != nil {
			t.Fatalf("%q: encoding/json refuses it", value)
		}
		switch {
		case err == nil:
			if got != standard || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
				t.Fatalf("Text(%q) = %q, want %q", value, got, standard)
			}
		case errors.Is(err, strictjson.ErrNUL):
			if !strings.ContainsRune(standard, 0) {
				t.Fatalf("Text(%q) sees a NUL", value)
			}
		default: // encoding/json replaces what is not UTF-8
			if !strings.ContainsRune(standard, utf8.RuneError) {
				t.Fatalf("Text(%q): %v", value, err)
			}
		}
	})
}
