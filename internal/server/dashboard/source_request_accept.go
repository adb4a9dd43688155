package dashboard

import (
	"errors"
	"net/http"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// fieldReason is why a request is taken that is not proven.
const fieldReason = "override"

// askedRequest is the request that the address names, of a source that can be
// changed.
func (v *visit) askedRequest() (gateway.Source, gateway.Request, error) {
	s, err := v.changeable()
	if err != nil {
		return s, gateway.Request{}, err
	}
	id, err := gateway.ParseID[gateway.RequestID](v.Param("request"))
	if err != nil {
		return s, gateway.Request{}, err
	}
	r, err := v.d.Store.Request(v.ctx(), v.account(), s.ID, id)
	return s, r, err
}

// askAcceptRequest asks whether a refused request is to be taken after all, and
// says what the source's present secrets make of it.
func askAcceptRequest(v *visit) error {
	s, r, err := v.askedRequest()
	if err != nil {
		return err
	}
	return v.acceptQuestion(http.StatusOK, s, r, "", nil)
}

func (v *visit) acceptQuestion(status int, s gateway.Source, r gateway.Request, entered string, wrong page.Errors) error {
	ask := page.AcceptRequest{
		Source: v.sourceHead(s), Path: v.atRequest(s, r.ID), Heading: !v.scripted(), Chosen: entered, Errors: wrong,
	}
	err := v.d.Accept.Check(v.ctx(), v.account(), s.ID, r.ID)
	switch refusal, ok := errors.AsType[*signature.Refusal](err); {
	case ok:
		ask.Doubt = refusal.Detail
	case err != nil:
		return v.refusedRequest(s, r.ID, err)
	}
	return v.askAgain(status, "Accept request", layout.SectionSources, page.AcceptRequestAsk(ask))
}

func acceptRequest(v *visit) error {
	s, r, err := v.askedRequest()
	if err != nil {
		return err
	}
	f, err := v.readForm()
	if err != nil {
		return err
	}
	_, err = v.d.Accept.AcceptLate(v.ctx(), v.account(), v.actor(), s.ID, r.ID, f.text(fieldReason))
	if err == nil {
		return v.done(v.atRequest(s, r.ID), "Accepted. Its event is decided and delivered as any other.")
	}
	if _, ok := errors.AsType[*signature.Refusal](err); ok {
		f.wrong(fieldReason, "Give a reason: this request is in doubt.")
		return v.acceptQuestion(http.StatusUnprocessableEntity, s, r, f.text(fieldReason), f.errors)
	}
	if f.take(err, map[string]string{fieldReason: fieldReason}, nil) {
		return v.acceptQuestion(http.StatusUnprocessableEntity, s, r, f.text(fieldReason), f.errors)
	}
	return v.refusedRequest(s, r.ID, err)
}

// refusedRequest leads back to a request that cannot be accepted.
func (v *visit) refusedRequest(s gateway.Source, id gateway.RequestID, err error) error {
	switch {
	case errors.Is(err, gateway.ErrNoEvent):
		return v.refused(v.atRequest(s, id), "This request asked for an answer, and can be no event.")
	case errors.Is(err, gateway.ErrAlreadyAccepted):
		return v.refused(v.atRequest(s, id), "This request is an event already, or repeats one.")
	case errors.Is(err, gateway.ErrRequestCut):
		return v.refused(v.atRequest(s, id), "Only a part of this request was kept. Have the sender send it again.")
	default:
		return err
	}
}

func (v *visit) atRequest(s gateway.Source, id gateway.RequestID) string {
	return v.at("sources", s.ID.String(), "requests", id.String())
}
