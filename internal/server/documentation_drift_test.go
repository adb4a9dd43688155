package server_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source/settings"
)

// documentation is every page as it is served, by its address, in each language
// of its code.
func (w *browser) documentation() map[string]page {
	w.t.Helper()
	pages := map[string]page{}
	for _, link := range w.get("/docs").Find("main .doc-list a").EachIter() {
		to := link.AttrOr("href", "")
		pages[to] = w.get(to)
		for _, other := range pages[to].Find(".doc-code nav a").EachIter() {
			query, _, _ := strings.Cut(other.AttrOr("href", ""), "#")
			if _, seen := pages[to+query]; !seen {
				pages[to+query] = w.get(to + query)
			}
		}
	}
	if len(pages) < 12 {
		w.t.Fatalf("the documentation has %d pages only", len(pages))
	}
	return pages
}

// Every link of the documentation leads to a page, and to a place on it.
func TestDocumentationLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).newBrowser(t)
	known := map[string]page{}
	for at, p := range w.documentation() {
		for _, link := range p.Find("a[href]").EachIter() {
			to := link.AttrOr("href", "")
			path, anchor, _ := strings.Cut(to, "#")
			if path == "" || strings.HasPrefix(path, "?") {
				path, _, _ = strings.Cut(at, "?")
			}
			if strings.HasPrefix(path, "https://") {
				continue
			}
			target, seen := known[path]
			if !seen {
				target = w.get(path)
				known[path] = target
			}
			if target.status != http.StatusOK {
				t.Errorf("%s links to %s, which answers %d", at, to, target.status)
			}
			if anchor != "" && target.Find("[id='"+anchor+"']").Length() != 1 {
				t.Errorf("%s links to %s, and there is no such place", at, to)
			}
		}
	}
}

// clientVariables are what programs of users read, not the server.
var clientVariables = []string{"ROWLOCK_SERVER", "ROWLOCK_API_KEY", "ROWLOCK_SECRET"}

var (
	settingName = regexp.MustCompile(`\bROWLOCK_[A-Z_]*[A-Z]`)
	routeName   = regexp.MustCompile(`(?:\b(GET|POST|PUT|PATCH|DELETE) )?/api/v1(/[a-z{}_/-]*[a-z}])`)
	ownName     = regexp.MustCompile(`\browlock\.[a-z]+\.[a-z]+\b`)
	headerName  = regexp.MustCompile(`^(?:webhook|rowlock)-[a-z-]+$`)
	wordName    = regexp.MustCompile(`^[a-z]+(?:_[a-z]+)+$`)
)

// Every setting, route, header, own event, error code and word of the API that
// the documentation names is there in the product.
func TestDocumentationNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	names := b.vocabulary(t)
	for at, p := range b.newBrowser(t).documentation() {
		main := p.Find("main")
		for _, name := range settingName.FindAllString(main.Text(), -1) {
			if !names.settings[name] {
				t.Errorf("%s names the setting %s", at, name)
			}
		}
		for _, found := range routeName.FindAllStringSubmatch(main.Text(), -1) {
			if route := found[1] + normal(found[2]); !names.routes[route] {
				t.Errorf("%s names the route %s", at, found[0])
			}
		}
		for _, name := range ownName.FindAllString(main.Text(), -1) {
			if !names.own[name] {
				t.Errorf("%s names the event %s", at, name)
			}
		}
		for _, code := range main.Find("p code, li code, td code").EachIter() {
			names.check(t, at, code)
		}
	}
}

// vocabulary is what the product calls things.
type vocabulary struct {
	settings, routes, own, headers map[string]bool
	codes                          map[string]int
	// words are those that stand in no document: settings of sources, kinds, and
	// states of lifecycles.
	words []string
	// document is the OpenAPI document, in which every word of the API stands.
	document string
}

func (b *bundle) vocabulary(t *testing.T) vocabulary {
	t.Helper()
	v := vocabulary{
		settings: map[string]bool{}, routes: map[string]bool{}, own: map[string]bool{}, codes: map[string]int{},
		headers: deliveredHeaders, words: slices.Concat(settings.Names(), signature.Kinds()),
		document: string(b.send(t, http.MethodGet, b.url+"/api/openapi.json", nil).text),
	}
	for _, s := range config.Variables() {
		v.settings[s.Name] = true
	}
	for _, name := range clientVariables {
		v.settings[name] = true
	}
	for _, o := range b.operations(t) {
		v.routes[o.method+normal(o.path)], v.routes[normal(o.path)] = true, true
	}
	for _, l := range rule.Lifecycles() {
		v.words = slices.Concat(v.words, l.Rule.Rank, l.Rule.Terminal)
	}
	for name := range b.document(t)["webhooks"].(object) {
		v.own[name] = true
	}
	for _, m := range problem.Meanings {
		v.codes[string(m.Code)] = m.Status
	}
	return v
}

