package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/store"
)

func TestLanesPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner, other := b.signedUp(t, "Acme"), b.signedUp(t, "Other")
	p := owner.get("/instance/lanes")
	p.wantText("#attention", "Nobody sends.")
	p.wantText("#attention", "rowlock serve --roles worker")
	if p.Find(".empty").Length() != 3 {
		t.Errorf("an idle instance shows %q", wordsOf(p))
	}
	if _, err := b.store.Beat(t.Context(), store.Node{Name: "node-1", Roles: "web,worker", Version: "v9"}); err != nil {
		t.Fatal(err)
	}
	n, w := other.tenant(), owner.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "e", "description": "Theirs <script>"})
	e := w.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "e"})
	for _, tenant := range []*tenant{n, w} {
		owner.process(t, tenant.publish(`{"type":"order.created","data":1}`))
		tenant.must(200, http.MethodPost, "/endpoints/e/resume", nil) // sets the alarm
	}
	p = owner.get("/instance/lanes")
	p.wantText("#attention", "Nothing is stuck.")
	rows := p.Find("#lanes tbody tr")
	if rows.Length() != 2 || p.Find("#lanes a").Length() != 1 || p.Find("#lanes a[href='"+owner.home+"/endpoints/"+text(e, "id")+"']").Length() != 1 {
		t.Errorf("lanes: %q", p.Find("#lanes").Text())
	}
	if nodes := p.Find("#nodes tbody tr").Text(); !strings.Contains(nodes, "node-1") || !strings.Contains(nodes, "web,worker") || !strings.Contains(nodes, "v9") {
		t.Errorf("nodes: %q", nodes)
	}
	if jobs := p.Find("#jobs tbody tr").Text(); !strings.Contains(jobs, "deliver") {
		t.Errorf("jobs: %q", jobs)
	}
	// Without a console, nothing leads to one.
	if p.Find("a[href^='/instance/jobs']").Length() != 0 {
		t.Error("there is a link to a console that is not there")
	}
	p = owner.follow(owner.submit(p, "#"+text(e, "id")+" form", nil))
	p.wantToast("Woken.")
	if log := owner.audited(w.account, text(e, "id")); len(log) == 0 || log[len(log)-1] != "endpoint.wake" {
		t.Errorf("the audit log says %q", log)
	}
	owner.follow(owner.post("/instance/lanes/"+text(e, "id")+"/wake", url.Values{"account": {n.account.String()}})).wantToast("this endpoint is gone")
	owner.follow(owner.post("/instance/lanes/"+text(e, "id")+"/wake", url.Values{"account": {"<b>"}})).wantToast("this endpoint is gone")
	owner.post("/instance/lanes/nonsense/wake", url.Values{}).wantStatus(http.StatusNotFound)
}

// console stands for the queue's own.
func console(d *server.Deps) {
	d.Jobs = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("console: " + r.Method + " " + r.URL.Path))
	})
}

// The console is the owner's alone, on each of its paths and by each method,
// and takes no writes from other sites.
func TestJobConsole(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages, console)
	owner, other, nobody := b.signedUp(t, "Acme"), b.signedUp(t, "Other"), b.newBrowser(t)
	if owner.get("/instance/lanes").Find("a[href='/instance/jobs/']").Length() != 1 {
		t.Error("nothing leads to the console")
	}
	for _, path := range []string{"/instance/jobs", "/instance/jobs/", "/instance/jobs/api/states", "/instance/jobs/assets/x.js"} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			p := owner.send(method, path, url.Values{}, nil)
			p.wantStatus(http.StatusOK)
			if p.text != "console: "+method+" "+path {
				t.Errorf("%s %s answers %q", method, path, p.text)
			}
			if p := other.send(method, path, url.Values{}, nil); p.status != http.StatusNotFound || strings.Contains(p.text, "console:") {
				t.Errorf("%s %s shows another %d", method, path, p.status)
			}
			if p := nobody.send(method, path, url.Values{}, nil); p.status != http.StatusSeeOther || strings.Contains(p.text, "console:") {
				t.Errorf("%s %s shows nobody %d", method, path, p.status)
			}
			elsewhere := map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"}
			if p := owner.send(method, path, url.Values{}, elsewhere); method != http.MethodGet && p.status != http.StatusForbidden {
				t.Errorf("%s %s from another site: %d", method, path, p.status)
			}
		}
	}
	// Inline style is let through there and nowhere else.
	for path, want := range map[string]bool{"/instance/jobs/": true, "/instance/lanes": false, "/instance/mail": false, "/instance/jobsx": false, "/": false} {
		policy := owner.get(path).header.Get("Content-Security-Policy")
		if got := strings.Contains(policy, "'unsafe-inline'"); got != want || !strings.Contains(policy, "script-src 'self';") || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: %q", path, policy)
		}
	}
	if got := owner.get("/instance/jobs/").header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("the console may be kept: %q", got)
	}
}

// Where there is no console there are no routes of one.
func TestNoJobConsole(t *testing.T) {
	t.Parallel()
	owner := newBundle(t, withPages).signedUp(t, "Acme")
	owner.get("/instance/jobs/").wantStatus(http.StatusNotFound)
}
