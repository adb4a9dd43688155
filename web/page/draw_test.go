package page_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/rowlock/rowlock/web/layout"
)

// noon is when everything here happens.
var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// hostile is a text as anybody can send it. Every page gets it in every field:
// see every_page_test.go.
const hostile = "<script>alert(1)</script>\u202eevil\x00"

// framed is the frame of an account's page.
func framed() layout.Frame {
	return layout.Frame{
		Title: "Title", Here: "/here",
		Person:  layout.Person{Name: "Mara Lindqvist", Email: "mara@example.com"},
		Account: layout.Account{Name: "Acme", Path: "/a/acme", Role: "Owner"},
	}
}

// drawn renders a page, or a question, and checks what holds for every one.
func drawn(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	var markup strings.Builder
	if err := c.Render(t.Context(), &markup); err != nil {
		t.Fatal(err)
	}
	d, err := goquery.NewDocumentFromReader(strings.NewReader(markup.String()))
	if err != nil {
		t.Fatal(err)
	}
	titles := d.Find("h1").Length()
	if whole := d.Find("main").Length() > 0; titles > 1 || whole && titles != 1 {
		t.Errorf("the page has %d titles", titles)
	}
	wantNothingForeign(t, d)
	wantNothingHidden(t, markup.String())
	wantIDsOnce(t, d)
	return d
}

// wantNothingForeign fails for a script, a style or a picture that is not the
// product's, and for an address that is a script.
func wantNothingForeign(t *testing.T, d *goquery.Document) {
	t.Helper()
	if n := d.Find("script:not([src^='/static/']), style, [style], img, iframe, object, embed, base, link:not([href^='/static/'])").Length(); n > 0 {
		t.Errorf("the page has %d elements that are not ours", n)
	}
	for _, element := range d.Find("*").EachIter() {
		for _, a := range element.Get(0).Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s has %s=%.80q", goquery.NodeName(element), a.Key, a.Val)
			case slices.Contains([]string{"href", "action", "src", "formaction", "xlink:href"}, a.Key) && !harmless(a.Val):
				t.Errorf("%s has %s=%.80q", goquery.NodeName(element), a.Key, a.Val)
			}
		}
	}
}

// harmless tells that an address leads to a page of this server, to one of
// the web, or to nowhere.
func harmless(address string) bool {
	scheme, _, ok := strings.Cut(address, ":")
	return !ok || strings.ContainsAny(scheme, "/?#") || scheme == "http" || scheme == "https" || address == string(templ.FailedSanitizationURL)
}

// wantNothingHidden looks at what is read, or read out. What is copied or
// edited is as it came.
func wantNothingHidden(t *testing.T, markup string) {
	t.Helper()
	tokens := html.NewTokenizer(strings.NewReader(markup))
	edited := false
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return
		case html.TextToken:
			if text := string(tokens.Text()); !edited {
				wantVisible(t, text)
			}
		default:
			token := tokens.Token()
			edited = kind == html.StartTagToken && token.Data == "textarea"
			for _, a := range token.Attr {
				if slices.Contains([]string{"title", "aria-label", "placeholder", "alt", "label", "data-tip"}, a.Key) {
					wantVisible(t, a.Val)
				}
			}
		}
	}
}

func wantVisible(t *testing.T, text string) {
	t.Helper()
	at := strings.IndexAny(text, "\u200b\u202e\u2066\x00\x1b\ufffd")
	if at < 0 && !utf8.ValidString(text) {
		at = len(text)
	}
	if at >= 0 {
		t.Errorf("the page hides something in %q", text[max(0, at-40):min(len(text), at+10)])
	}
}

func wantIDsOnce(t *testing.T, d *goquery.Document) {
	t.Helper()
	seen := map[string]bool{}
	for _, element := range d.Find("[id]").EachIter() {
		id := element.AttrOr("id", "")
		if seen[id] {
			t.Errorf("the id %.80q is there twice", id)
		}
		seen[id] = true
	}
}

// words is a part's text, with a space between its pieces.
func words(s *goquery.Selection) string {
	var pieces []string
	s.Each(func(_ int, s *goquery.Selection) {
		s.Contents().Each(func(_ int, piece *goquery.Selection) {
			text := piece.Text()
			if goquery.NodeName(piece) != "#text" {
				text = words(piece)
			}
			pieces = append(pieces, strings.Fields(text)...)
		})
	})
	return strings.Join(pieces, " ")
}

// wantWords fails unless a part is there once and says this.
func wantWords(t *testing.T, d *goquery.Document, selector, want string) {
	t.Helper()
	found := d.Find(selector)
	if found.Length() != 1 || !strings.Contains(words(found), want) {
		t.Errorf("%d of %s say %q, want %q", found.Length(), selector, words(found), want)
	}
}

// wantNumber fails unless there are so many of something.
func wantNumber(t *testing.T, d *goquery.Document, selector string, want int) {
	t.Helper()
	if got := d.Find(selector).Length(); got != want {
		t.Errorf("%d of %s, want %d", got, selector, want)
	}
}

// wantInvalid fails unless a field is marked, keeps its value and has this
// message beside it.
func wantInvalid(t *testing.T, d *goquery.Document, field, value, message string) {
	t.Helper()
	input := d.Find("main #" + field)
	described := strings.Fields(input.AttrOr("aria-describedby", "none"))
	if input.AttrOr("aria-invalid", "") != "true" || input.AttrOr("value", "") != value || !strings.Contains(words(d.Find("#"+described[0])), message) {
		t.Errorf("%s is %q, invalid %q, described by %q", field, input.AttrOr("value", ""), input.AttrOr("aria-invalid", ""), words(d.Find("#"+described[0])))
	}
}
