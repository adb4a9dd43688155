package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/store"
)

// SetRule gives a source a rule in place of the one that it has. What came in
// before and is decided now is decided by it. Errors: gateway.InvalidError,
// joined if there are several; gateway.ErrNotFound; gateway.ErrBuiltIn for the
// source of the API.
func (s *Service) SetRule(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.SourceID, r gateway.Rule) (gateway.Source, error) {
	r, err := CheckRule(r)
	if err != nil {
		return gateway.Source{}, err
	}
	return s.change(ctx, account, id, func(tx store.Tx, _ gateway.Source) (gateway.Source, error) {
		source, err := tx.SetSourceRule(ctx, account, id, &r)
		if err != nil {
			return source, err
		}
		return source, s.audit(ctx, tx, source, actor, "source.rule.set", fmt.Sprintf("version %d", source.RuleVersion))
	})
}

// ClearRule takes a source's rule away: its kind alone says what its events are.
// Errors: gateway.ErrNotFound, where there is none as well; gateway.ErrBuiltIn.
func (s *Service) ClearRule(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.SourceID) (gateway.Source, error) {
	return s.change(ctx, account, id, func(tx store.Tx, source gateway.Source) (gateway.Source, error) {
		if source.Rule == nil {
			return source, gateway.ErrNotFound
		}
		source, err := tx.SetSourceRule(ctx, account, id, nil)
		if err != nil {
			return source, err
		}
		return source, s.audit(ctx, tx, source, actor, "source.rule.clear", fmt.Sprintf("version %d", source.RuleVersion))
	})
}

// CheckRule returns a rule as it is stored: without the space around its
// expressions. All that is wrong with it is told at once: gateway.InvalidErrors,
// joined.
func CheckRule(r gateway.Rule) (gateway.Rule, error) {
	for _, text := range []*string{&r.Key, &r.Type, &r.Subject, &r.State, &r.Emit} {
		*text = strings.TrimSpace(*text)
	}
	_, err := rule.CompileRule(r)
	return r, errors.Join(ruleFaults(err), checkTogether(&r), checkStates("terminal", r.Terminal), checkStates("rank", r.Rank))
}

// ruleFaults tells what is wrong with expressions as with any other field.
func ruleFaults(err error) error {
	if err == nil {
		return nil
	}
	var all []error
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	for _, fault := range joined.Unwrap() {
		wrong, ok := errors.AsType[*rule.FieldError](fault)
		if !ok {
			return err
		}
		if _, ok := errors.AsType[*rule.SyntaxError](wrong.Err); !ok {
			return err
		}
		all = append(all, gateway.Invalid(wrong.Field, "%s", wrong.Err))
	}
	return errors.Join(all...)
}

// checkTogether tells which parts of a rule want others.
func checkTogether(r *gateway.Rule) error {
	var all []error
	if r.State != "" && r.Subject == "" {
		all = append(all, gateway.Invalid("subject", "is missing: a state is told of a subject"))
	}
	if r.RequiresExisting && r.Subject == "" {
		all = append(all, gateway.Invalid("subject", "is missing: requires_existing looks for it"))
	}
	for field, given := range map[string]bool{"terminal": len(r.Terminal) > 0, "rank": len(r.Rank) > 0, "repeats": r.Repeats} {
		if given && r.State == "" {
			all = append(all, gateway.Invalid(field, "wants a state, and the rule has none"))
		}
	}
	return errors.Join(all...)
}

// checkStates checks a list of states that events can report.
func checkStates(field string, states []string) error {
	if len(states) > gateway.MaxRuleStates {
		return gateway.Invalid(field, "want at most %d states", gateway.MaxRuleStates)
	}
	for i, s := range states {
		switch {
		case s == "" || len(s) > gateway.MaxStateLength || !utf8.ValidString(s) || strings.ContainsRune(s, 0):
			return gateway.Invalid(field, "want states of 1 to %d bytes, in UTF-8 without NUL characters", gateway.MaxStateLength)
		case slices.Contains(states[:i], s):
			return gateway.Invalid(field, "names a state twice")
		}
	}
	return nil
}
