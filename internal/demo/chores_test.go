package demo

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The partner's list lacks the last of what is settled, has the first twice, and one
// that nobody knows; it waits until there is enough.
func TestPartnersList(t *testing.T) {
	t.Parallel()
	d := &demo{}
	begun := time.Now()
	if list, _, _ := d.partnersList(begun); list != nil {
		t.Errorf("of nothing: %s", list)
	}
	for n := range 10 {
		d.note("order.created", fmt.Sprint("o", n))
	}
	d.note("user.created", "u")
	list, since, until := d.partnersList(time.Now())
	want := "key,type\n"
	for n := range 10 - leftOut {
		want += fmt.Sprintf("o%d,order.created\n", n)
	}
	want += "o0,order.created\norder-9999-created,order.created\n"
	if string(list) != want || since.After(begun) || !until.After(since) {
		t.Errorf("from %s to %s:\n%s", since, until, list)
	}
	for n := range 2 * noted {
		d.note("invoice.paid", fmt.Sprint("i", n))
	}
	if list, _, _ := d.partnersList(time.Now()); strings.Count(string(list), "\n") != noted-leftOut+3 {
		t.Errorf("%d lines", strings.Count(string(list), "\n"))
	}
}
