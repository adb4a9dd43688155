package dashboard

import (
	"errors"
	"strconv"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// signDelivery has an attempt's command signed afresh, which the delivery's
// page then shows once. Who asked is in the audit log.
func signDelivery(v *visit) error {
	d, f, to, err := v.deliveryForm()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(f.text("attempt"))
	if err != nil {
		return v.refused(to, "Not signed: the form was not complete. Press the button once more.")
	}
	headers, err := v.d.Deliver.Sign(v.ctx(), v.account(), v.actor(), d.ID, n)
	if why := whyNotSigned(err); why != "" {
		return v.refused(to, why)
	}
	if err != nil {
		return err
	}
	return v.flash(v.attemptHref(d.ID, n), flash{
		Text:   "Signed. It is noted in the account's activity.",
		Secret: string(headers), Of: gateway.DeriveAttemptID(d.ID, n).String(),
	})
}

// whyNotSigned says why an attempt was not signed; empty when it was, or when
// something else failed.
func whyNotSigned(err error) string {
	switch {
	case errors.Is(err, deliver.ErrUnsignable):
		return "Not signed: none of the endpoint's secrets can be used. Rotate the secret."
	case errors.Is(err, gateway.ErrPayloadGone):
		return "Not signed: the payload was deleted."
	case errors.Is(err, gateway.ErrNotActive):
		return "Not signed: its endpoint was deleted."
	case errors.Is(err, gateway.ErrNotFound):
		return "Not signed: there is no such attempt."
	default:
		return ""
	}
}

// showSigned puts the command that was just signed into its attempt.
func showSigned(view *page.Delivery, s sending, left flash) {
	if left.Secret == "" {
		return
	}
	for i := range view.Attempts {
		if a := &view.Attempts[i]; a.ID == left.Of {
			a.Curl, a.Signed, a.Open = s.again([]byte(left.Secret)), true, true
			view.Signed = true
		}
	}
}
