package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/access"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// handler answers a visit.
type handler func(*visit) error

// guard lets a visit pass, or answers it.
type guard func(handler) handler

// accountParam is the parameter of a route within an account.
const accountParam = "account"

// wrap makes Echo's handler of ours: nothing here is kept by caches, and no
// other site's page can have a form posted here.
func (d *Dashboard) wrap(h handler, guards ...guard) echo.HandlerFunc {
	for _, g := range slices.Backward(guards) {
		h = g(h)
	}
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
		if err := d.origins.Check(c.Request()); err != nil {
			return &Refusal{
				Status: http.StatusForbidden, Title: "This form came from another site",
				Text: "Nothing was changed. Open the page again on this site and send it from there.",
			}
		}
		session, token, err := d.sessionOf(c.Request())
		if err != nil {
			return err
		}
		return h(&visit{Context: c, d: d, session: session, token: token})
	}
}

// loggedIn lets those pass who are logged in, and leads the others to where
// they can, and from there back.
func loggedIn(next handler) handler {
	return func(v *visit) error {
		if v.known() {
			return next(v)
		}
		to := "/login"
		if v.Request().Method == http.MethodGet {
			to += "?next=" + url.QueryEscape(v.here())
		}
		if v.scripted() { // a script would put the log-in page into a part of its own
			v.Response().Header().Set("HX-Redirect", to)
			return v.NoContent(http.StatusUnauthorized)
		}
		return v.redirect(to)
	}
}

// member lets members of the account in the address pass. For everybody else
// there is no such account.
func member(next handler) handler {
	return func(v *visit) error {
		m, err := v.d.Accounts.Member(v.ctx(), v.person().ID, v.Param(accountParam))
		if err != nil {
			return err
		}
		if v.lacksTwoStep(m) {
			return v.turnOnFirst(m)
		}
		v.membership = m
		if v.session.LastAccount == nil || *v.session.LastAccount != m.Account.ID {
			if err := v.d.Accounts.Visit(v.ctx(), v.person().ID, m.Account.ID); err != nil {
				return err
			}
		}
		if err := v.d.Accounts.Seen(v.ctx(), v.person().ID, m); err != nil {
			return err
		}
		return next(v)
	}
}

// lacksTwoStep tells that an account is not open to the person before they have
// turned two-step log-in on.
func (v *visit) lacksTwoStep(m account.Membership) bool {
	return m.TwoStepRequired && !v.person().TwoStep
}

// turnOnFirst leads to where two-step log-in is turned on.
func (v *visit) turnOnFirst(m account.Membership) error {
	if v.scripted() {
		v.Response().Header().Set("HX-Redirect", twoStepPath)
		return v.NoContent(http.StatusForbidden)
	}
	return v.refused(twoStepPath, "“"+m.Account.Name+"” asks its members for two-step log-in. Turn it on to go on.")
}

// permitted lets those pass whose role has the permission. Who tries it all the
// same is in the audit log.
func permitted(p gateway.Permission) guard {
	return func(next handler) handler {
		return func(v *visit) error {
			if v.may(p) {
				return next(v)
			}
			if err := v.refuse(v.account(), strings.TrimPrefix(v.Path(), accountRoute)); err != nil {
				return err
			}
			return v.mayNot(p)
		}
	}
}

// refuse notes that the visitor tried what they may not, in an account or, where
// it is zero, in the pages of the instance.
func (v *visit) refuse(in gateway.AccountID, route string) error {
	return v.d.Accounts.Refuse(v.ctx(), account.Refused{
		Account: in, Actor: v.actor(), Method: v.Request().Method, What: route, Object: v.Param("id"),
	})
}

// mayNot says what stands in the way of who lacks a permission, and who has it.
func (v *visit) mayNot(p gateway.Permission) error {
	if v.membership.Role.May(p) {
		return &Refusal{
			Status: http.StatusConflict, Title: "This account is about to be deleted",
			Text: "Until then everything can be seen, and nothing changed. " + gateway.PermClose.Who() + " can restore it, under Settings.",
		}
	}
	return &Refusal{
		Status: http.StatusForbidden, Title: "Your role does not allow this",
		Text: "You are " + v.membership.Role.WithArticle() + " of “" + v.membership.Account.Name + "”. " +
			p.Who() + " of the account can do it. " + gateway.PermMembers.Who() + " can change your role.",
	}
}

// instanceOwner lets the owner of the instance pass. For everybody else its
// pages are not there; who tries them is in the audit log of the instance.
func instanceOwner(next handler) handler {
	return func(v *visit) error {
		if v.person().InstanceOwner {
			return next(v)
		}
		if err := v.refuse(gateway.AccountID{}, v.Path()); err != nil {
			return err
		}
		return gateway.ErrNotFound
	}
}

// guardsOf are the guards of a route: those that its audience needs.
func guardsOf(r access.Route) []guard {
	switch r.For {
	case access.Everybody:
		return nil
	case access.Person:
		return []guard{loggedIn}
	case access.InstanceOwner:
		return []guard{loggedIn, instanceOwner}
	case access.Members:
		return []guard{loggedIn, member, permitted(r.Needs)}
	case access.Keys: // no page is for keys
	}
	panic("a page for " + string(r.For))
}

// isMissing tells that an error says that there is no such thing.
func isMissing(err error) bool {
	return errors.Is(err, gateway.ErrNotFound) || errors.Is(err, gateway.ErrBadID) ||
		problem.From(err).Status == http.StatusNotFound
}
