package docs_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/rowlock/rowlock/web/docs"
)

// library is every page, with something in the places that others fill.
func library(t *testing.T) *docs.Library {
	t.Helper()
	l, err := docs.Load(docs.Placeholders())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Every file of the folder is a page, with a title, a first paragraph and code
// that says in which language it is.
func TestEveryFileIsAPage(t *testing.T) {
	t.Parallel()
	l := library(t)
	files, err := fs.Glob(os.DirFS("."), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		p, ok := l.Page(strings.TrimSuffix(file, ".md"))
		if !ok {
			t.Errorf("%s stands in no chapter", file)
			continue
		}
		if p.Title == "" || p.Lede == "" || p.Chapter == "" {
			t.Errorf("%s: title %q, lede %q, chapter %q", file, p.Title, p.Lede, p.Chapter)
		}
		for _, s := range samples(p) {
			checkSample(t, p, s)
		}
	}
	if len(files) != len(l.Pages()) {
		t.Errorf("%d files, %d pages", len(files), len(l.Pages()))
	}
}

func samples(p *docs.Page) (all []*docs.Sample) {
	for _, b := range p.Blocks {
		if b.Sample != nil {
			all = append(all, b.Sample)
		}
	}
	return all
}

// checkSample checks that a sample can be read in each of its languages.
func checkSample(t *testing.T, p *docs.Page, s *docs.Sample) {
	t.Helper()
	var languages []string
	for _, v := range s.Variants {
		if v.Label() == v.Language {
			t.Errorf("%s: code in the language %q, which has no name for people", p.Slug, v.Language)
		}
		if len(s.Variants) > 1 && !docs.Speaks(v.Language) {
			t.Errorf("%s: %q is one of several, and cannot be chosen", p.Slug, v.Language)
		}
		if slices.Contains(languages, v.Language) {
			t.Errorf("%s: %s is there twice in one sample", p.Slug, v.Language)
		}
		languages = append(languages, v.Language)
	}
	if len(languages) > 1 && s.Chosen("").Language != languages[0] {
		t.Errorf("%s: without a choice %s is shown", p.Slug, s.Chosen("").Language)
	}
}

// markup is all that a page shows.
func markup(t *testing.T, p *docs.Page) *goquery.Document {
	t.Helper()
	var out strings.Builder
	for _, b := range p.Blocks {
		for _, part := range []*docs.Prose{b.Prose, b.Table} {
			if part != nil {
				if err := part.Render(t.Context(), &out); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Every link to a page of the documentation leads to one that is there, and to
// a heading of it.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	l := library(t)
	for _, p := range l.Pages() {
		for _, link := range markup(t, p).Find("a").EachIter() {
			to := link.AttrOr("href", "")
			path, anchor, _ := strings.Cut(to, "#")
			switch slug, ok := strings.CutPrefix(path, docs.Path+"/"); {
			case path == "":
				wantHeading(t, p, p, anchor)
			case ok:
				target, found := l.Page(slug)
				if !found {
					t.Errorf("%s links to %s, which is not there", p.Slug, to)
					continue
				}
				wantHeading(t, p, target, anchor)
			case !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "https://"):
				t.Errorf("%s links to %q, which is no address", p.Slug, to)
			}
		}
	}
}

func wantHeading(t *testing.T, from, to *docs.Page, anchor string) {
	t.Helper()
	if anchor != "" && !slices.ContainsFunc(to.Headings(), func(h *docs.Heading) bool { return h.ID == anchor }) {
		t.Errorf("%s links to #%s of %s, which is not there", from.Slug, anchor, to.Slug)
	}
}

// What a page must not have stops it from being read.
func TestWhatIsNoPage(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no title":          "A text.\n",
		"a deeper title":    "## A\n\nA text.\n",
		"raw HTML":          "# A\n\n<div>x</div>\n",
		"raw HTML in text":  "# A\n\nx <b>y</b>\n",
		"code in a list":    "# A\n\nB.\n\n- x\n\n  ```go\n  y\n  ```\n",
		"a deep heading":    "# A\n\nB.\n\n#### C\n",
		"a text of nowhere": "# A\n\nB.\n\n{{nothing}}\n",
	} {
		if _, err := docs.Parse("a", text); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}

func TestPageIsReadInParts(t *testing.T) {
	t.Parallel()
	p, err := docs.Parse("a", "# The *title*\n\nThe `lede` [here](b.md#c).\n\n## One `x`\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n```go x.go\na := \"<b>\"\n```\n```js\nlet a;\n```\n\nText.\n\n```go\nb()\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	if p.Title != "The title" || p.Lede != "The lede here." || len(p.Blocks) != 6 {
		t.Fatalf("%q %q %d", p.Title, p.Lede, len(p.Blocks))
	}
	if h := p.Blocks[1].Heading; h.ID != "one-x" || h.Text != "One x" || h.Level != 2 {
		t.Errorf("heading %+v", h)
	}
	doc := markup(t, p)
	if to := doc.Find("a").AttrOr("href", ""); to != "/docs/b#c" {
		t.Errorf("the link leads to %q", to)
	}
	if doc.Find("td").Length() != 2 || doc.Find("[style], [align]").Length() != 0 {
		t.Error("the table has a style of its own")
	}
	s := p.Blocks[3].Sample
	if len(s.Variants) != 2 || s.Chosen("js").Text != "let a;" || s.Chosen("php").Text != `a := "<b>"` || s.Variants[0].Title() != "x.go" || s.Variants[1].Title() != "Node" {
		t.Errorf("sample %+v", s)
	}
	var code strings.Builder
	if err := s.Variants[0].Lines.Render(t.Context(), &code); err != nil || !strings.Contains(code.String(), `<span class="s">&#34;&lt;b&gt;&#34;</span>`) {
		t.Errorf("%v %s", err, code.String())
	}
	if other := p.Blocks[5].Sample; other.ID == s.ID {
		t.Errorf("two samples are called %s", s.ID)
	}
}

func TestPagesBeside(t *testing.T) {
	t.Parallel()
	l := library(t)
	pages := l.Pages()
	for i, p := range pages {
		before, after := l.Around(p.Slug)
		if (before == nil) != (i == 0) || (after == nil) != (i == len(pages)-1) {
			t.Errorf("%s: before %v, after %v", p.Slug, before, after)
		}
	}
	if _, ok := l.Page("nothing"); ok {
		t.Error("there is a page that is not there")
	}
}

// programs are what tells, for the endings of files, that code can be read; the
// code's file stands behind.
var programs = map[string][]string{
	".go": {"go", "vet"}, ".sh": {"bash", "-n"}, ".mjs": {"node", "--check"},
	".py":  {"python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"},
	".php": {"php", "-l"}, ".rb": {"ruby", "-c"},
}

// Every whole file of code can be read by its language, where the machine has
// it.
func TestFilesOfCodeCanBeRead(t *testing.T) {
	t.Parallel()
	for _, p := range library(t).Pages() {
		for _, s := range samples(p) {
			for _, v := range s.Variants {
				program, ok := programs[filepath.Ext(v.File)]
				if !ok || v.Language == "go" && !strings.Contains(v.Text, "\npackage ") && !strings.HasPrefix(v.Text, "package ") {
					continue // Java is compiled where it is run, and some Go is a part of a file
				}
				t.Run(p.Slug+"/"+v.File, func(t *testing.T) {
					t.Parallel()
					if _, err := exec.LookPath(program[0]); err != nil {
						t.Skipf("it is not read: this machine has no %s", program[0])
					}
					file := filepath.Join(t.TempDir(), v.File)
					if err := os.WriteFile(file, []byte(v.Text), 0o600); err != nil {
						t.Fatal(err)
					}
					if out, err := exec.CommandContext(t.Context(), program[0], append(slices.Clone(program[1:]), file)...).CombinedOutput(); err != nil {
						t.Errorf("%v: %s", err, out)
					}
				})
			}
		}
	}
}
