package account

import (
	"iter"
	"strings"

	"github.com/rowlock/rowlock/internal/secret"
)

const (
	// maxSlug is in characters, all of them ASCII; the suffix comes on top.
	maxSlug = 40
	// slugSuffix is how many random characters tell equal names apart: 40 bits.
	slugSuffix = 8
	// slugTries is how many suffixes are tried. One is enough unless chance is
	// broken.
	slugTries = 5
	// slugAlphabet is all that a slug is made of.
	slugAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789-"
	// emptySlug is for names without a letter or digit of ASCII.
	emptySlug = "account"
)

// slugs yields what an account of this name may be called in addresses: the
// name itself, then the name with a random suffix.
func slugs(name string) iter.Seq[string] {
	base := slugOf(name)
	return func(yield func(string) bool) {
		if !yield(base) {
			return
		}
		for range slugTries {
			if !yield(base + "-" + secret.NewToken("")[:slugSuffix]) {
				return
			}
		}
	}
}

// slugOf keeps a name's ASCII letters and digits, in lower case, with one
// hyphen for all that stands between them.
func slugOf(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	slug := strings.Join(words, "-")
	slug = strings.TrimRight(slug[:min(len(slug), maxSlug)], "-")
	if slug == "" {
		return emptySlug
	}
	return slug
}
