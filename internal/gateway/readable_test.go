package gateway_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(text)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A body is unpacked if it is what it says that it is, and neither large nor made
// to be; any other is left as it came.
func TestReadable(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 4<<20+1)
	_, _ = rand.Read(noise) // never fails
	small := packed(t, []byte(`{"a":1}`))
	for name, c := range map[string]struct {
		encoding []string
		body     []byte
		want     string
	}{
		"gzip":           {[]string{"gzip"}, small, `{"a":1}`},
		"spelled else":   {[]string{" Gzip "}, small, `{"a":1}`},
		"in two parts":   {[]string{"gzip"}, append(bytes.Clone(small), small...), `{"a":1}{"a":1}`},
		"of nothing":     {[]string{"gzip"}, packed(t, nil), ""},
		"as large as is": {[]string{"gzip"}, packed(t, noise[1:]), string(noise[1:])},
		"not said":       {nil, small, ""},
		"said twice":     {[]string{"gzip", "gzip"}, small, ""},
		"another":        {[]string{"deflate"}, small, ""},
		"none":           {[]string{"gzip"}, []byte(`{"a":1}`), ""},
		"empty":          {[]string{"gzip"}, nil, ""},
		"cut":            {[]string{"gzip"}, small[:len(small)-1], ""},
		"more behind it": {[]string{"gzip"}, append(bytes.Clone(small), 'x'), ""},
		"too large":      {[]string{"gzip"}, packed(t, noise), ""},
		"made large":     {[]string{"gzip"}, packed(t, []byte(strings.Repeat("a", 1<<20))), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := bytes.Clone(c.body)
			text, unpacked := gateway.Readable(http.Header{"Content-Encoding": c.encoding}, c.body)
			if want := c.want != "" || name == "of nothing"; unpacked != want {
				t.Fatalf("unpacked: %v, want %v", unpacked, want)
			}
			if unpacked && string(text) != c.want || !unpacked && !bytes.Equal(text, c.body) {
				t.Errorf("%d bytes are read, want %d", len(text), len(c.want))
			}
			if !bytes.Equal(before, c.body) {
				t.Error("the body was changed")
			}
		})
	}
}
