package docs

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

const (
	// maxResults is how many places a search shows; whoever needs more has
	// asked for too little.
	maxResults = 20
	// maxTerms bounds the work for one search.
	maxTerms = 12
	// excerptBefore and excerptLength are in bytes.
	excerptBefore, excerptLength = 60, 200
)

// How much a word counts, by where it stands. In running text it counts each
// time, up to maxRepeats.
const (
	inTitle, inHeading, inText, inCode = 2.0, 10.0, 1.0, 0.5
	maxRepeats                         = 4
	// wholeWord is how much more a whole word counts than the beginning of one,
	// and phrase what the words count that stand together as they were asked for.
	wholeWord, phrase = 2.0, 6.0
)

// section is what stands below one heading.
type section struct {
	page          *Page
	id, heading   string
	text, code    strings.Builder
	titleWords    []string
	headingWords  []string
	words, coding []string
}

// begin starts a section.
func (r *pageReader) begin(id, heading string) {
	r.page.sections = append(r.page.sections, section{page: r.page, id: id, heading: heading})
}

// note keeps what a node says for the search.
func (r *pageReader) note(n ast.Node) {
	s := &r.page.sections[len(r.page.sections)-1]
	s.text.WriteString(plainText(n, r.source) + " ")
}

func (r *pageReader) noteCode(code string) {
	s := &r.page.sections[len(r.page.sections)-1]
	s.code.WriteString(code + "\n")
}

// Result is a place that a search found.
type Result struct {
	// Page is the title of its page, Heading that of its section; Heading is
	// empty for what stands above the first.
	Page, Heading string
	// Address is where it is.
	Address string
	// Excerpt is some of its text.
	Excerpt []Piece
}

// Piece is a part of an excerpt.
type Piece struct {
	Text string
	// Hit tells that it was asked for.
	Hit bool
}

