package signature

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"testing"
)

// TestComputeHMAC is case 2 of RFC 4231, cut into parts in every way.
func TestComputeHMAC(t *testing.T) {
	t.Parallel()
	const text, want = "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
	for cut := range len(text) {
		parts := [][]byte{[]byte(text[:cut]), nil, []byte(text[cut:])}
		if got := hex.EncodeToString(computeHMAC(sha256.New, []byte("Jefe"), parts)); got != want {
			t.Fatalf("cut at %d: %s", cut, got)
		}
	}
}

func TestMatchHMAC(t *testing.T) {
	t.Parallel()
	signed := [][]byte{[]byte("text")}
	mac := func(key string) []byte { return computeHMAC(sha256.New, []byte(key), signed) }
	cases := map[string]struct {
		secrets []string
		sent    [][]byte
		index   int // -1 is no match
	}{
		"first":                 {[]string{"a", "b"}, [][]byte{mac("a")}, 0},
		"second":                {[]string{"a", "b"}, [][]byte{mac("b")}, 1},
		"both sent, first wins": {[]string{"a", "b"}, [][]byte{mac("b"), mac("a")}, 0},
		"second of those sent":  {[]string{"b"}, [][]byte{mac("a"), mac("b")}, 0},
		"the same secret twice": {[]string{"a", "a"}, [][]byte{mac("a")}, 0},
		"another":               {[]string{"a", "b"}, [][]byte{mac("c")}, -1},
		"cut short":             {[]string{"a"}, [][]byte{mac("a")[:31]}, -1},
		"nothing sent":          {[]string{"a"}, nil, -1},
		"empty sent":            {[]string{"a"}, [][]byte{{}}, -1},
		"no secret":             {nil, [][]byte{mac("a")}, -1},
		"empty secret":          {[]string{""}, [][]byte{mac("")}, -1},
		"empty, then right":     {[]string{"", "a"}, [][]byte{mac("a")}, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret, ok := matchHMAC(sha256.New, liveSecrets(c.secrets...), signed, c.sent)
			if ok != (c.index >= 0) {
				t.Fatalf("matched: %v", ok)
			}
			if ok && secret.ID != secretID(c.index) || !ok && !secret.ID.IsZero() {
				t.Errorf("matched %v, want secret %d", secret.ID, c.index)
			}
		})
	}
}

// TestVerifyConcurrently shares each scheme and each request among callers, as
// a server does; the race detector is the judge.
func TestVerifyConcurrently(t *testing.T) {
	t.Parallel()
	for _, s := range senders(t) {
		r := s.sampled(t)
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				if _, err := s.verify(r, s.other, s.secret); err != nil {
					t.Errorf("%s: %v", s.name, err)
				}
			})
		}
		callers.Wait()
	}
}
