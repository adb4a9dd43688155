package notify

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Chosen lists what a member is told by mail: what they chose, and of what they
// did not choose about, what their role is told, by what they may.
func (s *Service) Chosen(ctx context.Context, account gateway.AccountID, user gateway.UserID, may func(gateway.Permission) bool) ([]gateway.AlertKind, error) {
	choices, err := s.store.AlertChoices(ctx, account, user)
	if err != nil {
		return nil, err
	}
	var kinds []gateway.AlertKind
	for _, kind := range gateway.AlertKinds {
		wanted, chose := choices[kind]
		if wanted || !chose && kind.ByDefault() && may(kind.Concerns()) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// Choose keeps what a member wants to be told by mail: these kinds, and no
// others. A kind that is not known is gateway.InvalidError, who is no member
// gateway.ErrNotFound.
func (s *Service) Choose(ctx context.Context, account gateway.AccountID, actor gateway.Actor, user gateway.UserID, kinds []gateway.AlertKind) error {
	wanted := make([]bool, len(gateway.AlertKinds))
	names := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		if !slices.Contains(gateway.AlertKinds, kind) {
			return gateway.Invalid("kinds", "want kinds of mails that there are")
		}
	}
	for i, kind := range gateway.AlertKinds {
		if wanted[i] = slices.Contains(kinds, kind); wanted[i] {
			names = append(names, string(kind))
		}
	}
	return s.store.InTx(ctx, func(tx store.Tx) error {
		changed, err := tx.ChooseAlerts(ctx, account, user, gateway.AlertKinds, wanted)
		if err != nil || changed == 0 {
			return err
		}
		detail := cmp.Or(strings.Join(names, ", "), "nothing")
		return tx.Audit(ctx, account, actor, "member.choose_mails", user.String(), detail, s.clock.NewID())
	})
}
