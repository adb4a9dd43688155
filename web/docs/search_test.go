package docs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/web/docs"
)

// What people look for is found where they would look it up.
func TestSearchFindsTheBestPlace(t *testing.T) {
	t.Parallel()
	l := library(t)
	for query, want := range map[string]string{
		"choose a lease":     "/docs/claims#choosing-a-lease",
		"choosing the lease": "/docs/claims#choosing-a-lease",
		"fence":              "/docs/claims#what-the-fence-is-for",
		"  Answer LOST ":     "/docs/claims#when-an-answer-is-lost",
		"card charge":        "/docs/claims#a-card-charge-once",
		"welcome.py":         "/docs/claims#a-mail-once",
		"quick start":        "/docs/quickstart",
		"duplicate_fact":     "/docs/facts#what-was-told-and-what-was-not",
		"on_doubt":           "/docs/facts#in-doubt",
		"rotate secret":      "/docs/verifying#changing-the-secret",
		"whpk_":              "/docs/verifying#with-a-public-key",
		"backup":             "/docs/backups#take-a-base-backup",
		"scopes":             "/docs/api#keys-and-scopes",
		"cursor":             "/docs/api#lists",
		"never_created":      "/docs/reconcile#what-is-found",
	} {
		if found := l.Search(query); len(found) == 0 || found[0].Address != want {
			t.Errorf("%q finds %v, want %s", query, found, want)
		}
	}
}

func TestSearchFindsNothing(t *testing.T) {
	t.Parallel()
	l := library(t)
	for _, query := range []string{"", " ", "...", "zebra", "lease zebra", strings.Repeat("lease ", 500) + "zebra"[:0] + "\xff", "\u202e"} {
		found := l.Search(query)
		if strings.Contains(query, "lease lease") {
			if len(found) == 0 {
				t.Error("a word said often is not found")
			}
			continue
		}
		if len(found) != 0 {
			t.Errorf("%.20q finds %d places", query, len(found))
		}
	}
}

func TestSearchShowsWhatItFound(t *testing.T) {
	t.Parallel()
	found := library(t).Search("fenc")
	if len(found) == 0 {
		t.Fatal("nothing is found")
	}
	for _, r := range found {
		var text strings.Builder
		for _, piece := range r.Excerpt {
			text.WriteString(piece.Text)
			if piece.Hit && !strings.HasPrefix(strings.ToLower(piece.Text), "fenc") {
				t.Errorf("%s: %q is marked", r.Address, piece.Text)
			}
		}
		if text.Len() > 260 {
			t.Errorf("%s: the excerpt has %d bytes", r.Address, text.Len())
		}
	}
	if !slices.ContainsFunc(found, func(r docs.Result) bool {
		return slices.ContainsFunc(r.Excerpt, func(p docs.Piece) bool { return p.Hit })
	}) {
		t.Error("no excerpt marks anything")
	}
}

func BenchmarkSearch(b *testing.B) {
	l, err := docs.Load(docs.Placeholders())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l.Search("a claim that is held")
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := docs.Load(docs.Placeholders()); err != nil {
			b.Fatal(err)
		}
	}
}
