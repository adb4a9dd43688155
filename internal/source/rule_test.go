package source_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/source"
)

func TestSetRule(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.create(t)
	rule := gateway.Rule{
		Key: " body.id\n", Type: "'a'", Subject: "body.m", State: "body.s", Emit: "body.s == 'x' ? null : 'm.' + body.s",
		Terminal: []string{"delivered", "failed"}, Rank: []string{"sent", "delivered"}, Repeats: true, RequiresExisting: true,
	}
	want := rule
	want.Key = "body.id"
	for version := 1; version <= 2; version++ {
		got, err := b.SetRule(t.Context(), b.account, actor, made.ID, rule)
		if err != nil || got.RuleVersion != version {
			t.Fatalf("%+v, %v", got, err)
		}
		read, err := b.store.Source(t.Context(), b.account, made.ID)
		if diff := cmp.Diff(&want, read.Rule); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	got, err := b.ClearRule(t.Context(), b.account, actor, made.ID)
	if err != nil || got.Rule != nil || got.RuleVersion != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := b.ClearRule(t.Context(), b.account, actor, made.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("cleared twice: %v", err)
	}
	b.wantAudit(t, "source.create: github", "source.rule.set: version 1", "source.rule.set: version 2", "source.rule.clear: version 3")
	if n := b.told.Load(); n != 3 {
		t.Errorf("it told of %d changes", n)
	}
}

// All that is wrong with a rule is told at once, by its fields.
func TestCheckRule(t *testing.T) {
	t.Parallel()
	many := make([]string, gateway.MaxRuleStates+1)
	for i := range many {
		many[i] = strings.Repeat("x", i+1)
	}
	for name, c := range map[string]struct {
		rule gateway.Rule
		want []string
	}{
		"nothing":            {gateway.Rule{}, nil},
		"a subject alone":    {gateway.Rule{Subject: "body.m", Emit: "'a'"}, nil},
		"most states":        {gateway.Rule{Subject: "'a'", State: "'b'", Rank: many[:gateway.MaxRuleStates]}, nil},
		"a subject to await": {gateway.Rule{Subject: "'a'", RequiresExisting: true}, nil},
		"expressions":        {gateway.Rule{Key: "bdy", Type: "1", Subject: "x.", Emit: "[]"}, []string{"key", "type", "subject", "emit"}},
		"a state of nothing": {gateway.Rule{State: "body.s"}, []string{"subject"}},
		"awaits nothing":     {gateway.Rule{RequiresExisting: true}, []string{"subject"}},
		"no state":           {gateway.Rule{Subject: "'a'", Terminal: []string{"b"}, Rank: []string{"c"}, Repeats: true}, []string{"rank", "repeats", "terminal"}},
		"many states":        {gateway.Rule{Subject: "'a'", State: "'b'", Terminal: many, Rank: many}, []string{"terminal", "rank"}},
		"empty":              {gateway.Rule{Subject: "'a'", State: "'b'", Rank: []string{""}}, []string{"rank"}},
		"long":               {gateway.Rule{Subject: "'a'", State: "'b'", Rank: []string{strings.Repeat("x", 257)}}, []string{"rank"}},
		"NUL":                {gateway.Rule{Subject: "'a'", State: "'b'", Terminal: []string{"\x00"}}, []string{"terminal"}},
		"twice":              {gateway.Rule{Subject: "'a'", State: "'b'", Terminal: []string{"b", "b"}}, []string{"terminal"}},
	} {
		_, err := source.CheckRule(c.rule)
		got := fieldsOf(err)
		if name == "no state" {
			slices.Sort(got)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %v%s", name, err, diff)
		}
	}
}

// fieldsOf names the fields that an error tells of.
func fieldsOf(err error) (fields []string) {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case *gateway.InvalidError:
		return []string{e.Field}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			fields = append(fields, fieldsOf(one)...)
		}
	}
	return fields
}
