package signature

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	refusal := malformed("X-Sig", "It is odd.")
	if got := refusal.Error(); got != "signature_malformed: It is odd." {
		t.Errorf("error text is %q", got)
	}
	var found *Refusal
	if wrapped := fmt.Errorf("verify request: %w", refusal); !errors.As(wrapped, &found) || found != refusal {
		t.Error("a wrapped refusal is not found")
	}
}

// TestCodes: the codes are an interface to senders and people.
func TestCodes(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		CodeMissing:   "signature_missing",
		CodeMalformed: "signature_malformed",
		CodeTimestamp: "timestamp_out_of_range",
		CodeMismatch:  "signature_mismatch",
	} {
		if got != want {
			t.Errorf("code is %q, want %q", got, want)
		}
	}
}

// TestRefusalsAreWords: each names the header that was read and says in a
// sentence what is wrong, without the text of the sender.
func TestRefusalsAreWords(t *testing.T) {
	t.Parallel()
	const marker = "SENDERS-OWN-TEXT"
	for _, s := range senders(t) {
		h := s.header(t)
		if h == "" {
			continue
		}
		for _, value := range []string{"", marker, "t=" + marker + ",v1=" + marker, "v1," + marker, "sha256=" + marker} {
			r := s.sampled(t)
			r.Header.Set(h, value)
			_, err := s.verify(r, s.secret)
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("%s: %v", s.name, err)
			}
			if !strings.EqualFold(refusal.Header, h) {
				t.Errorf("%s: header is %q, want %q", s.name, refusal.Header, h)
			}
			if strings.Contains(refusal.Error(), marker) {
				t.Errorf("%s: the refusal repeats the request: %v", s.name, refusal)
			}
			if !strings.HasSuffix(refusal.Detail, ".") {
				t.Errorf("%s: no sentence: %q", s.name, refusal.Detail)
			}
		}
	}
}

// TestMismatchWords: a source without a secret says so.
func TestMismatchWords(t *testing.T) {
	t.Parallel()
	without, with := mismatch("X-Sig", nil), mismatch("X-Sig", liveSecrets("a"))
	if without.Detail == with.Detail || !strings.Contains(without.Detail, "no live secret") {
		t.Errorf("details are %q and %q", without.Detail, with.Detail)
	}
}
