package account_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestSavedViewsAreTheirPersonsOwn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.create(t, "Acme", "mara@example.com")
	mara, account, tom := made.UserID, made.AccountID, b.create(t, "Other", "tom@example.com").UserID
	for _, name := range []string{"Big payments", " Big payments ", "Other"} {
		if err := b.SaveView(t.Context(), account, mara, name, "type="+name[:1]); err != nil {
			t.Fatal(err)
		}
	}
	views, err := b.SavedViews(t.Context(), account, mara)
	if err != nil || len(views) != 2 || views[0].Name != "Big payments" || views[0].Query != "type= " || views[1].Name != "Other" {
		t.Errorf("%+v, %v; want two, the first replaced", views, err)
	}
	if views, err := b.SavedViews(t.Context(), account, tom); err != nil || len(views) != 0 {
		t.Errorf("somebody else sees %v, %v", views, err)
	}
	if err := b.SaveView(t.Context(), account, tom, "x", "type=a"); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("who is no member saves a view: %v", err)
	}
	if err := b.DeleteView(t.Context(), account, tom, "Other"); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("somebody else deletes it: %v", err)
	}
	for i, want := range []error{nil, gateway.ErrNotFound} {
		if err := b.DeleteView(t.Context(), account, mara, "Other"); !errors.Is(err, want) {
			t.Errorf("deleted %d times: %v, want %v", i+1, err, want)
		}
	}
}

func TestViewsThatAreNone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.create(t, "Acme", "mara@example.com")
	mara, account := made.UserID, made.AccountID
	for _, c := range []struct{ name, query, field string }{
		{"", "a=1", "name"},
		{"  ", "a=1", "name"},
		{strings.Repeat("x", 61), "a=1", "name"},
		{"a\x00b", "a=1", "name"},
		{"\xff", "a=1", "name"},
		{"x", "", "query"},
		{"x", "a=%zz", "query"},
		{"x", "a=" + strings.Repeat("x", 2048), "query"},
	} {
		err := b.SaveView(t.Context(), account, mara, c.name, c.query)
		wrong, ok := errors.AsType[*gateway.InvalidError](err)
		if !ok || wrong.Field != c.field {
			t.Errorf("%q %.20q: %v, want something wrong with %s", c.name, c.query, err, c.field)
		}
	}
	if err := b.DeleteView(t.Context(), account, mara, "a\x00"); !errors.Is(err, gateway.ErrNotFound) {
		t.Error(err)
	}
}
