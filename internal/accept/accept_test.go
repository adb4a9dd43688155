package accept_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// No two events that say something else have one hash, however their parts
// are cut.
func TestContentHash(t *testing.T) {
	t.Parallel()
	subjects := []*string{nil}
	texts := []string{"", "a", "b", "ab", "a\x00", "\x00a", "\x00\x00\x00\x00\x00\x00\x00\x01a", strings.Repeat("a", 300)}
	for i := range texts {
		subjects = append(subjects, &texts[i])
	}
	seen := map[[32]byte]string{}
	for _, eventType := range texts {
		for _, subject := range subjects {
			for _, data := range texts {
				says := fmt.Sprintf("type %q, subject %v, data %q", eventType, quoted(subject), data)
				hash := accept.ContentHash(eventType, subject, []byte(data))
				if other, ok := seen[hash]; ok {
					t.Fatalf("%s and %s have one hash", says, other)
				}
				seen[hash] = says
				if again := accept.ContentHash(eventType, subject, []byte(data)); again != hash {
					t.Fatalf("%s has two hashes", says)
				}
			}
		}
	}
}

func quoted(s *string) string {
	if s == nil {
		return "none"
	}
	return fmt.Sprintf("%q", *s)
}

func FuzzContentHash(f *testing.F) {
	f.Add("a", "b", []byte("c"), "ab", "", []byte("c"))
	f.Add("a", "", []byte("\x00\x00\x00\x00\x00\x00\x00\x00"), "a", "", []byte(""))
	f.Fuzz(func(t *testing.T, type1, subject1 string, data1 []byte, type2, subject2 string, data2 []byte) {
		same := type1 == type2 && subject1 == subject2 && string(data1) == string(data2)
		if got := accept.ContentHash(type1, &subject1, data1) == accept.ContentHash(type2, &subject2, data2); got != same {
			t.Errorf("equal hashes: %t, equal events: %t", got, same)
		}
		if accept.ContentHash(type1, nil, data1) == accept.ContentHash(type2, &subject2, data2) {
			t.Error("an event without a subject has the hash of one with a subject")
		}
	})
}

// tokenScheme proves requests by a header that is the secret itself.
type tokenScheme struct{ signature.Scheme }

func (tokenScheme) Info() *signature.Info {
	return &signature.Info{SecretQuery: []string{"token", "pass word"}}
}

func (tokenScheme) SecretHeaders(json.RawMessage) []string {
	return []string{"X-Token", "x-other-token"}
}

func TestSecretHeadersOfASchemeAreRedacted(t *testing.T) {
	t.Parallel()
	in := accept.Incoming{Header: http.Header{
		"X-Token": {"hunter2"}, "X-Other-Token": {"hunter3", ""}, "Authorization": {"hunter4"}, "Cookie": {"hunter5"},
		"Proxy-Authorization": {"hunter6"}, "X-Tokens": {"shown"}, "X-Plain": {"shown", "too"},
	}}
	want := http.Header{
		"X-Token": {gateway.Redacted}, "X-Other-Token": {gateway.Redacted, gateway.Redacted}, "Authorization": {gateway.Redacted},
		"Cookie": {gateway.Redacted}, "Proxy-Authorization": {gateway.Redacted}, "X-Tokens": {"shown"}, "X-Plain": {"shown", "too"},
	}
	if diff := cmp.Diff(want, accept.StoredHeaders(in, tokenScheme{})); diff != "" {
		t.Error(diff)
	}
	if got := accept.StoredHeaders(accept.Incoming{}, tokenScheme{}); len(got) != 0 {
		t.Errorf("of no headers %v are stored", got)
	}
}

// The values of parameters that are secrets are left out, however their names
// are written, and nothing else of a query changes.
func TestSecretParametersOfASchemeAreRedacted(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"":                                 "",
		"a=1&token=hunter2&b=%20&&c":       "a=1&token=[redacted]&b=%20&&c",
		"token=hunter2&token=hunter3":      "token=[redacted]&token=[redacted]",
		"%74oken=hunter2&to%6Ben=hunter=3": "%74oken=[redacted]&to%6Ben=[redacted]",
		"pass+word=hunter2":                "pass+word=[redacted]",
		"token":                            "token=[redacted]",
		"Token=shown&token2=shown&%zz=x":   "Token=shown&token2=shown&%zz=x",
	} {
		if got := accept.StoredQuery(accept.Incoming{Query: query}, tokenScheme{}); got != want {
			t.Errorf("%s is stored as %s, want %s", query, got, want)
		}
	}
}

func TestIsTemporary(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{gateway.ErrUnavailable, true},
		{fmt.Errorf("publish: %w", gateway.ErrOverloaded), true},
		{&accept.RateLimitedError{Detail: "too many"}, true},
		{gateway.ErrKeyReused, false},
		{gateway.Invalid("type", "is wrong"), false},
		{errors.New("a constraint"), false},
	} {
		if got := accept.IsTemporary(test.err); got != test.want {
			t.Errorf("%v is temporary: %t", test.err, got)
		}
	}
}
