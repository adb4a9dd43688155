package account

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alexedwards/argon2id"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestSlugOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Acme":                                 "acme",
		"Acme, Inc.":                           "acme-inc",
		"  --Zürich 24/7!  ":                   "z-rich-24-7",
		"株式会社":                                 "account",
		"":                                     "account",
		strings.Repeat("a", 60):                strings.Repeat("a", 40),
		strings.Repeat("abc ", 9) + "abcd efg": "abc-abc-abc-abc-abc-abc-abc-abc-abc-abcd",
		strings.Repeat("a", 39) + " b":         strings.Repeat("a", 39),
	} {
		if got := slugOf(name); got != want {
			t.Errorf("slugOf(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestSlugsDiffer(t *testing.T) {
	t.Parallel()
	all := slices.Collect(slugs("Acme"))
	if len(all) != 1+slugTries || all[0] != "acme" {
		t.Fatalf("slugs %v", all)
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 1+slugTries {
		t.Error("two are equal")
	}
}

// FuzzSlugOf: a slug stands in a path as it is, and is never like an id.
func FuzzSlugOf(f *testing.F) {
	f.Add("Acme, Inc.")
	f.Add("acc_00000000000000000000000000")
	f.Fuzz(func(t *testing.T, name string) {
		slug := slugOf(name)
		odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }
		if slug == "" || len(slug) > maxSlug || strings.ContainsFunc(slug, odd) || strings.Trim(slug, "-") != slug || gateway.LooksLikeID(slug) {
			t.Errorf("slugOf(%q) = %q", name, slug)
		}
	})
}

// With all slots taken a hash waits no longer than its context.
func TestHashingIsBounded(t *testing.T) {
	t.Parallel()
	h := newHasher(argon2id.Params{})
	for range maxHashing {
		h.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.hash(ctx, "correct horse"); !errors.Is(err, context.Canceled) {
		t.Errorf("hash() = %v, want Canceled", err)
	}
	<-h.slots
	hash, err := h.hash(t.Context(), "correct horse")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=65536,t=2,p=1$") {
		t.Errorf("hash() = %q, %v", hash, err)
	}
	if len(h.slots) != maxHashing-1 {
		t.Errorf("%d slots are taken after hashing", len(h.slots))
	}
}
