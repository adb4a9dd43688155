package settings_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source/settings"
)

func TestCommonSettings(t *testing.T) {
	t.Parallel()
	long := "https://example.com/" + strings.Repeat("x", 1980)
	for raw, want := range map[string]settings.Chosen{
		`{"public_url":"https://hooks.example.com/in"}`:               {PublicURL: "https://hooks.example.com/in"},
		`{"public_url":"HTTP://[2001:db8::1]:8080/a%20b?c=d"}`:        {PublicURL: "HTTP://[2001:db8::1]:8080/a%20b?c=d"},
		fmt.Sprintf(`{"public_url":%q}`, long):                        {PublicURL: long},
		`{"rate_limit":{"per_second":1}}`:                             {PerSecond: 1},
		`{"rate_limit": { "per_second" : 100000 } }`:                  {PerSecond: 100_000},
		`{"rate_limit":null,"allowed_ips":null,"replay_guard":null}`:  {},
		`{"allowed_ips":[]}`:                                          {},
		`{"allowed_ips":["203.0.113.7","2001:db8::1"]}`:               {Addresses: networks("203.0.113.7/32", "2001:db8::1/128")},
		`{"allowed_ips":["203.0.113.7/24","2001:db8::7/32"]}`:         {Addresses: networks("203.0.113.0/24", "2001:db8::/32")},
		`{"allowed_ips":["0.0.0.0/0","::/0"]}`:                        {Addresses: networks("0.0.0.0/0", "::/0")},
		`{"allowed_ips":["::ffff:203.0.113.7"]}`:                      {Addresses: networks("203.0.113.7/32")},
		`{"allowed_ips":["::ffff:203.0.113.7/120","::ffff:0:0/96"]}`:  {Addresses: networks("203.0.113.0/24", "0.0.0.0/0")},
		`{"replay_guard":"1s"}`:                                       {ReplayGuard: time.Second},
		`{"replay_guard":"72h"}`:                                      {ReplayGuard: 72 * time.Hour},
		`{"rate_limit":{"per_second":5},"header":"X","x":{"a":null}}`: {PerSecond: 5, Scheme: signature.Settings{Raw: json.RawMessage(`{"header":"X","x":{"a":null}}`)}},
	} {
		got, err := settings.Split(json.RawMessage(raw))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" || err != nil {
			t.Errorf("%.80s: %v %s", raw, err, diff)
		}
	}
}

func networks(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// A query in the public address stands for that of every request. Where GET
// requests carry what they are about in theirs, one signature would do for all.
func TestPublicURLWithAQuery(t *testing.T) {
	t.Parallel()
	for kind, ok := range map[string]bool{"twilio": false, "hubspot": false, "square": true, "meta": true, "github": true} {
		scheme, _ := signature.Lookup(kind)
		if err := settings.Check(scheme, json.RawMessage(`{"public_url":"https://a.example/in"}`)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		err := settings.Check(scheme, json.RawMessage(`{"public_url":"https://a.example/in?b"}`))
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), `"public_url" has a query`) {
			t.Errorf("%s with a query: %v, want ok %v", kind, err, ok)
		}
	}
}

