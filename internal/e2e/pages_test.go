package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const (
	// firstVisit and laterVisit are how much a page may send, in bytes over the
	// network: the first with style sheet, scripts and fonts, the others without.
	firstVisit, laterVisit = 150_000, 30_000
	// hostile is text that nobody should see work: a script, a way out of an
	// attribute, a mark that turns text around, a very long word.
	hostile = "\"><script>document.documentElement.dataset.owned = 1</script><img src=x onerror=document.documentElement.dataset.owned=1>\u202e"
)

// Every page that can be reached by links, in both widths and themes, with data
// that is ordinary and data that is hostile.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	a := newPerson(t, n)
	b := newTab(t, n.url)
	b.refuseDialogs()
	b.logIn("owner@example.com")
	b.inspect(home(a))
	for _, empty := range []string{"events", "endpoints", "sources", "failures", "deliveries", "attempts", "operations", "claims", "facts", "event-types", "usage", "reconcile", "reconcile/new", "settings/keys", "audit", "audit?outcome=refused"} {
		b.inspect(home(a) + "/" + empty)
	}
	a.furnishPages(t, newReceiver(t, func() time.Duration { return 0 }))
	found := b.crawl(home(a))
	if len(found) < 60 {
		t.Errorf("links lead to %d kinds of page only: %s", len(found), strings.Join(found, " "))
	}
	half := len(found) / 2
	for name, paths := range map[string][]string{"first half": found[:half], "second half": found[half:]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := newTab(t, n.url)
			own.refuseDialogs()
			own.logIn("owner@example.com")
			own.inspect(paths...)
		})
	}
}

// newPerson makes an account whose owner can log in.
func newPerson(t testing.TB, n *node) *account {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "account", "create", "--name", "Acme "+hostile, "--email", "owner@example.com", "--password-stdin", "--json")
	cmd.Env, cmd.Stdin, cmd.SysProcAttr = n.environ, strings.NewReader(passphrase), childAttributes()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("make an account: %v", err)
	}
	a := &account{node: n}
	if err := json.Unmarshal(out, a); err != nil {
		t.Fatalf("account create printed %q: %v", out, err)
	}
	return a
}

// home is where an account's pages are.
func home(a *account) string { return "/a/" + a.ID }

// logIn logs in, and watches how much the first visit costs.
func (b *tab) logIn(email string) {
	b.t.Helper()
	b.bytes()
	b.open("/login")
	b.fill("#email", email)
	b.fill("#password", passphrase)
	b.press("Log in")
	b.await("the overview", `location.pathname.startsWith('/a/')`)
	if n := b.bytes(); n > firstVisit || n < laterVisit {
		b.t.Errorf("the first visit took %d bytes, want at most %d", n, firstVisit)
	}
}

