package signature

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHMACSettings(t *testing.T) {
	t.Parallel()
	cases := map[string]string{ // settings: part of the error, "" is accepted
		`{"header":"X-Sig"}`: "",
		`{"header":"X-Sig","algorithm":"sha512","encoding":"base64","prefix":"v0=","signed":"{body}"}`: "",
		`{"header":"X-Sig","algorithm":null,"prefix":""}`:                                              "",
		`{"header":"X-Sig","signed":"{timestamp}.{body}","timestamp_header":"X-Time"}`:                 "",
		`{"header":"X-Sig","signed":"{id}.{body}","id_header":"X-Id","type_header":"X-Type"}`:          "",
		`{"header":"X-Sig","id_header":"X-Id"}`:                                                        "",
		``:                                                                                             `"header" is missing`,
		`null`:                                                                                         `"header" is missing`,
		`{}`:                                                                                           `"header" is missing`,
		`{"Header":"X-Sig"}`:                                                                           `unknown setting "Header"`,
		`{"header":"X-Sig","headers":"X-Sig"}`:                                                         `unknown setting "headers"`,
		`{"header":"X-Sig","header":"X-Other"}`:                                                        `given twice`,
		`{"header":7}`:                                                                                 `wrong type`,
		`["header"]`:                                                                                   `not one JSON object`,
		`{"header":"X-Sig"} {}`:                                                                        `not one JSON object`,
		`{"header":"X-Sig"`:                                                                            `not one JSON object`,
		`{"header":"X Sig"}`:                                                                           `not the name of a header`,
		`{"header":"X-Sig:"}`:                                                                          `not the name of a header`,
		`{"header":"Podpisé"}`:                                                                         `not the name of a header`,
		`{"header":"X-Sig","id_header":"a\n"}`:                                                         `"id_header" is not the name`,
		`{"header":"X-Sig","algorithm":"md5"}`:                                                         `"algorithm" is not`,
		`{"header":"X-Sig","encoding":"hex2"}`:                                                         `"encoding" is not`,
		`{"header":"X-Sig","prefix":"é"}`:                                                              `"prefix" is not`,
		`{"header":"X-Sig","signed":"{time}"}`:                                                         `placeholder that is not`,
		`{"header":"X-Sig","signed":"{id}"}`:                                                           `leaves out {body}`,
		`{"header":"X-Sig","signed":"{timestamp}.{body}"}`:                                             `need each other`,
		`{"header":"X-Sig","timestamp_header":"X-Time"}`:                                               `need each other`,
		`{"header":"X-Sig","signed":"{id}.{body}"}`:                                                    `needs "id_header"`,
		`{"header":"` + strings.Repeat("x", 129) + `"}`:                                                `not the name of a header`,
		`{"header":"X-Sig","prefix":"` + strings.Repeat("x", 65) + `"}`:                                `"prefix" is not`,
	}
	for settings, want := range cases {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			wantError(t, anyHMAC.CheckSettings(json.RawMessage(settings)), want)
		})
	}
}

// wantError fails unless err holds the text, or is nil for "".
func wantError(t *testing.T, err error, text string) {
	t.Helper()
	switch {
	case text == "" && err != nil:
		t.Errorf("unexpected error: %v", err)
	case text != "" && err == nil:
		t.Errorf("no error, want one with %q", text)
	case text != "" && !strings.Contains(err.Error(), text):
		t.Errorf("error is %q, want one with %q", err, text)
	}
}

func TestHMACIdentity(t *testing.T) {
	t.Parallel()
	header := http.Header{"X-Id": {"id-9"}, "X-Type": {"order/paid"}, "X-Bad": {"not,a type"}, "X-Two": {"a", "b"}}
	cases := map[string]Identity{
		`{"header":"X-Sig"}`:                                           {},
		`{"header":"X-Sig","id_header":"X-Id"}`:                        {ID: "id-9", Key: "id-9"},
		`{"header":"X-Sig","id_header":"x-id","type_header":"x-type"}`: {ID: "id-9", Key: "id-9", Type: "order/paid"},
		`{"header":"X-Sig","id_header":"X-Two","type_header":"X-Bad"}`: {},
		`{"header":"X-Sig","id_header":"X-None","type_header":"X-No"}`: {},
	}
	for settings, want := range cases {
		s := senderOf(t, "hmac")
		s.settings = json.RawMessage(settings)
		r := s.signed(t, `{}`)
		maps.Copy(r.Header, header)
		r.Header.Del("X-None")
		verified, err := s.verify(r, s.secret)
		if err != nil {
			t.Errorf("%s: %v", settings, err)
			continue
		}
		if diff := cmp.Diff([]Identity{want}, verified.Events); diff != "" {
			t.Errorf("%s (-want +got):\n%s", settings, diff)
		}
	}
}

// TestHMACSignedParts changes each part of the signed text in turn.
func TestHMACSignedParts(t *testing.T) {
	t.Parallel()
	s := senderOf(t, "hmac 2")
	cases := map[string]struct {
		change func(r *Request)
		code   string
	}{
		"another id":   {func(r *Request) { r.Header.Set("X-Id", "id-2") }, CodeMismatch},
		"no id":        {func(r *Request) { r.Header.Del("X-Id") }, CodeMissing},
		"two ids":      {func(r *Request) { r.Header.Add("X-Id", "id-1") }, CodeMalformed},
		"another time": {func(r *Request) { r.Header.Set("X-Time", "1760000001") }, CodeMismatch},
		"no time":      {func(r *Request) { r.Header.Del("X-Time") }, CodeMalformed},
		"a date":       {func(r *Request) { r.Header.Set("X-Time", "2025-10-09T08:53:20Z") }, CodeMalformed},
		"another url":  {func(r *Request) { r.URL += "/" }, CodeMismatch},
		"no url":       {func(r *Request) { r.URL = "" }, CodeMismatch},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.signed(t, `{}`)
			c.change(&r)
			_, err := s.verify(r, s.secret)
			_ = wantRefusal(t, err, c.code, s.secret)
		})
	}
}

// TestHMACForwardedHost: the signed address is the configured one, whatever
// the request says of itself.
func TestHMACForwardedHost(t *testing.T) {
	t.Parallel()
	s := senderOf(t, "hmac 2")
	r := s.signed(t, `{}`)
	r.Header.Set("X-Forwarded-Host", "evil.example")
	r.Header.Set("X-Forwarded-Proto", "http")
	if _, err := s.verify(r, s.secret); err != nil {
		t.Error(err)
	}
}

// TestHMACBrokenSettings: settings that were never checked refuse everything.
func TestHMACBrokenSettings(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{``, `{}`, `{"header":"X-Sig","algorithm":"none"}`, `[`} {
		s := senderOf(t, "hmac")
		r := s.signed(t, `{}`)
		s.settings = json.RawMessage(settings)
		_, err := s.verify(r, s.secret)
		_ = wantRefusal(t, err, CodeMismatch)
	}
}

func TestHMACProtects(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		`{"header":"X-Sig"}`:                   "Signed: the body; not signed: the event’s id, the time.",
		string(senderOf(t, "hmac 2").settings): "Signed: the body, the event’s id, the time, the address.",
		`{}`:                                   "What is signed depends on the settings.",
	} {
		if got := anyHMAC.Protects(json.RawMessage(settings)); got != want {
			t.Errorf("%s: %q, want %q", settings, got, want)
		}
	}
}
