package page_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

func TestMembersPage(t *testing.T) {
	t.Parallel()
	v := page.Members{Frame: framed(), Now: noon, Role: gateway.RoleAdmin, Leave: "/leave", Newest: "/first"}
	if d := drawn(t, page.MembersPage(v)); d.Find(".empty a[href='/first']").Length() != 1 || d.Find("#members, #invited").Length() != 0 {
		t.Error("a page behind the last member does not say so")
	}
	v.Rows = []page.MemberRow{
		{ID: "usr_1", Name: hostile, Email: hostile, Role: gateway.RoleOwner, You: true, JoinedAt: noon, SeenAt: new(noon)},
		{ID: "usr_2", Name: "Tom", Role: gateway.RoleViewer, JoinedAt: noon, SetRole: "/role", Remove: "/remove", HandOver: "/owner"},
	}
	v.Invited = []page.InvitedRow{
		{ID: "inv_1", For: hostile, By: hostile, Role: gateway.RoleViewer, EndsAt: noon.Add(time.Hour), Resend: "/resend", Revoke: "/revoke"},
		{ID: "inv_2", Role: gateway.RoleAdmin, EndsAt: noon, Over: true},
	}
	v.Invite, v.Link, v.MoreInvited, v.Closed = "/invite", "https://example.com/invite/x", true, true
	d := drawn(t, page.MembersPage(v))
	wantWords(t, d, "#usr_1", "(you)")
	wantWords(t, d, "#usr_2", "never")
	wantWords(t, d, "#inv_2", "Whoever has the link")
	wantWords(t, d, "#inv_2", "Expired")
	wantWords(t, d, "#fresh", "Whoever has it can join, once")
	if d.Find("#usr_1 a").Length() != 0 || d.Find("#usr_2 a[href='/role'], #usr_2 a[href='/remove'], #usr_2 a[href='/owner']").Length() != 3 {
		t.Error("what can be done with whom is wrong")
	}
	if d.Find("#inv_1 form[action='/resend'], #inv_1 a[href='/revoke']").Length() != 2 || d.Find("#inv_2 form").Length() != 0 || d.Find("#closed").Length() != 1 {
		t.Error("what can be done with invitations is wrong")
	}
	if d.Find("a[href='/invite']").Length() != 1 || d.Find("a[href='/leave']").Length() != 1 || strings.TrimSpace(d.Find(".tabs a[aria-current]").Text()) != "Members" {
		t.Error("nobody can be invited, or nobody leave, or the tab is not marked")
	}
}

// The table of roles says of every permission that people have who has it, in
// words, and of none that nobody has.
func TestRolesTable(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.MembersPage(page.Members{Frame: framed(), Role: gateway.RoleOperator}))
	var said []string
	for _, row := range d.Find("#roles tbody tr").EachIter() {
		words := strings.TrimSpace(row.Find("th").Text())
		if words == "" || slices.Contains(said, words) {
			t.Errorf("a permission is called %q", words)
		}
		said = append(said, words)
		var cells []string
		for _, cell := range row.Find("td .sr-only").EachIter() {
			cells = append(cells, cell.Text())
		}
		if len(cells) != len(gateway.Roles) || !slices.IsSorted(cells) || cells[len(cells)-1] != "yes" {
			t.Errorf("%s: %v, want no before yes, and yes for an owner", words, cells)
		}
	}
	if len(said) != len(gateway.Grants)-1 { // sending in is for keys
		t.Errorf("%d permissions: %v", len(said), said)
	}
	settings := drawn(t, page.SettingsPage(page.Settings{Frame: framed(), Role: gateway.RoleOperator}))
	if got := settings.Find("#role li").Length(); got != 2 {
		t.Errorf("an operator may do %d things", got)
	}
}

func TestMemberQuestions(t *testing.T) {
	t.Parallel()
	for owner, want := range map[bool]int{false: 3, true: 4} {
		d := drawn(t, page.InviteAsk(page.InviteForm{Path: "/m", Email: hostile, Chosen: "operator", Owner: owner, Closed: true, Errors: page.Errors{"email": "Wrong."}}))
		if d.Find("input[name='role']").Length() != want || d.Find("input[checked]").AttrOr("value", "") != "operator" || d.Find("#email-error").Length() != 1 {
			t.Errorf("owner %t: %s", owner, d.Text())
		}
	}
	d := drawn(t, page.RoleAsk(page.RoleForm{Name: hostile, Chosen: "admin", Errors: page.Errors{"role": "No."}}))
	if d.Find("input[checked]").AttrOr("value", "") != "admin" || d.Find("#role-error").Length() != 1 {
		t.Errorf("%s", d.Text())
	}
	d = drawn(t, page.HandOverAsk(page.HandOver{Account: hostile, Name: hostile, Errors: page.Errors{"password": "No."}}))
	if d.Find("input[type='password'][value]").Length() != 0 || d.Find("#password-error").Length() != 1 {
		t.Errorf("%s", d.Text())
	}
}

func TestJoinPage(t *testing.T) {
	t.Parallel()
	v := page.Join{Action: "/invite/x", Account: hostile, By: hostile, Role: gateway.RoleAdmin, For: "ada@example.com", LogIn: "/login?next=x"}
	v.Form = page.JoinForm{Name: hostile, Email: "ada@example.com", Errors: page.Errors{"password": "Too short."}}
	d := drawn(t, page.JoinPage(v))
	if d.Find("#join input").Length() != 3 || d.Find("#password-error").Length() != 1 || d.Find("a[href='/login?next=x']").Length() != 1 {
		t.Errorf("%s", d.Text())
	}
	v.Reader = "ada@example.com"
	if d := drawn(t, page.JoinPage(v)); d.Find("#join input").Length() != 0 || d.Find("#join button").Length() != 1 {
		t.Error("who is logged in is asked for more")
	}
	for _, why := range []page.JoinWhy{page.JoinUsed, page.JoinRevoked, page.JoinExpired, page.JoinOther, page.JoinMember, page.JoinClosed} {
		for _, reader := range []string{"", "eve@example.com"} {
			v.Why, v.Reader, v.Home, v.By = why, reader, "/a/acme", ""
			d := drawn(t, page.JoinPage(v))
			if len(d.Find("#why").Text()) < 40 || d.Find("#join").Length() != 0 || d.Find("main a.btn, main button").Length() != 1 {
				t.Errorf("%s for %q: %s", why, reader, d.Find("main").Text())
			}
		}
	}
}

// An operator is offered what keeps things going, and nothing else.
func TestOperatorsAreOfferedWhatTheyMayDo(t *testing.T) {
	t.Parallel()
	v := endpointView()
	v.Manages = false
	d := drawn(t, page.EndpointPage(v))
	for end, want := range map[string]bool{"/test": true, "/pause": true, "/edit": false, "/rotate": false, "/delete": false} {
		if got := d.Find("main a[href$='"+end+"']").Length() > 0; got != want {
			t.Errorf("%s is offered: %t", end, got)
		}
	}
	if d.Find("#secrets form, #secrets .actions").Length() != 0 {
		t.Error("secrets are offered")
	}
	s := page.Source{Frame: framed(), SourceHead: head("stripe", "Shop"), Now: noon, CreatedAt: noon, Operates: true}
	d = drawn(t, page.SourcePage(s))
	for end, want := range map[string]bool{"/pause": true, "/edit": false, "/rotate": false, "/delete": false, "/test": false} {
		if got := d.Find("main a[href$='"+end+"']").Length() > 0; got != want {
			t.Errorf("a source's %s is offered: %t", end, got)
		}
	}
}
