package e2e

import (
	"fmt"
	"net/http"
	"testing"
)

// claimObject is a claim as the API tells it.
type claimObject struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Fence int    `json:"fence"`
}

// claim asks for a key, which must be free.
func (a *account) claim(t testing.TB, key, lease string) claimObject {
	t.Helper()
	return want[claimObject](t, a, http.StatusCreated, http.MethodPost, "/claims", fmt.Sprintf(`{"scope":"mails","key":%q,"lease":%q,"holder":"mailer-1"}`, key, lease))
}

// A claim whose holder died is seen when its lease has ended, without anybody
// pressing anything; Reclaim frees it, and the next who asks gets it. A live one
// is freed by who has typed the word.
func TestReclaimInABrowser(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	a := newPerson(t, n)
	b := newTab(t, n.url)
	b.logIn("owner@example.com")
	b.open(home(a) + "/claims?state=lease_ended")
	b.awaitText("Nothing was claimed yet")
	died := a.claim(t, "cus_1001", "3s")
	b.await("its end is seen", fmt.Sprintf(`!!document.querySelector('#state-%s [data-s=lease_ended]')`, died.ID))
	b.await("the tab counts it", `document.querySelector('.tabs [data-tone=warn]')?.innerText === '1'`)
	b.open(home(a) + "/claims?state=lease_ended")
	if eval[string](b, `document.querySelector('.nav-count').innerText.trim()`) != "1" {
		t.Error("the navigation does not count it")
	}
	b.press("Reclaim…")
	b.awaitText("Reclaim “cus_1001”?")
	b.fill("#reason", "the mailer was killed")
	b.press("Reclaim")
	b.await("the claim's page", `location.pathname.endsWith('`+died.ID+`') && document.querySelector('h1 .badge').innerText.includes('Released')`)
	b.awaitText("“the mailer was killed”")
	if next := a.claim(t, "cus_1001", "1h"); next.Fence != died.Fence+1 || next.ID != died.ID {
		t.Errorf("claimed again: %+v", next)
	}
	b.await("the page tells of its holder", `document.querySelector('h1 .badge').innerText.includes('In progress')`)
	b.press("Reclaim…")
	b.awaitText("may be at work at this moment")
	b.fill("#reason", "it must be done now")
	b.fill("#word", "reclaim")
	b.press("Reclaim")
	b.await("it is free", `location.pathname.endsWith('`+died.ID+`') && document.querySelector('h1 .badge').innerText.includes('Released')`)
	if next := a.claim(t, "cus_1001", "1h"); next.Fence != died.Fence+2 {
		t.Errorf("claimed again: %+v", next)
	}
}