// deliveredHeaders are those of a delivery that are Rowlock's or the standard's.
var deliveredHeaders = map[string]bool{
	"webhook-id": true, "webhook-timestamp": true, "webhook-signature": true,
	"rowlock-event-type": true, "rowlock-attempt": true, "rowlock-fence": true,
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// normal is a path without the names of its parameters.
func normal(path string) string { return parameter.ReplaceAllString(path, "{}") }

// check looks a word up that is written as machines write it.
func (v vocabulary) check(t *testing.T, at string, code *goquery.Selection) {
	t.Helper()
	word := code.Text()
	switch status, isCode := v.codes[word]; {
	case headerName.MatchString(word) && !v.headers[word]:
		t.Errorf("%s names the header %s", at, word)
	case isCode:
		if said := statusBefore(code); said != 0 && said != status {
			t.Errorf("%s says that %s comes with %d; it comes with %d", at, word, said, status)
		}
	case strings.HasPrefix(word, "rowlock_"): // a metric: internal/app compares them with what is shown
	case wordName.MatchString(word) && !strings.Contains(v.document, `"`+word+`"`) && !slices.Contains(v.words, word):
		t.Errorf("%s names %s, which the API does not know", at, word)
	}
}

var statusAtEnd = regexp.MustCompile(`([1-5][0-9]{2})\s*$`)

// statusBefore is the status that stands directly before a code; 0 for none.
func statusBefore(code *goquery.Selection) int {
	var before string
	parent := code.Parent()
	for _, n := range parent.Contents().EachIter() {
		if n.Get(0) == code.Get(0) {
			break
		}
		before += n.Text()
	}
	found := statusAtEnd.FindStringSubmatch(before)
	if found == nil {
		return 0
	}
	status, _ := strconv.Atoi(found[1]) // it is three digits
	return status
}

// What comes in a list of words is told word by word.
func TestDocumentationForgetsNothing(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).newBrowser(t)
	for at, words := range map[string][]string{
		"/docs/concepts":  slices.Concat(asTexts(gateway.EventStatuses), asTexts(gateway.DeliveryStatuses), asTexts(gateway.Outcomes)),
		"/docs/reconcile": slices.Concat(asTexts(gateway.RowResults), asTexts(gateway.MissingReasons), asTexts(gateway.MatchesBy)),
		"/docs/facts":     {"key", "type", "subject", "state", "emit", "terminal", "rank", "repeats", "requires_existing", "resend", "hold"},
		"/docs/retries": {
			gateway.TypeEndpointFailing, gateway.TypeEndpointDisabled, gateway.TypeDeliveryFailed, gateway.TypeDeliveryExpired, gateway.TypeClaimDoubtful, gateway.TypeOperationDone,
		},
		"/docs/api":       asTexts(gateway.Scopes),
		"/docs/providers": signature.Kinds(),
		"/docs/operating": settingNames(),
	} {
		var told []string
		for _, code := range w.get(at).Find("main td code, main p code").EachIter() {
			told = append(told, code.Text())
		}
		for _, word := range words {
			if !slices.Contains(told, word) {
				t.Errorf("%s does not tell of %s", at, word)
			}
		}
	}
}

func settingNames() (names []string) {
	for _, s := range config.Variables() {
		names = append(names, s.Name)
	}
	return names
}

// What is said of a delivery's headers is what a receiver gets.
func TestDocumentedHeadersAreSent(t *testing.T) {
	t.Parallel()
	n := newBundle(t).newTenant(t)
	got := make(chan http.Header, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	t.Cleanup(receiver.Close)
	made := n.must(http.StatusCreated, http.MethodPost, "/endpoints", object{"url": receiver.URL})
	n.must(http.StatusOK, http.MethodPost, "/endpoints/"+text(made, "id")+"/test", nil)
	sent := map[string]bool{"rowlock-fence": true} // of single-fire types alone
	for name := range <-got {
		if name = strings.ToLower(name); headerName.MatchString(name) {
			sent[name] = true
		}
	}
	if !maps.Equal(sent, deliveredHeaders) {
		t.Errorf("a receiver gets %v, and is told of %v", sent, deliveredHeaders)
	}
}
