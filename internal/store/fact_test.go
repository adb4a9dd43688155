package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// tells makes a report of a state under a rule.
func (b bundle) tells(source gateway.SourceID, subject, state string, rule gateway.Rule) store.Report {
	return store.Report{
		Report: rule.Report(state), AccountID: b.account, SourceID: source, Subject: subject,
		EventID: gateway.EventID(b.clock.NewID()), FactID: gateway.FactID(b.clock.NewID()),
	}
}

// tell tells reports in a transaction of its own.
func (b bundle) tell(t *testing.T, reports ...store.Report) (told []store.Reported) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		told, err = tx.TellFacts(t.Context(), reports)
		return err
	})
	return told
}

func statuses(told []store.Reported) (all []gateway.EventStatus) {
	for _, r := range told {
		all = append(all, r.Status)
	}
	return all
}

// Whatever is told, in one transaction or in several, the guard says what
// gateway.Fact.Judge says of the fact as it stands, and the fact becomes what it
// then says.
func TestTellFactsAsJudged(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	rules := []gateway.Rule{
		{Terminal: []string{"d", "e"}},
		{Terminal: []string{"e"}, Rank: []string{"a", "b", "c"}},
		{Repeats: true, Rank: []string{"c", "b"}},
		{},
	}
	var sources []gateway.SourceID
	for range rules {
		sources = append(sources, b.newSource(t).ID)
	}
	facts := map[string]*gateway.Fact{}
	for range 60 {
		var reports []store.Report
		var want []gateway.EventStatus
		for range rand.IntN(8) + 1 {
			of := rand.IntN(len(rules))
			r := b.tells(sources[of], fmt.Sprint("s", rand.IntN(4)), string('a'+rune(rand.IntN(5))), rules[of])
			key := fmt.Sprint(of, r.Subject)
			verdict := facts[key].Judge(r.Report)
			if verdict == gateway.EventProcessed {
				facts[key] = toldNow(facts[key], &r)
			}
			reports, want = append(reports, r), append(want, verdict)
		}
		told := b.tell(t, reports...)
		if diff := cmp.Diff(want, statuses(told)); diff != "" {
			t.Fatalf("%v: %s", reports, diff)
		}
	}
	for _, f := range facts {
		got, err := b.FactOf(t.Context(), b.account, f.SourceID, f.Subject)
		f.CreatedAt, f.UpdatedAt = got.CreatedAt, got.UpdatedAt
		if diff := cmp.Diff(*f, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
}

// toldNow is what a fact becomes.
func toldNow(f *gateway.Fact, r *store.Report) *gateway.Fact {
	now := gateway.Fact{
		ID: r.FactID, AccountID: r.AccountID, SourceID: r.SourceID, Subject: r.Subject,
		State: r.State, Rank: r.Rank, Terminal: r.Terminal, Seen: []string{r.State}, EventID: r.EventID,
	}
	if f != nil {
		now.ID, now.Seen = f.ID, f.Seen
		if !slices.Contains(f.Seen, r.State) {
			now.Seen = append(slices.Clone(f.Seen), r.State)
		}
	}
	return &now
}

// The same reports again tell nothing, and say why.
func TestTellFactsTwice(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	rule := gateway.Rule{Terminal: []string{"delivered", "failed"}}
	first := b.tells(source, "m1", "delivered", rule)
	again, late, other := b.tells(source, "m1", "delivered", rule), b.tells(source, "m1", "failed", rule), b.tells(source, "m2", "failed", rule)
	told := b.tell(t, first, again, late, other)
	want := []gateway.EventStatus{gateway.EventProcessed, gateway.EventDuplicateFact, gateway.EventStaleFact, gateway.EventProcessed}
	if diff := cmp.Diff(want, statuses(told)); diff != "" {
		t.Error(diff)
	}
	if f := told[2].Fact; f.ID != first.FactID || f.State != "delivered" || f.EventID != first.EventID || !f.Terminal || f.Subject != "m1" {
		t.Errorf("what stands against it is %+v", f)
	}
	told = b.tell(t, late, again)
	if diff := cmp.Diff([]gateway.EventStatus{gateway.EventStaleFact, gateway.EventDuplicateFact}, statuses(told)); diff != "" {
		t.Error(diff)
	}
	if none := b.tell(t); len(none) != 0 {
		t.Errorf("of no reports %v were told", none)
	}
}

// Many at once, each with the same subjects in an order of its own, tell each
// fact once, and never wait for each other in a circle.
func TestTellFactsAtOnce(t *testing.T) {
	t.Parallel()
	const n, subjects = 20, 10
	b := newBundle(t)
	sources := []gateway.SourceID{b.newSource(t).ID, b.newSource(t).ID}
	rule := gateway.Rule{Terminal: []string{"delivered", "failed"}}
	won := make([]int, n)
	errs := b.wide(t, n).atOnce(t.Context(), n, func(tx store.Tx, i int) error {
		var reports []store.Report
		for _, s := range rand.Perm(subjects) {
			for _, source := range sources {
				reports = append(reports, b.tells(source, fmt.Sprint(s), rule.Terminal[i%2], rule), b.tells(source, fmt.Sprint(s), rule.Terminal[(i+1)%2], rule))
			}
		}
		told, err := tx.TellFacts(t.Context(), reports)
		for _, r := range told {
			if r.Status == gateway.EventProcessed {
				won[i]++
			}
		}
		return err
	})
	wantErrors(t, errs, n, nil)
	total := 0
	for _, w := range won {
		total += w
	}
	if total != subjects*len(sources) {
		t.Errorf("%d facts were told, want %d", total, subjects*len(sources))
	}
}

// Of a subject that takes ever new states the newest are remembered.
func TestSeenIsBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	for from := range 11 {
		var reports []store.Report
		for i := range 100 {
			reports = append(reports, b.tells(source, "s", fmt.Sprint(100*from+i), gateway.Rule{}))
		}
		b.tell(t, reports...)
	}
	f, err := b.FactOf(t.Context(), b.account, source, "s")
	if err != nil || len(f.Seen) != gateway.MaxSeen || f.Seen[0] != "100" || f.Seen[gateway.MaxSeen-1] != "1099" {
		t.Errorf("%d states are remembered, %v", len(f.Seen), err)
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	first, second := b.newSource(t).ID, b.newSource(t).ID
	b.tell(t, b.tells(first, "a", "sent", gateway.Rule{}), b.tells(second, "a", "failed", gateway.Rule{}), b.tells(second, "b", "sent", gateway.Rule{}))
	list := func(f store.FactFilter, before *gateway.FactID) (got []string) {
		t.Helper()
		facts, err := b.Facts(t.Context(), b.account, f, store.Page[gateway.FactID]{Limit: 2, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range facts {
			got = append(got, f.Subject+" "+f.State)
		}
		return got
	}
	all, err := b.Facts(t.Context(), b.account, store.FactFilter{}, store.Page[gateway.FactID]{Limit: 9})
	if err != nil || len(all) != 3 {
		t.Fatalf("%d facts, %v", len(all), err)
	}
	for name, c := range map[string]struct {
		got, want []string
	}{
		"first page":  {list(store.FactFilter{}, nil), []string{"b sent", "a failed"}},
		"second page": {list(store.FactFilter{}, &all[1].ID), []string{"a sent"}},
		"subject":     {list(store.FactFilter{Subject: "a"}, nil), []string{"a failed", "a sent"}},
		"source":      {list(store.FactFilter{Source: &first}, nil), []string{"a sent"}},
		"state":       {list(store.FactFilter{State: "sent"}, nil), []string{"b sent", "a sent"}},
		"all":         {list(store.FactFilter{Subject: "b", Source: &second, State: "sent"}, nil), []string{"b sent"}},
		"none":        {list(store.FactFilter{Subject: "c"}, nil), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	b.account = b.newAccount(t, "other")
	if got := list(store.FactFilter{}, nil); got != nil {
		t.Errorf("another account sees %v", got)
	}
	if _, err := b.Fact(t.Context(), b.account, all[0].ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account reads it: %v", err)
	}
	if _, err := b.FactOf(t.Context(), b.account, all[0].SourceID, all[0].Subject); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account finds it: %v", err)
	}
}
