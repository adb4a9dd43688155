package page_test

import (
	"fmt"
	"testing"

	"github.com/rowlock/rowlock/web/page"
)

func accountRows(n int) []page.AccountRow {
	rows := make([]page.AccountRow, n)
	for i := range rows {
		rows[i] = page.AccountRow{Name: fmt.Sprintf("Account %d", i), Path: fmt.Sprintf("/a/account-%d", i), Role: "Owner", CreatedAt: noon, Last: i == 0 && n > 1}
	}
	return rows
}

func TestAccountsPage(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 200} {
		d := drawn(t, page.AccountsPage(page.Accounts{Frame: framed(), Rows: accountRows(n), MayOpen: true, Now: noon}))
		wantNumber(t, d, "#accounts tbody tr", n)
		wantNumber(t, d, "main a[href='/accounts/new']", 1)
	}
	d := drawn(t, page.AccountsPage(page.Accounts{Frame: framed(), Now: noon}))
	wantWords(t, d, "main .empty", "Ask the owner of this instance")
	wantNumber(t, d, "main a[href='/accounts/new']", 0)
}

func TestNewAccountPage(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.NewAccountPage(page.NewAccount{Frame: framed(), Name: "  Acme  ", Errors: page.Errors{"name": "Too long."}}))
	wantInvalid(t, d, "name", "  Acme  ", "Too long.")
	d = drawn(t, page.NewAccountPage(page.NewAccount{Frame: framed(), Closed: true}))
	wantNumber(t, d, "main form", 0)
	wantWords(t, d, "#closed", "closed")
}