// refuseDialogs fails the test when a page opens an alert.
func (b *tab) refuseDialogs() {
	b.t.Helper()
	call(b, page.Enable, page.EnableParams{})
	err := chromedp.Listen(b.ctx, func(event any) {
		if e, ok := event.(*page.EventJavascriptDialogOpening); ok {
			b.complain("alert: " + e.Message)
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// furnishPages gives every page something to show.
func (a *account) furnishPages(t testing.TB, r *receiver) {
	t.Helper()

	quoted, _ := json.Marshal(hostile) // a text always can
	long, _ := json.Marshal(strings.Repeat("x", 2000))
	for _, body := range []string{
		fmt.Sprintf(`{"url":%q,"description":%s,"secret":%q}`, r.url+everything+"?q=%22%3E%3Cscript%3E", quoted, r.secret),
		fmt.Sprintf(`{"url":"http://127.0.0.1:9/refused","description":%s,"retry_schedule":[]}`, long),
		`{"url":"https://nothing.invalid/hook","event_types":["never.*"]}`,
	} {
		want[endpointObject](t, a, http.StatusCreated, http.MethodPost, "/endpoints", body)
	}
	endpoints := list[endpointObject](t, a, "/endpoints", "")
	a.call(t, http.MethodPost, "/endpoints/"+endpoints[len(endpoints)-1].ID+"/test", []byte(`{}`))
	a.call(t, http.MethodPost, "/endpoints/"+endpoints[0].ID+"/pause", nil)
	a.call(t, http.MethodPost, "/endpoints/"+endpoints[0].ID+"/recover", []byte(`{"since":"2026-01-01T00:00:00Z","only":"missing"}`))
	stripe := want[sourceObject](t, a, http.StatusCreated, http.MethodPost, "/sources", fmt.Sprintf(`{"name":%s,"kind":"stripe","secret":%q}`, quoted, stripeSecret))
	none := want[sourceObject](t, a, http.StatusCreated, http.MethodPost, "/sources", `{"name":"open","kind":"none"}`)
	a.furnishFacts(t, none)
	a.ingest(t, stripe.IngestURL, hostile, http.StatusUnauthorized)
	for i := range 60 {
		want[struct{}](t, a, http.StatusAccepted, http.MethodPost, "/events",
			fmt.Sprintf(`{"type":"order.created","subject":%s,"key":"%s-%d","data":{"html":%s,"n":%d}}`, quoted, "key", i, quoted, i))
	}
	for i, state := range []string{"done", "live", "ended"} {
		lease := map[bool]string{true: "1s", false: "1h"}[state == "ended"]
		c := want[claimObject](t, a, http.StatusCreated, http.MethodPost, "/claims", fmt.Sprintf(`{"scope":"mails-%d","key":%s,"lease":%q,"holder":%s}`, i, quoted, lease, quoted))
		if state == "done" {
			want[claimObject](t, a, http.StatusOK, http.MethodPost, "/claims/"+c.ID+"/complete", fmt.Sprintf(`{"fence":1,"result":%s}`, quoted))
		}
	}
	waitFor(t, patience, "deliveries fail", func() bool {
		return len(list[deliveryObject](t, a, "/deliveries", "status=failed")) > 0
	})
	a.reconcilePages(t, endpoints[len(endpoints)-1].ID)
}

// furnishFacts declares a type that reaches an endpoint once, and has a source
// tell facts: two alike, one too late, and one that its rule cannot read.
func (a *account) furnishFacts(t testing.TB, s sourceObject) {
	t.Helper()
	quoted, _ := json.Marshal(hostile) // a text always can
	want[struct{}](t, a, http.StatusCreated, http.MethodPost, "/event-types",
		fmt.Sprintf(`{"name":"credit.checked","description":%s,"single_fire":true,"schema":{"type":"object","title":%s},"examples":[{"html":%s}]}`, quoted, quoted, quoted))
	for range 2 {
		want[struct{}](t, a, http.StatusAccepted, http.MethodPost, "/events", fmt.Sprintf(`{"type":"credit.checked","subject":%s,"data":{}}`, quoted))
	}
	want[struct{}](t, a, http.StatusOK, http.MethodPut, "/sources/"+s.ID+"/rule",
		`{"subject":"body.message","state":"body.status","emit":"\"message.\" + body.status","terminal":["delivered","failed"],"rank":["queued","delivered"]}`)
	for i, status := range []string{"delivered", "delivered", "queued"} {
		a.ingest(t, s.IngestURL, fmt.Sprintf(`{"n":%d,"message":%s,"status":%q}`, i, quoted, status), http.StatusOK)
	}
	a.ingest(t, s.IngestURL, hostile, http.StatusOK)
}

// reconcilePages has hostile lists compared: with the deliveries of an endpoint,
// and one that cannot be read.
func (a *account) reconcilePages(t testing.TB, endpoint string) {
	t.Helper()
	path := "/reconciliations?endpoint=" + endpoint + "&since=2026-01-01T00:00:00Z&name=" + url.QueryEscape(hostile) + "&match="
	list, _ := json.Marshal(hostile) // a text always can
	made := want[struct {
		ID string `json:"id"`
	}](t, a, http.StatusAccepted, http.MethodPost, path+"subject", string(list)+"\n"+string(list)+"\n{}\n")
	a.call(t, http.MethodPost, path+"key", []byte("["))
	waitFor(t, patience, "the list is compared", func() bool {
		_, answer := a.call(t, http.MethodGet, "/reconciliations/"+made.ID, nil)
		return strings.Contains(string(answer), `"done"`)
	})
}

// ingest sends a body to a source as somebody who signs nothing.
func (a *account) ingest(t testing.TB, ingestURL, body string, want int) {
	t.Helper()
	path := ingestURL[strings.Index(ingestURL, "/ingest/"):]
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.node.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Hostile", `"><script>document.documentElement.dataset.owned = 1</script>`)
	r.Header.Set("Stripe-Signature", `t=1,v1=<script>`)
	if status, answer := exchange(t, r); status != want {
		t.Fatalf("ingest: %d %s, want %d", status, answer, want)
	}
}

// idLike is what stands in an address for one of many alike.
var idLike = regexp.MustCompile(`\b[a-z]{2,4}_[0-9a-z]{26}\b`)

// crawl follows links from a page on, one of each kind and parameter, and
// returns the first page of each kind. No page may run what is hostile, and none
// may send too much.
func (b *tab) crawl(from string) (kinds []string) {
	b.t.Helper()
	b.look(looks[0][0])
	seen, visited := map[string]bool{}, map[string]bool{}
	isNew(seen, from)
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		path := queue[0]
		b.bytes()
		b.open(path)
		if kind := kindOf(path); !visited[kind] {
			visited[kind] = true
			kinds = append(kinds, path)
		}
		if n := b.bytes(); n > laterVisit {
			b.t.Errorf("%s sends %d bytes, want at most %d", path, n, laterVisit)
		}
		if eval[bool](b, `'owned' in document.documentElement.dataset`) {
			b.t.Errorf("%s ran what it should show", path)
		}
		for _, link := range eval[[]string](b, links) {
			if leadsOn(link) && isNew(seen, link) {
				queue = append(queue, link)
			}
		}
	}
	return kinds
}

// links are where a page's links lead, on this site.
const links = `[...new Set([...document.querySelectorAll('a[href]')]
	.map((a) => new URL(a.href.baseVal ?? a.href, location)).filter((u) => u.origin === location.origin).map((u) => u.pathname + u.search))]`

// isNew tells that a link leads to a page of a kind that was not seen yet, or
// gives one a parameter that it was not given yet, and notes both. Ids and the
// values of parameters make no kind.
func isNew(seen map[string]bool, link string) bool {
	_, query, _ := strings.Cut(link, "?")
	kinds := []string{kindOf(link)}
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		kinds = append(kinds, kinds[0]+"?"+name)
	}
	before := len(seen)
	for _, kind := range kinds {
		seen[kind] = true
	}
	return len(seen) > before
}

// kindOf is what pages have in common that differ in an id or a parameter.
func kindOf(link string) string {
	path, _, _ := strings.Cut(link, "?")
	if strings.HasPrefix(path, "/docs/") { // its pages are all of one kind, and looked at by TestDocumentationPages
		return "/docs/page"
	}
	return idLike.ReplaceAllString(path, "ID")
}

// leadsOn tells that a link leads to a page of ours for people: the API and the
// job queue have pages of their own, and what is downloaded is none.
func leadsOn(link string) bool {
	downloaded := slices.ContainsFunc([]string{"/raw", "/usage/csv", "/export", "/configuration/download"}, func(part string) bool { return strings.Contains(link, part) })
	return !downloaded && !strings.HasPrefix(link, "/api/") && !strings.HasPrefix(link, "/instance/jobs")
}
