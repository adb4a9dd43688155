package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestCheckHeaders(t *testing.T) {
	t.Parallel()
	headers := func(n, size int) map[string]string {
		h := map[string]string{}
		for i := range n {
			h[fmt.Sprintf("X-%02d", i)] = strings.Repeat("v", size)
		}
		return h
	}
	for name, tt := range map[string]struct {
		given map[string]string
		ok    bool
	}{
		"none":                {nil, true},
		"authorization":       {map[string]string{"Authorization": "Bearer x", "x-a_b!~": "1"}, true},
		"a tab and UTF-8":     {map[string]string{"X-A": "a\tb é \xff"}, true},
		"a similar name":      {map[string]string{"Webhook": "a", "X-Webhook-Id": "b", "Rowlocks": "c", "Hosts": "d", "Proxy": "e"}, true},
		"32":                  {headers(32, 10), true},
		"33":                  {headers(33, 10), false},
		"8 KiB":               {headers(1, 8<<10-4), true},
		"8 KiB and a byte":    {headers(1, 8<<10-3), false},
		"8 KiB in many":       {headers(32, 256), false},
		"empty name":          {map[string]string{"": "a"}, false},
		"space in the name":   {map[string]string{"X A": "a"}, false},
		"space at the end":    {map[string]string{"X-A ": "a"}, false},
		"colon in the name":   {map[string]string{"X:A": "a"}, false},
		"line break in name":  {map[string]string{"X-A\r\nX-B": "a"}, false},
		"letter beyond ASCII": {map[string]string{"X-Ä": "a"}, false},
		"CR":                  {map[string]string{"X-A": "a\rb"}, false},
		"LF":                  {map[string]string{"X-A": "a\nb"}, false},
		"NUL":                 {map[string]string{"X-A": "a\x00b"}, false},
		"DEL":                 {map[string]string{"X-A": "a\x7fb"}, false},
		"twice":               {map[string]string{"X-A": "a", "x-a": "b"}, false},
		"connection":          {map[string]string{"connection": "close"}, false},
		"keep-alive":          {map[string]string{"Keep-Alive": "1"}, false},
		"te":                  {map[string]string{"TE": "trailers"}, false},
		"trailer":             {map[string]string{"Trailer": "x"}, false},
		"transfer-encoding":   {map[string]string{"transfer-encoding": "chunked"}, false},
		"upgrade":             {map[string]string{"Upgrade": "h2c"}, false},
		"host":                {map[string]string{"HOST": "x"}, false},
		"content-length":      {map[string]string{"Content-Length": "1"}, false},
		"content-type":        {map[string]string{"content-type": "text/plain"}, false},
		"content-encoding":    {map[string]string{"Content-Encoding": "gzip"}, false},
		"user-agent":          {map[string]string{"user-agent": "me"}, false},
		"expect":              {map[string]string{"Expect": "100-continue"}, false},
		"accept-encoding":     {map[string]string{"Accept-Encoding": "gzip"}, false},
		"http2-settings":      {map[string]string{"HTTP2-Settings": "AAMAAABkAAQAAP__"}, false},
		"idempotency-key":     {map[string]string{"idempotency-key": "x"}, false},
		"webhook-id":          {map[string]string{"wEbHoOk-id": "x"}, false},
		"webhook-signature":   {map[string]string{"webhook-signature": "x"}, false},
		"rowlock-attempt":     {map[string]string{"Rowlock-Attempt": "x"}, false},
		"proxy-authorization": {map[string]string{"Proxy-Authorization": "x"}, false},
		"proxy-connection":    {map[string]string{"proxy-connection": "x"}, false},
	} {
		_, err := checkHeaders(tt.given)
		var invalid *gateway.InvalidError
		if (err == nil) != tt.ok || err != nil && (!errors.As(err, &invalid) || !strings.HasPrefix(invalid.Field, "headers")) {
			t.Errorf("%s: %v, want ok %v", name, err, tt.ok)
		}
	}
}

func TestHeaderErrorsNameTheHeader(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"content-Type": "a", "X-A": "a\nb"} {
		_, err := checkHeaders(map[string]string{name: value})
		var invalid *gateway.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "headers."+name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHeaderErrorsHideValues(t *testing.T) {
	t.Parallel()
	_, err := checkHeaders(map[string]string{"Authorization": "Bearer hunter2\n"})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v", err)
	}
}

// What is accepted is what is stored and sent.
func FuzzCheckHeaders(f *testing.F) {
	for _, seed := range [][2]string{{"X-A", "b"}, {"webhook-id", "x"}, {"x-team", "a: b\t"}, {"X\r\n", ""}, {"A", "\r\nHost: x"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		headers, err := checkHeaders(map[string]string{name: value})
		if err != nil {
			return
		}
		canonical := http.CanonicalHeaderKey(name)
		want := http.Header{canonical: {value}}
		if diff := cmp.Diff(want, gateway.DecodeHeaders(gateway.EncodeHeaders(headers))); diff != "" {
			t.Error(diff)
		}
		if strings.HasPrefix(strings.ToLower(canonical), "webhook-") || strings.ContainsAny(name+value, "\r\n\x00") {
			t.Errorf("%q: %q was accepted", name, value)
		}
	})
}
