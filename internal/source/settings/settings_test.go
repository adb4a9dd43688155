package settings_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source/settings"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]settings.Chosen{
		"":                         {},
		" null ":                   {},
		"{}":                       {},
		`{"tolerance":null}`:       {},
		`{"tolerance":"90s"}`:      {Scheme: signature.Settings{Tolerance: 90 * time.Second}},
		`{"tolerance":"1s"}`:       {Scheme: signature.Settings{Tolerance: time.Second}},
		`{"tolerance":"24h"}`:      {Scheme: signature.Settings{Tolerance: 24 * time.Hour}},
		` { "header" : "X-Sig" } `: {Scheme: signature.Settings{Raw: json.RawMessage(`{"header":"X-Sig"}`)}},
		`{"a":1,"tolerance":"1m","b":{"tolerance":2}}`: {
			Scheme: signature.Settings{Tolerance: time.Minute, Raw: json.RawMessage(`{"a":1,"b":{"tolerance":2}}`)},
		},
		`{"a":1,"a":2,"\u0041":[ 9007199254740993 ]}`: {Scheme: signature.Settings{Raw: json.RawMessage(`{"a":1,"a":2,"A":[ 9007199254740993 ]}`)}},
		`{"Tolerance":"1m"}`:                          {Scheme: signature.Settings{Raw: json.RawMessage(`{"Tolerance":"1m"}`)}},
	} {
		got, err := settings.Split(json.RawMessage(raw))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", raw, err, diff)
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"[]", "1", `"x"`, "{", `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1}{}`, `{"a":1} x`, `{a:1}`, "nul",
		`{"tolerance":5}`, `{"tolerance":""}`, `{"tolerance":"0s"}`, `{"tolerance":"-5m"}`, `{"tolerance":"999ms"}`,
		`{"tolerance":"24h1s"}`, `{"tolerance":"soon"}`, `{"tolerance":"1m","tolerance":"1m"}`, `{"tolerance":["1m"]}`,
		`{"a":"` + strings.Repeat("x", 16<<10) + `"}`,
	} {
		_, err := settings.Split(json.RawMessage(raw))
		var invalid *gateway.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "settings" {
			t.Errorf("%.60s: %v, want an InvalidError", raw, err)
		}
	}
}

func TestCheckAsksTheScheme(t *testing.T) {
	t.Parallel()
	for raw, ok := range map[string]bool{
		"": true, "{}": true, `{"tolerance":"1m"}`: true, `{"tolerance":"1"}`: false,
		`{"unknown":1}`: false, `{"Tolerance":"1m"}`: false,
	} {
		scheme, _ := signature.Lookup("stripe")
		if err := settings.Check(scheme, json.RawMessage(raw)); (err == nil) != ok {
			t.Errorf("%s: %v, want ok %v", raw, err, ok)
		}
	}
}

// What is left of an object is an object, unless nothing is.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"tolerance":"1m"}`, `{"\ud800":1}`, "null", `{"":{}}`, `{"a" :[1, 2]}`,
		`{"public_url":"https://a.example/?b","rate_limit":{"per_second":1},"c":1}`, `{"allowed_ips":["::ffff:1.2.3.4/97","fe80::%1"],"d":{}}`,
		`{"replay_guard":"1h","allowed_ips":[],"e":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := settings.Split(raw)
		if err != nil || got.Scheme.Raw == nil {
			return
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal(raw, &before) != nil || json.Unmarshal(got.Scheme.Raw, &after) != nil {
			t.Fatalf("%q became %q", raw, got.Scheme.Raw)
		}
		for _, name := range settings.Names() {
			delete(before, name)
		}
		if len(before) != len(after) {
			t.Errorf("%q became %q", raw, got.Scheme.Raw)
		}
	})
}
