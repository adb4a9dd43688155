package component_test

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
)

// render draws a component and reads it as a browser would.
func render(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(markup(t, c)))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return doc
}

// markup draws a component.
func markup(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatalf("render: %v", err)
	}
	return b.String()
}

// group renders components one after the other.
func group(t *testing.T, components ...templ.Component) *goquery.Document {
	t.Helper()
	return render(t, templ.Join(components...))
}

// one finds exactly one element.
func one(t *testing.T, doc *goquery.Document, selector string) *goquery.Selection {
	t.Helper()
	found := doc.Find(selector)
	if found.Length() != 1 {
		t.Fatalf("%d elements match %q, want 1", found.Length(), selector)
	}
	return found
}

// text is an element's text without the white space around it.
func text(s *goquery.Selection) string { return strings.TrimSpace(s.Text()) }

// attr is an attribute's value; "" when it is missing.
func attr(s *goquery.Selection, name string) string { return s.AttrOr(name, "") }

// evil are texts that outsiders could send.
var evil = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "a\u202eb", "nul\x00", "\xff\xfe", `' onfocus='alert(1)`,
}
