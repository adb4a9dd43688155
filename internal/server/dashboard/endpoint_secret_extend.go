package dashboard

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

func askExtendSecret(v *visit) error {
	e, id, err := v.endpointSecret()
	if err != nil {
		return err
	}
	return v.extendSecretQuestion(http.StatusOK, e, id, "", nil)
}

// extendSecretQuestion asks for how long, at first or again. A secret that has
// ended or has no end is not asked about.
func (v *visit) extendSecretQuestion(status int, e gateway.Endpoint, id gateway.SecretID, chosen string, wrong page.Errors) error {
	live, err := v.d.Store.EndpointSecretTimes(v.ctx(), v.account(), e.ID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(live, func(s gateway.Secret) bool { return s.ID == id && s.EndsAt != nil })
	if at < 0 {
		return gateway.ErrNotFound
	}
	left := live[at].EndsAt.Sub(v.now())
	question := page.ExtendSecretQuestion{EndpointQuestion: v.aboutEndpoint(e), Left: component.Duration(left)}
	question.Entered, question.Errors = cmp.Or(chosen, page.ExtensionBeyond(left)), wrong
	return v.askAgain(status, "Extend a secret of "+endpointName(e), layout.SectionEndpoints, page.ExtendSecretAsk(question))
}

func extendSecret(v *visit) error {
	e, id, err := v.endpointSecret()
	if err != nil {
		return err
	}
	f, err := v.readForm()
	if err != nil {
		return err
	}
	to := v.atEndpoint(e) + "#secrets"
	overlap := f.extension()
	if !f.ok() {
		return v.extendSecretQuestion(http.StatusUnprocessableEntity, e, id, f.text(fieldOverlap), f.errors)
	}
	extended, err := v.d.Endpoints.ExtendSecret(v.ctx(), v.account(), v.actor(), e.ID, id, overlap)
	switch {
	case errors.Is(err, gateway.ErrSecretEnded):
		return v.refused(to, "Not extended: this secret has ended. Rotate to give the receiver a new one.")
	case errors.Is(err, gateway.ErrSecretEndless):
		return v.refused(to, "Not extended: this secret has no end.")
	case err != nil:
		return err
	}
	return v.done(to, "Extended. It signs for "+component.Duration(extended.EndsAt.Sub(v.now()))+" from now on.")
}

// extension is for how long the secret goes on from now.
func (f form) extension() time.Duration {
	chosen := f.text(fieldOverlap)
	d, err := time.ParseDuration(chosen)
	if err != nil || !page.IsExtension(chosen) {
		f.wrong(fieldOverlap, "Choose how long it goes on signing.")
	}
	return d
}
