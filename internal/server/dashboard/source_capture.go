package dashboard

import (
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
)

// captureSecret lets a source take the next secret that its provider sends.
func captureSecret(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	if _, err := v.d.Sources.Capture(v.ctx(), v.account(), v.actor(), s.ID); err != nil {
		return err
	}
	return v.done(v.at("sources", s.ID.String())+"#secrets", "The next secret that the provider sends is taken, within an hour.")
}

// revealSourceSecret shows a secret that the provider sent, once.
func revealSourceSecret(v *visit) error {
	s, err := v.changeable()
	if err != nil {
		return err
	}
	id, err := gateway.ParseID[gateway.SecretID](v.Param("sid"))
	if err != nil {
		return err
	}
	live, err := v.d.Sources.Secrets(v.ctx(), v.account(), v.actor(), s.ID)
	if err != nil {
		return err
	}
	back := v.at("sources", s.ID.String()) + "#secrets"
	at := slices.IndexFunc(live, func(one gateway.Secret) bool { return one.ID == id && one.Captured })
	if at < 0 {
		return v.refused(back, "This secret has ended, or was never sent by the provider.")
	}
	return v.flash(back, flash{Text: "Revealed. It is noted in the account's activity.", Secret: live[at].Value, Of: id.String()})
}
