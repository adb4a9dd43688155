package secret_test

import (
	"crypto/sha256"
	"regexp"
	"testing"

	"github.com/rowlock/rowlock/internal/secret"
)

func TestNewToken(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^rk_[0-9a-hjkmnp-tv-z]{52}$`)
	seen := map[string]bool{}
	for range 1000 {
		token := secret.NewToken("rk_")
		if !form.MatchString(token) || seen[token] {
			t.Fatalf("token %q is malformed or repeated", token)
		}
		seen[token] = true
	}
}

func TestHashToken(t *testing.T) {
	t.Parallel()
	token := secret.NewToken("")
	if secret.HashToken(token) != sha256.Sum256([]byte(token)) || secret.HashToken(token) == secret.HashToken(token+"x") {
		t.Error("the hash is not SHA-256 of the whole token")
	}
}
