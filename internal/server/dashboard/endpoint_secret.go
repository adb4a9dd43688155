package dashboard

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// endpointSecrets are the live secrets, newest first: when each signs, and the
// value of the one that the last form left to be shown.
func (v *visit) endpointSecrets(e gateway.Endpoint, left flash) ([]page.EndpointSecret, error) {
	live, err := v.d.Store.EndpointSecretTimes(v.ctx(), v.account(), e.ID)
	if err != nil {
		return nil, err
	}
	shown := make([]page.EndpointSecret, len(live))
	for i, s := range live {
		shown[i] = page.EndpointSecret{ID: s.ID, CreatedAt: s.CreatedAt, EndsAt: s.EndsAt, Replaced: s.CreatedAt, Public: s.Public}
		if i > 0 {
			shown[i].Replaced = live[i-1].CreatedAt
		}
		if v.may(gateway.PermReveal) {
			shown[i].Value = left.secretOf(s.ID.String())
		}
	}
	return shown, nil
}

func askRotate(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	return v.rotateEndpointQuestion(http.StatusOK, e, "", nil)
}

// rotateEndpointQuestion asks how to rotate, at first or again.
func (v *visit) rotateEndpointQuestion(status int, e gateway.Endpoint, chosen string, wrong page.Errors) error {
	live, err := v.d.Store.EndpointSecretTimes(v.ctx(), v.account(), e.ID)
	if err != nil {
		return err
	}
	question := page.RotateQuestion{EndpointQuestion: v.aboutEndpoint(e), KeyPair: e.Signature == gateway.SignatureEd25519}
	question.Entered, question.Errors = chosen, wrong
	for _, s := range live {
		if s.EndsAt != nil {
			question.Older = append(question.Older, component.Duration(s.EndsAt.Sub(v.now())))
		}
	}
	return v.askAgain(status, "Rotate the secret of "+endpointName(e), layout.SectionEndpoints, page.RotateAsk(question))
}

func rotateSecret(v *visit) error {
	e, f, err := v.postedEndpoint()
	if err != nil {
		return err
	}
	keep, own := f.overlap(), f.ownSecret()
	if f.ok() {
		added, err := v.d.Endpoints.Rotate(v.ctx(), v.account(), v.actor(), e.ID, &keep, own)
		switch {
		case err == nil:
			return v.flash(v.atEndpoint(e)+"#secrets", rotatedFlash(added))
		case errors.Is(err, gateway.ErrTooManySecrets):
			return v.refused(v.atEndpoint(e)+"#secrets", "Not rotated: "+component.Number(gateway.MaxLiveSecrets)+" secrets sign already. End one first.")
		case !f.take(err, map[string]string{fieldOverlap: fieldOverlap, page.EndpointSecretField: page.EndpointSecretField}, nil):
			return err
		}
	}
	return v.rotateEndpointQuestion(http.StatusUnprocessableEntity, e, f.text(fieldOverlap), f.errors)
}

// rotatedFlash says what to do with what signs from now on.
func rotatedFlash(added gateway.Secret) flash {
	if added.Public != "" {
		return flash{Text: "Rotated. A new key signs from now on. Give your receiver its public key."}
	}
	return flash{Text: "Rotated. The new secret signs from now on. Copy it now, or reveal it again later.", Secret: added.Value, Of: added.ID.String()}
}

// overlap is how long the present secret goes on beside the new one.
func (f form) overlap() time.Duration {
	chosen := f.text(fieldOverlap)
	keep, err := time.ParseDuration(chosen)
	if err != nil || !page.IsOverlap(chosen) {
		f.wrong(fieldOverlap, "Choose how long it stays valid.")
	}
	return keep
}

// ownSecret is the secret that was entered; nil is none.
func (f form) ownSecret() *string {
	if own := f.text(page.EndpointSecretField); own != "" {
		return &own
	}
	return nil
}

// revealSecret shows a live secret once more. Who saw it is in the audit log.
func revealSecret(v *visit) error {
	e, id, err := v.endpointSecret()
	if err != nil {
		return err
	}
	live, err := v.d.Endpoints.Secrets(v.ctx(), v.account(), v.actor(), e.ID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(live, func(s gateway.Secret) bool { return s.ID == id })
	if at < 0 {
		return v.refused(v.atEndpoint(e)+"#secrets", "This secret has ended.")
	}
	return v.flash(v.atEndpoint(e)+"#secrets", flash{
		Text: "Revealed. It is noted in the account's activity.", Secret: live[at].Value, Of: id.String(),
	})
}

// endpointSecret is the secret that the address names. One that is not live,
// or not this endpoint's, is not there.
func (v *visit) endpointSecret() (gateway.Endpoint, gateway.SecretID, error) {
	e, err := v.endpoint()
	if err != nil {
		return e, gateway.SecretID{}, err
	}
	id, err := gateway.ParseID[gateway.SecretID](v.Param("sid"))
	return e, id, err
}

func askEndSecret(v *visit) error {
	e, id, err := v.endpointSecret()
	if err != nil {
		return err
	}
	live, err := v.d.Store.EndpointSecretTimes(v.ctx(), v.account(), e.ID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(live, func(s gateway.Secret) bool { return s.ID == id })
	if at < 0 {
		return gateway.ErrNotFound
	}
	question := page.EndSecretQuestion{EndpointQuestion: v.aboutEndpoint(e)}
	if ends := live[at].EndsAt; ends != nil {
		question.Left = component.Duration(ends.Sub(v.now()))
	}
	return v.ask("End a secret of "+endpointName(e), layout.SectionEndpoints, page.EndSecretAsk(question))
}

func endSecret(v *visit) error {
	e, id, err := v.endpointSecret()
	if err != nil {
		return err
	}
	to := v.atEndpoint(e) + "#secrets"
	switch err := v.d.Endpoints.EndSecret(v.ctx(), v.account(), v.actor(), e.ID, id); {
	case errors.Is(err, gateway.ErrLastSecret):
		return v.refused(to, "Not ended: it is the only secret without an end. Rotate it instead.")
	case err != nil:
		return err
	}
	return v.done(to, "Ended. Requests are not signed with it any more.")
}
