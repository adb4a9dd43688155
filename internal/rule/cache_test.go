package rule

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func TestWants(t *testing.T) {
	t.Parallel()
	filters := NewFilters()
	for _, c := range []struct {
		patterns []string
		filter   string
		want     bool
		why      string
	}{
		{nil, ``, true, ""},
		{[]string{"order.*"}, ``, true, ""},
		{[]string{"refund.*"}, ``, false, ""},
		{[]string{"refund.*"}, `body.amount > 100`, false, ""},
		{[]string{"order.*"}, `body.amount > 100`, true, ""},
		{[]string{"order.*"}, `body.amount > 1000`, false, ""},
		{[]string{"order.*"}, `body.amout > 1000`, false, "no such key: amout"},
		{[]string{"order.*"}, `body.amount >`, false, "it cannot be compiled: line 1, column 14: something is missing at the end"},
	} {
		got, err := filters.Wants(t.Context(), c.patterns, c.filter, NewInput(sample))
		if got != c.want || reason(t, err) != c.why {
			t.Errorf("%v %s: %t, %v", c.patterns, c.filter, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ok, err := filters.Wants(ctx, nil, `body.items.all(i, true)`, NewInput(sample)); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("%t, %v", ok, err)
	}
}

func TestFiltersKeepWhatIsUsed(t *testing.T) {
	t.Parallel()
	filters := NewFilters()
	filters.most = 3
	filter := func(n int) *Filter {
		t.Helper()
		f, err := filters.Filter(fmt.Sprintf("body.n == %d", n))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := filter(1), filter(2)
	filter(3)
	if filter(1) != first { // now used later than the second
		t.Error("the first was compiled twice")
	}
	filter(4)
	if filter(1) != first {
		t.Error("the one in use was forgotten")
	}
	if filter(2) == second {
		t.Error("the one that was used least is still there")
	}
	if len(filters.all) != 3 || filters.used.Len() != 3 {
		t.Errorf("%d, %d are kept", len(filters.all), filters.used.Len())
	}
}

// BenchmarkFilters is an event of 2 KiB that so many endpoints with a filter
// ask for, as it is decided.
func BenchmarkFilters(b *testing.B) {
	body := `{"id":"evt_1","amount":250,"currency":"eur","customer":{"id":"cus_1","plan":"pro","tags":["a","b"]},"items":[` +
		strings.Repeat(`{"sku":"abc","price":"1.50","n":3,"meta":{"k":"v"}},`, 36) + `{"sku":"x"}]}`
	event := sent(body)
	for _, n := range []int{0, 1, 100} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			filters := NewFilters()
			b.ReportAllocs()
			for b.Loop() {
				in := NewInput(event)
				for i := range n {
					if _, err := filters.Wants(b.Context(), nil, "body.customer.plan == 'pro' && body.amount > "+strconv.Itoa(i), in); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