// Search finds the sections that have every word of a query, each whole or at
// the beginning of a word there, the best first.
func (l *Library) Search(query string) []Result {
	terms := termsOf(query)
	if len(terms) == 0 {
		return nil
	}
	weights := l.rarity(terms)
	type hit struct {
		*section
		score float64
	}
	var hits []hit
	for s := range l.sections() {
		if score := s.score(terms, weights, strings.ToLower(strings.TrimSpace(query))); score > 0 {
			hits = append(hits, hit{s, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	results := make([]Result, 0, min(len(hits), maxResults))
	for _, h := range hits[:min(len(hits), maxResults)] {
		results = append(results, h.result(terms))
	}
	return results
}

// sections are those of every page.
func (l *Library) sections() func(yield func(*section) bool) {
	return func(yield func(*section) bool) {
		for _, p := range l.pages {
			for i := range p.sections {
				if !yield(&p.sections[i]) {
					return
				}
			}
		}
	}
}

// rarity is how much each term tells: one that stands everywhere tells little.
func (l *Library) rarity(terms []term) []float64 {
	weights := make([]float64, len(terms))
	for i, t := range terms {
		all, with := 0, 0
		for s := range l.sections() {
			all++
			if s.count(t) > 0 {
				with++
			}
		}
		weights[i] = math.Log(1 + float64(all)/float64(1+with))
	}
	return weights
}

// index is made when all of a page was read.
func (p *Page) index() {
	for i := range p.sections {
		s := &p.sections[i]
		s.titleWords, s.headingWords = wordsOf(p.Title), wordsOf(s.heading)
		s.words, s.coding = wordsOf(s.text.String()), wordsOf(s.code.String())
	}
}

// count is what a term counts in a section; 0 when it is not there.
func (s *section) count(t term) float64 {
	heading := most(s.headingWords, t) * inHeading
	if s.heading == "" { // what stands above the first is found by the page's title
		heading = most(s.titleWords, t) * inHeading
	}
	return heading + most(s.titleWords, t)*inTitle + total(s.words, t)*inText + total(s.coding, t)*inCode
}

// score is how well a section fits; 0 when a term is missing.
func (s *section) score(terms []term, weights []float64, asked string) (score float64) {
	for i, t := range terms {
		n := s.count(t)
		if n == 0 {
			return 0
		}
		score += n * weights[i]
	}
	if len(terms) > 1 && strings.Contains(strings.ToLower(s.heading+" "+s.text.String()), asked) {
		score += phrase
	}
	return score
}

// term is a word that is looked for.
type term struct {
	word string
	// stem is what other forms of the word begin with too; the word itself
	// where it is short.
	stem string
}

// termsOf are the words of a query. Those that stand in every text count only
// if there are no others.
func termsOf(query string) (terms []term) {
	words := wordsOf(query)
	telling := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return strings.Contains(everywhere, " "+word+" ") })
	if len(telling) == 0 {
		telling = words
	}
	for _, word := range telling[:min(len(telling), maxTerms)] {
		terms = append(terms, term{word, stemOf(word)})
	}
	return terms
}

// everywhere are words that tell nothing of what is looked for.
const everywhere = " a an and are do does for how i in is it my of on or the to what when with "

// stemOf cuts an ending off: choose and choosing begin alike.
func stemOf(word string) string {
	for _, ending := range []string{"ing", "ed", "es", "s", "e"} {
		if stem, ok := strings.CutSuffix(word, ending); ok && len(stem) > 3 {
			return stem
		}
	}
	return word
}

// shortTerm is up to which length, in bytes, a term has to be the whole word.
const shortTerm = 2

// fit is how well a word fits a term: not at all, as its beginning, or wholly.
func fit(word string, t term) float64 {
	switch {
	case word == t.word:
		return wholeWord
	case len(t.word) > shortTerm && strings.HasPrefix(word, t.stem):
		return 1
	default:
		return 0
	}
}

func most(words []string, t term) (best float64) {
	for _, word := range words {
		best = max(best, fit(word, t))
	}
	return best
}

func total(words []string, t term) (sum float64) {
	for _, word := range words {
		sum += fit(word, t)
	}
	return min(sum, maxRepeats*wholeWord)
}

// wordsOf splits a text into words, in lower case: webhook-id and on_doubt are
// two each.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func (s *section) result(terms []term) Result {
	address := s.page.Address()
	if s.id != "" {
		address += "#" + s.id
	}
	return Result{Page: s.page.Title, Heading: s.heading, Address: address, Excerpt: excerpt(s.text.String(), terms)}
}

// excerpt is a text around the first word that was asked for, in pieces.
func excerpt(text string, terms []term) (pieces []Piece) {
	text = around(text, terms)
	for text != "" {
		word, rest := nextWord(text)
		hit := slices.ContainsFunc(terms, func(t term) bool { return fit(strings.ToLower(word), t) > 0 })
		if n := len(pieces); n > 0 && pieces[n-1].Hit == hit {
			pieces[n-1].Text += word
		} else {
			pieces = append(pieces, Piece{word, hit})
		}
		text = rest
	}
	return pieces
}

// nextWord cuts the first word off a text, or what stands before it.
func nextWord(text string) (word, rest string) {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	first, _ := utf8.DecodeRuneInString(text)
	end := strings.IndexFunc(text, func(r rune) bool { return inWord(r) != inWord(first) })
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// around cuts a text to where the first of the terms stands.
func around(text string, terms []term) string {
	text = strings.TrimSpace(text)
	at := 0
	for left := text; left != ""; {
		word, rest := nextWord(left)
		if slices.ContainsFunc(terms, func(t term) bool { return fit(strings.ToLower(word), t) > 0 }) {
			at = len(text) - len(left)
			break
		}
		left = rest
	}
	start, dots := 0, ""
	if at > excerptBefore {
		start, dots = at-excerptBefore+strings.IndexByte(text[at-excerptBefore:at]+" ", ' ')+1, "… "
	}
	start = min(start, at)
	end := len(text)
	if end > start+excerptLength {
		end = start + strings.LastIndexByte(text[start:start+excerptLength], ' ')
		return dots + text[start:end] + " …"
	}
	return dots + text[start:end]
}

// Title is the section's heading behind its page's title.
func (r Result) Title() string {
	if r.Heading == "" {
		return r.Page
	}
	return r.Page + " › " + r.Heading
}
