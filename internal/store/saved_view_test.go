package store_test

import (
	"fmt"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// However many are saved at once, nobody has more than the limit, and what is
// there already can still be replaced.
func TestSavedViewsAreBounded(t *testing.T) {
	t.Parallel()
	const n = gateway.MaxSavedViews + 10
	b := newBundle(t)
	mara, tom := b.newMember(t, b.account, "mara", gateway.RoleViewer), b.newMember(t, b.account, "tom", gateway.RoleOwner)
	errs := b.wide(t, 8).atOnce(t.Context(), n, func(tx store.Tx, i int) error {
		return tx.SaveView(t.Context(), b.account, mara, gateway.SavedView{Name: fmt.Sprint(i), Query: "a=1"})
	})
	wantErrors(t, errs, gateway.MaxSavedViews, gateway.ErrLimitReached)
	views, err := b.SavedViews(t.Context(), b.account, mara)
	if err != nil || len(views) != gateway.MaxSavedViews {
		t.Fatalf("%d views, %v", len(views), err)
	}
	b.in(t, func(tx store.Tx) error {
		return tx.SaveView(t.Context(), b.account, mara, gateway.SavedView{Name: views[0].Name, Query: "a=2"})
	})
	b.in(t, func(tx store.Tx) error {
		return tx.SaveView(t.Context(), b.account, tom, gateway.SavedView{Name: "mine", Query: "a=3"})
	})
	if n := b.count(t, `SELECT count(*) FROM saved_views WHERE query = 'a=2'`); n != 1 {
		t.Errorf("%d were replaced, want 1", n)
	}
	b.exec(t, 1, `DELETE FROM members WHERE user_id = $1`, mara)
	if n := b.count(t, `SELECT count(*) FROM saved_views`); n != 1 {
		t.Errorf("%d views are left when their person leaves, want tom's", n)
	}
}