// A setting that says what cannot be is refused, with its name and what it
// should say, and never taken for none: none would let everybody in.
func TestCommonSettingsRefuse(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		settings.PublicURL: {
			`""`, `7`, `[]`, `"hooks.example.com/in"`, `"ftp://example.com/"`, `"javascript:alert(1)"`, `"https://"`, `"https://:443/"`,
			`"https:///path"`, `"//example.com/"`, `"https://me:pw@example.com/"`, `"https://me@example.com/"`, `"https://example.com/#x"`,
			`"https://example.com/#"`, `" https://example.com/"`, `"https://example.com/ "`, `"https://example.com/a b"`,
			`"https://example.com/\u0000"`, `"https://example.com/\n"`, `"https://exämple.com/"`, `"https://example.com/ä"`, `"https://example.com/%zz"`,
			`"https://example.com/` + strings.Repeat("x", 1981) + `"`,
		},
		settings.RateLimit: {
			`5`, `"5"`, `[]`, `{}`, `{"per_second":0}`, `{"per_second":-1}`, `{"per_second":100001}`, `{"per_second":1.5}`, `{"per_second":"5"}`,
			`{"per_second":null}`, `{"Per_second":5}`, `{"per_second":5,"burst":1}`, `{"per_second":5,"per_second":6}`, `{"per_second":99999999999999999999}`,
		},
		settings.Addresses: {
			`"203.0.113.7"`, `{}`, `7`, `[7]`, `[null]`, `[""]`, `["x"]`, `["203.0.113"]`, `["203.0.113.7/33"]`, `["203.0.113.7/-1"]`, `["/24"]`,
			`["203.0.113.07"]`, `["fe80::1%eth0"]`, `["fe80::1%eth0/64"]`, `["203.0.113.7:80"]`, `[" 203.0.113.7"]`, `["2001:db8::/129"]`,
			`["203.0.113.7","*"]`, `[` + strings.Repeat(`"203.0.113.7",`, 100) + `"203.0.113.8"]`,
		},
		settings.ReplayGuard: {`""`, `10`, `"10"`, `"0s"`, `"-1s"`, `"999ms"`, `"72h1s"`, `["10m"]`},
	} {
		for _, value := range values {
			_, err := settings.Split(fmt.Appendf(nil, `{%q:%s}`, name, value))
			var invalid *gateway.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != "settings" || !strings.HasPrefix(invalid.Detail, fmt.Sprintf("%q ", name)) {
				t.Errorf("%s %.60s: %v, want an InvalidError that names it", name, value, err)
			}
		}
		_, err := settings.Split(fmt.Appendf(nil, `{%q:null,%q:null}`, name, name))
		if err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s twice: %v", name, err)
		}
	}
}

func TestAHundredNetworksAreTaken(t *testing.T) {
	t.Parallel()
	raw := `{"allowed_ips":[` + strings.TrimSuffix(strings.Repeat(`"203.0.113.7",`, settings.MaxAddresses), ",") + `]}`
	if got, err := settings.Split(json.RawMessage(raw)); err != nil || len(got.Addresses) != settings.MaxAddresses {
		t.Errorf("%d networks, %v", len(got.Addresses), err)
	}
}

// What is refused says the bounds as people write them.
func TestDurationsAreExplained(t *testing.T) {
	t.Parallel()
	_, err := settings.Split(json.RawMessage(`{"replay_guard":"100h"}`))
	if err == nil || !strings.Contains(err.Error(), "from 1s to 72h,") {
		t.Error(err)
	}
}

// A kind's own setting that had the name of a common one would never reach the
// kind.
func TestNoKindHasASettingOfEveryKind(t *testing.T) {
	t.Parallel()
	common := settings.Names()
	if len(common) != 5 {
		t.Errorf("%d common settings", len(common))
	}
	for _, kind := range signature.Kinds() {
		scheme, _ := signature.Lookup(kind)
		for _, own := range scheme.Info().Settings {
			if slices.Contains(common, own.Name) {
				t.Errorf("%s has a setting %s", kind, own.Name)
			}
		}
	}
}

// Every kind takes the settings that every kind has.
func TestEveryKindTakesTheCommonSettings(t *testing.T) {
	t.Parallel()
	raw := `{"tolerance":"1m","public_url":"https://a.example/","rate_limit":{"per_second":1},"allowed_ips":["::1"],"replay_guard":"1m"}`
	for _, kind := range signature.Kinds() {
		scheme, _ := signature.Lookup(kind)
		with, without := settings.Check(scheme, json.RawMessage(raw)), settings.Check(scheme, nil)
		if (with == nil) != (without == nil) {
			t.Errorf("%s: %v, and without settings %v", kind, with, without)
		}
	}
}
