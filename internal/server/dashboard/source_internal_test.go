package dashboard

import (
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source/settings"
)

// A kind of source that people can choose is explained to them.
func TestEveryKindHasWords(t *testing.T) {
	t.Parallel()
	for _, kind := range append(signature.Kinds(), gateway.SourceKindAPI) {
		if kindOf(kind).Summary == "" {
			t.Errorf("nothing is said about the kind %s", kind)
		}
	}
	for _, kind := range signature.Kinds() {
		words, scheme := kindOf(kind), schemeOf(t, kind)
		if scheme.Info().NeedsSecret() != (words.Secret != "" && !words.Captured) || len(words.Paste) == 0 {
			t.Errorf("%s: secret %q, %d steps", kind, words.Secret, len(words.Paste))
		}
	}
}

func schemeOf(t *testing.T, kind string) signature.Scheme {
	t.Helper()
	scheme, ok := signature.Lookup(kind)
	if !ok {
		t.Fatalf("no scheme %s", kind)
	}
	return scheme
}

// What is wrong in a setting is told beside its field.
func TestSettingFaultsFindTheirField(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{}`:                                          "header",
		`{"header":"a b"}`:                            "header",
		`{"header":"X","algorithm":"md5"}`:            "algorithm",
		`{"header":"X","encoding":"rot13"}`:           "encoding",
		`{"header":"X","signed":"{bdy}"}`:             "signed",
		`{"header":"X","signed":"{id}{body}"}`:        "id_header",
		`{"header":"X","signed":"{timestamp}{body}"}`: "timestamp_header",
		`{"header":"X","timestamp_header":"T"}`:       "timestamp_header",
		`{"header":"X","type_header":"a b"}`:          "type_header",
		`{"header":"X","prefix":"\u00fc"}`:            "prefix",
		`{"header":"X","tolerance":"long"}`:           "tolerance",
		`{"header":"X","own":"x"}`:                    "",
	} {
		err := settings.Check(schemeOf(t, "hmac"), []byte(raw))
		f := form{errors: map[string]string{}}
		if err == nil || !f.takeSource(err, kindOf("hmac")) || len(f.errors) != 1 {
			t.Errorf("%s: %v, %v", raw, err, f.errors)
			continue
		}
		if message := f.errors[want]; message == "" || message[0] < 'A' || message[0] > '{' || !strings.HasSuffix(message, ".") {
			t.Errorf("%s: want a sentence beside %q, got %v", raw, want, f.errors)
		}
	}
}

// What a kind needs no settings for keeps those that were set by the API.
func TestSettingsOfKindsWithoutAnyAreLeftAlone(t *testing.T) {
	t.Parallel()
	if raw := settingsOf(form{values: map[string][]string{"header": {"X"}}}, kindOf("github"), []byte(`{"later":{"a":1},"replay_guard":"5m"}`)); string(raw) != `{"later":{"a":1}}` {
		t.Errorf("%s", raw)
	}
	raw := settingsOf(form{values: map[string][]string{"header": {" X "}, "prefix": {"v0= "}, "tolerance": {"10m"}}}, kindOf("hmac"), nil)
	if string(raw) != `{"header":"X","prefix":"v0= ","tolerance":"10m"}` {
		t.Errorf("%s", raw)
	}
	if got := choicesOf(raw); got["prefix"] != "v0= " || len(got) != 3 {
		t.Errorf("%v", got)
	}
	for _, broken := range []string{"", "null", "7", `{"a":`, `{"header":7}`} {
		if got := choicesOf([]byte(broken)); len(got) != 0 {
			t.Errorf("%q: %v", broken, got)
		}
	}
}

func TestCausesInAddresses(t *testing.T) {
	t.Parallel()
	for _, cause := range []gateway.Cause{{}, {StatusCode: 503}, {ErrorKind: gateway.ErrorTimeout}} {
		if got := parseCause(causeParam(cause)); got == nil || *got != cause {
			t.Errorf("%+v becomes %+v", cause, got)
		}
	}
	for _, made := range []string{"", "-1", "0", "1000", "99999999999", "\x00", "\xff", "rotten"} {
		if got := parseCause(made); got != nil {
			t.Errorf("%q is the cause %+v", made, *got)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"/x":          address("/x", "a", ""),
		"/x?a=1":      address("/x", "a", "1"),
		"/x?a=%3C%26": address("/x", "a", "<&"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
