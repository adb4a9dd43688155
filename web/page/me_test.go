package page_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rowlock/rowlock/web/page"
)

func TestProfilePage(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.ProfilePage(page.Profile{Frame: framed(), Name: "x", Email: "mara@example.com", Errors: page.Errors{"name": "Enter a name."}}))
	wantInvalid(t, d, "name", "x", "Enter a name.")
	wantNumber(t, d, "main [aria-current=page]", 1)
	if _, disabled := d.Find("#email").Attr("disabled"); !disabled {
		t.Error("the address can be edited")
	}
}

// sessions are this one and n others.
func sessions(n int) []page.SessionRow {
	rows := []page.SessionRow{{Device: "Firefox on macOS", Address: "192.0.2.1", SeenAt: noon, StartedAt: noon, This: true, EndAction: "/me/security/sessions/this/end"}}
	for i := range n {
		rows = append(rows, page.SessionRow{
			Device: "Safari on iPhone", Phone: true, Address: "2001:db8::1", SeenAt: noon.Add(-time.Hour), StartedAt: noon.Add(-time.Hour),
			EndAction: fmt.Sprintf("/me/security/sessions/%d/end", i),
		})
	}
	return rows
}

func TestSecurityPage(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 200} {
		d := drawn(t, page.SecurityPage(page.Security{Frame: framed(), Sessions: sessions(n), Now: noon}))
		wantNumber(t, d, "#sessions tbody tr", n+1)
		wantNumber(t, d, "#sessions form", n) // this one ends by logging out
		wantNumber(t, d, "main a[href='/me/security/others']", min(n, 1))
	}
}

// A password is never shown again, whatever was wrong.
func TestSecurityPageTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.SecurityPage(page.Security{Frame: framed(), Sessions: sessions(0), Now: noon, Errors: page.Errors{"current": "Not it.", "password": "Too short."}}))
	wantInvalid(t, d, "current", "", "Not it.")
	wantInvalid(t, d, "password", "", "Too short.")
}

func TestEndOthersQuestion(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.EndOthersQuestion(page.EndOthers{Others: 3, Heading: true}))
	wantWords(t, d, "form[method=post] button[type=submit]", "End 3 sessions")
}

func TestAppearancePage(t *testing.T) {
	t.Parallel()
	for _, theme := range []string{"system", "light", "dark"} {
		for _, keys := range []bool{true, false} {
			d := drawn(t, page.AppearancePage(page.Appearance{Frame: framed(), Chosen: theme, Keys: keys}))
			if got := d.Find("main [name=theme][checked]").AttrOr("value", ""); got != theme {
				t.Errorf("%s is shown as %q", theme, got)
			}
			if _, got := d.Find("main [name=keys]").Attr("checked"); got != keys {
				t.Errorf("keys are %v, shown as %v", keys, got)
			}
		}
	}
}
