package client_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rowlock/rowlock/internal/client"
)

func TestReadDataKeepsEveryByte(t *testing.T) {
	t.Parallel()
	const odd = "{\"b\": 1,  \"a\":\"\\u0000é\",\"n\":12345678901234567890, \"a\":1e400}\n"
	file := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(file, []byte(odd), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{odd, "-", "@" + file} {
		got, err := client.ReadData(spec, strings.NewReader(odd))
		if err != nil || string(got) != odd {
			t.Errorf("ReadData(%q) = %q, %v; want the bytes as they are", spec, got, err)
		}
	}
}

func TestReadDataTellsWhyItCannotRead(t *testing.T) {
	t.Parallel()
	if _, err := client.ReadData("@"+filepath.Join(t.TempDir(), "none.json"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: got %v, want one that is fs.ErrNotExist", err)
	}
	broken := errors.New("pipe broke")
	if _, err := client.ReadData("-", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("broken stdin: got %v, want one that wraps %v", err, broken)
	}
}

func TestCheckDataNamesThePlace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ data, says string }{
		"empty":              {"", "is empty"},
		"white space":        {" \n", "is empty"},
		"bare word":          {"order", "line 1, column 1"},
		"unclosed":           {`{"a":1`, "line 1, column 6"},
		"second line":        {"{\"a\":1,\n  b:2}", "line 2, column 3"},
		"two values":         {"{} {}", "line 1, column 4"},
		"byte order mark":    {"\xef\xbb\xbf{}", "byte order mark"},
		"latin-1":            {"{\"a\":\n\"caf\xe9\"}", "not UTF-8 at line 2, column 5"},
		"raw control":        {"\"a\x00\"", "line 1, column 3"},
		"single-quoted text": {"'a'", "line 1, column 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := client.CheckData([]byte(tt.data))
			bad, ok := errors.AsType[*client.DataError](err)
			if !ok || !strings.Contains(bad.Error(), tt.says) {
				t.Fatalf("CheckData(%q) = %v, want a *DataError that says %q", tt.data, err, tt.says)
			}
			if bad.Hint() == "" {
				t.Error("no hint")
			}
		})
	}
}

func FuzzCheckData(f *testing.F) {
	for _, seed := range []string{`{}`, `[1,"a"]`, ``, "\xff", "{\n", "\xef\xbb\xbf1", `"\ud800"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// What passes must still be one JSON value with the envelope around it.
		if client.CheckData(data) == nil && !json.Valid([]byte(`{"data":`+string(data)+`}`)) {
			t.Errorf("%q was accepted and breaks the request", data)
		}
	})
}
