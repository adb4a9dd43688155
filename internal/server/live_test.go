package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// listener is an open stream of hints.
type listener struct {
	t     *testing.T
	lines chan string
}

// listen opens the stream of the browser's account, for a page that was drawn
// now.
func (w *browser) listen(t *testing.T) *listener {
	t.Helper()
	return w.listenAt(t, fmt.Sprintf("%s/stream?since=%d", w.home, w.clock.Now().UnixMicro()))
}

// listenAt opens the stream of a page.
func (w *browser) listenAt(t *testing.T, path string) *listener {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || kind != "text/event-stream" || answer.Header.Get("Content-Encoding") != "" {
		t.Fatalf("the stream answers %d, %s", answer.StatusCode, kind)
	}
	l := &listener{t, make(chan string, 64)}
	go l.read(answer.Body) // ends with the body, which the test closes
	l.next(": connected")
	return l
}

func (l *listener) read(body io.Reader) {
	defer close(l.lines)
	for lines := bufio.NewScanner(body); lines.Scan(); {
		if line := lines.Text(); line != "" {
			l.lines <- line
		}
	}
}

// next waits for a line that begins so, and returns what follows.
func (l *listener) next(prefix string) string {
	l.t.Helper()
	limit := time.After(waitLimit)
	for {
		select {
		case line, open := <-l.lines:
			if !open {
				l.t.Fatalf("the stream ended before %q", prefix)
			}
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return rest
			}
		case <-limit:
			l.t.Fatalf("no %q came", prefix)
		}
	}
}

// hint waits for the next hint.
func (l *listener) hint() (events, attempts int) {
	l.t.Helper()
	var h struct{ Events, Attempts int }
	if err := json.Unmarshal([]byte(l.next("data: ")), &h); err != nil {
		l.t.Fatal(err)
	}
	return h.Events, h.Attempts
}

// ledger waits for the next hint, and tells what it says of claims.
func (l *listener) ledger() (claims int, ledger uint32) {
	l.t.Helper()
	var h struct {
		Claims int
		Ledger uint32
	}
	if err := json.Unmarshal([]byte(l.next("data: ")), &h); err != nil {
		l.t.Fatal(err)
	}
	return h.Claims, h.Ledger
}

// operation waits for the next hint, and tells what it says of operations and the like.
func (l *listener) operation() (operation int64) {
	l.t.Helper()
	var h struct{ Operation int64 }
	if err := json.Unmarshal([]byte(l.next("data: ")), &h); err != nil {
		l.t.Fatal(err)
	}
	return h.Operation
}

// ends waits until the stream is over.
func (l *listener) ends() {
	l.t.Helper()
	limit := time.After(waitLimit)
	for {
		select {
		case _, open := <-l.lines:
			if !open {
				return
			}
		case <-limit:
			l.t.Fatal("the stream goes on")
		}
	}
}

func TestStreamHintsAtWhatIsNew(t *testing.T) {
	t.Parallel()
	var sending sender
	b := newBundle(t, withPages, sending.runs(t))
	w, other := b.signedUp(t, "Acme"), b.signedUp(t, "Other")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": answering(t, http.StatusOK)})
	l := w.listen(t)
	other.tenant().must(202, http.MethodPost, "/events", `{"type":"a.b","data":1}`) // somebody else's is no news
	event := n.must(202, http.MethodPost, "/events", `{"type":"a.b","data":1}`)
	if events, attempts := l.hint(); events != 1 || attempts != 0 {
		t.Errorf("after an event: %d events, %d attempts", events, attempts)
	}
	b.process(t, text(event, "id"))
	sending.wake(n)
	if events, attempts := l.hint(); events != 1 || attempts != 1 {
		t.Errorf("after an attempt: %d events, %d attempts", events, attempts)
	}
}

// A stream that is asked for as of a page that is older than its account's
// events tells of all that came since.
func TestStreamMissesNothingBetweenPageAndStream(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	p := w.get(w.home)
	since := p.Find("body").AttrOr("data-since", "")
	w.tenant().must(202, http.MethodPost, "/events", `{"type":"a.b","data":1}`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+p.Find("body").AttrOr("data-stream", "")+"?since="+url.QueryEscape(since), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	l := &listener{t, make(chan string, 64)}
	go l.read(answer.Body)
	if events, _ := l.hint(); events != 1 {
		t.Errorf("%d events", events)
	}
}

func TestStreamEndsWithTheSession(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	l := w.listen(t)
	w.post("/logout", url.Values{}).wantStatus(http.StatusSeeOther)
	l.ends()
}

// Who is shut out once the account asks for two-step log-in hears no more of it,
// and who has turned it on goes on.
func TestStreamEndsWhereTwoStepIsRequired(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	owner := b.signedUp(t, "Acme")
	owner.turnTwoStepOn()
	viewer := owner.newMemberAs(gateway.RoleViewer)
	stays, ends := owner.listen(t), viewer.listen(t)
	owner.follow(owner.submit(owner.get(owner.home+"/settings/members/two-step"), "form.dialog", nil)).wantToast("required from every member")
	ends.ends()
	stays.next(": still here")
}

func TestStreamEndsWhenTheServerStops(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	l := b.signedUp(t, "Acme").listen(t)
	b.server.Drain()
	l.ends()
}

func TestStreamIsOfTheAccountsMembers(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w, stranger := b.signedUp(t, "Acme"), b.signedUp(t, "Other")
	stranger.get(w.home + "/stream").wantStatus(http.StatusNotFound)
	if p := b.newBrowser(t).get(w.home + "/stream"); p.status != http.StatusSeeOther {
		t.Errorf("nobody gets %d", p.status)
	}
}
