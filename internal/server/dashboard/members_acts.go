package dashboard

import (
	"errors"
	"net/http"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// fieldRole is what somebody shall be.
const fieldRole = "role"

var memberFields = map[string]string{fieldEmail: fieldEmail, fieldRole: fieldRole}

// memberSentences are why a change of members is refused.
var memberSentences = sentences{
	{gateway.ErrMember, fieldEmail, "This person is a member already. Change their role instead."},
	{gateway.ErrInvited, fieldEmail, "This address is invited already. Send the invitation again, or revoke it first."},
	{gateway.ErrLastOwner, fieldRole, lastOwner},
	{gateway.ErrOwnerNeeded, fieldRole, "Only an owner makes an owner, or changes one."},
}

const lastOwner = "An account always has an owner. Make another member an owner first."

// inviteForm is what asks for whom to invite.
func (v *visit) inviteForm() (page.InviteForm, error) {
	closed, err := v.signupClosed()
	return page.InviteForm{
		Path: v.atMembers(), Chosen: string(gateway.RoleViewer), Owner: v.may(gateway.PermOwn),
		MailOut: v.d.MailOut, Closed: closed, Heading: !v.scripted(),
	}, err
}

func askInvite(v *visit) error {
	f, err := v.inviteForm()
	if err != nil {
		return err
	}
	return v.ask("Invite a person", layout.SectionSettings, page.InviteAsk(f))
}

// inviteMember makes an invitation; its link is shown once, by the page that
// follows.
func inviteMember(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	status := http.StatusUnprocessableEntity
	if f.ok() {
		made, token, err := v.d.Accounts.InviteMember(v.ctx(), v.membership.Account, v.actor(), account.NewMember{
			Email: f.text(fieldEmail), Role: gateway.Role(f.text(fieldRole)),
		})
		why, tooMany := v.invitedTooOften(err)
		switch {
		case err == nil:
			return v.flash(v.atMembers(), flash{Secret: v.inviteLink(token), Of: made.ID.String()})
		case tooMany:
			status = http.StatusTooManyRequests
			f.wrong(fieldEmail, why)
		case !f.take(err, memberFields, memberSentences):
			return err
		}
	}
	ask, err := v.inviteForm()
	if err != nil {
		return err
	}
	ask.Email, ask.Chosen, ask.Errors = f.text(fieldEmail), f.text(fieldRole), f.errors
	return v.askAgain(status, "Invite a person", layout.SectionSettings, page.InviteAsk(ask))
}

// invitedTooOften tells whether an error says that too many invitations were
// mailed, and what to do then.
func (v *visit) invitedTooOften(err error) (why string, tooMany bool) {
	soon, tooMany := errors.AsType[*account.TooSoonError](err)
	if !tooMany {
		return "", false
	}
	return "Too many invitations were mailed. You can mail more in " + component.Duration(soon.Left) +
		", or leave the address empty and pass the link on yourself.", true
}

func askRole(v *visit) error {
	m, err := v.memberInAddress()
	if err != nil {
		return err
	}
	return v.ask("Change a role", layout.SectionSettings, page.RoleAsk(page.RoleForm{
		Action: v.Request().URL.Path, Cancel: v.atMembers(), Name: m.Name, Chosen: string(m.Role), Owner: v.may(gateway.PermOwn), Heading: !v.scripted(),
	}))
}

func setRole(v *visit) error {
	m, err := v.memberInAddress()
	if err != nil {
		return v.noMember(err)
	}
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if f.ok() {
		err := v.d.Accounts.SetRole(v.ctx(), v.account(), v.actor(), m.ID, gateway.Role(f.text(fieldRole)))
		if err == nil {
			return v.done(v.atMembers(), "Role changed. It holds from now on.")
		}
		if !f.take(err, memberFields, memberSentences) {
			return err
		}
	}
	return v.askAgain(http.StatusUnprocessableEntity, "Change a role", layout.SectionSettings, page.RoleAsk(page.RoleForm{
		Action: v.Request().URL.Path, Cancel: v.atMembers(), Name: m.Name, Chosen: f.text(fieldRole), Owner: v.may(gateway.PermOwn),
		Heading: !v.scripted(), Errors: f.errors,
	}))
}

// noMember answers a form about somebody who is no member: one who was until
// just now is told of.
func (v *visit) noMember(err error) error {
	id, bad := gateway.ParseID[gateway.UserID](v.Param("id"))
	if bad != nil || !isMissing(err) {
		return err
	}
	was, failed := v.wasMember(id)
	switch {
	case failed != nil:
		return failed
	case was:
		return v.refused(v.atMembers(), "That person is no member any more.")
	default:
		return err
	}
}

func askRemoveMember(v *visit) error {
	m, err := v.memberInAddress()
	if err != nil {
		return err
	}
	return v.ask("Remove a member", layout.SectionSettings, page.QuestionForm(page.Question{
		Action: v.Request().URL.Path, Cancel: v.atMembers(), Heading: !v.scripted(),
		Title: "Remove “" + m.Name + "”?", Submit: "Remove",
		Text: []string{
			m.Email + " loses this account at once, in every browser, and is told by mail.",
			"What they made stays, but their invitations that wait are revoked. API keys that they know go on working: revoke those, if need be.",
		},
	}))
}

func removeMember(v *visit) error {
	m, err := v.memberInAddress()
	if err != nil {
		return v.noMember(err)
	}
	return v.endMembership(m.ID, v.atMembers(), "Member removed.")
}

func askLeave(v *visit) error {
	return v.ask("Leave the account", layout.SectionSettings, page.QuestionForm(page.Question{
		Action: v.Request().URL.Path, Cancel: v.atMembers(), Heading: !v.scripted(),
		Title: "Leave “" + v.membership.Account.Name + "”?", Submit: "Leave",
		Text: []string{"You lose this account at once. To come back, somebody has to invite you."},
	}))
}

func leave(v *visit) error {
	return v.endMembership(v.person().ID, "/accounts", "You left “"+v.membership.Account.Name+"”.")
}

// endMembership ends somebody's membership, and says why not if it is not to be.
func (v *visit) endMembership(who gateway.UserID, to, done string) error {
	err := v.d.Accounts.Remove(v.ctx(), v.membership.Account, v.actor(), who)
	switch {
	case err == nil:
		return v.done(to, done)
	case errors.Is(err, gateway.ErrLastOwner):
		return v.refused(v.atMembers(), lastOwner)
	case errors.Is(err, gateway.ErrOwnerNeeded):
		return v.refused(v.atMembers(), "Only an owner removes an owner.")
	default:
		return err
	}
}

// handOverQuestion is what asks whether the account shall be another person's.
func (v *visit) handOverQuestion(name string, errs map[string]string) page.HandOver {
	return page.HandOver{
		Action: v.Request().URL.Path, Cancel: v.atMembers(), Account: v.membership.Account.Name, Name: name, Heading: !v.scripted(), Errors: errs,
	}
}

func askHandOver(v *visit) error {
	m, err := v.memberInAddress()
	if err != nil {
		return err
	}
	return v.ask("Hand the account over", layout.SectionSettings, page.HandOverAsk(v.handOverQuestion(m.Name, nil)))
}

func handOver(v *visit) error {
	m, err := v.memberInAddress()
	if err != nil {
		return v.noMember(err)
	}
	f, err := v.readForm()
	if err != nil {
		return err
	}
	status := http.StatusUnprocessableEntity
	if f.ok() {
		err := v.d.Accounts.HandOver(v.ctx(), v.membership.Account, v.session, f.raw(fieldPassword), v.RealIP(), m.ID)
		switch {
		case err == nil:
			return v.done(v.atMembers(), "“"+m.Name+"” is an owner now, and you are an admin.")
		case errors.Is(err, gateway.ErrStateChanged):
			return v.refused(v.atMembers(), "The account is yours already.")
		}
		if status, err = v.passwordWrong(f, fieldPassword, err); err != nil {
			return err
		}
	}
	return v.askAgain(status, "Hand the account over", layout.SectionSettings, page.HandOverAsk(v.handOverQuestion(m.Name, f.errors)))
}

// memberInvitation reads the id of the invitation in the address.
func (v *visit) memberInvitation() (account.Invitation, error) {
	id, err := gateway.ParseID[gateway.InvitationID](v.Param("id"))
	if err != nil {
		return account.Invitation{}, err
	}
	return v.d.Accounts.MemberInvitation(v.ctx(), v.account(), id)
}

// resendInvitation sends an invitation once more; its new link is shown once.
func resendInvitation(v *visit) error {
	i, err := v.memberInvitation()
	if err != nil {
		return err
	}
	_, token, err := v.d.Accounts.RenewInvitation(v.ctx(), v.membership.Account, v.actor(), i.ID)
	if why := invitationGone(err); why != "" {
		return v.refused(v.atMembers(), why)
	}
	if why, tooMany := v.invitedTooOften(err); tooMany {
		return v.refused(v.atMembers(), why)
	}
	if err != nil {
		return err
	}
	return v.flash(v.atMembers(), flash{Secret: v.inviteLink(token), Of: i.ID.String()})
}

func askRevokeInvitation(v *visit) error {
	i, err := v.memberInvitation()
	if err != nil {
		return err
	}
	whose := "of whoever has the link"
	if i.Email != "" {
		whose = "of " + i.Email
	}
	return v.ask("Revoke an invitation", layout.SectionSettings, page.QuestionForm(page.Question{
		Action: v.Request().URL.Path, Cancel: v.atMembers(), Heading: !v.scripted(),
		Title: "Revoke the invitation " + whose + "?", Submit: "Revoke",
		Text: []string{"Its link stops working now. You can invite again at any time."},
	}))
}

func revokeInvitation(v *visit) error {
	i, err := v.memberInvitation()
	if err != nil {
		return err
	}
	err = v.d.Accounts.RevokeInvitation(v.ctx(), v.account(), v.actor(), i.ID)
	if why := invitationGone(err); why != "" {
		return v.refused(v.atMembers(), why)
	}
	if err != nil {
		return err
	}
	return v.done(v.atMembers(), "The invitation is revoked.")
}

// inviteLink is where an invitation is used.
func (v *visit) inviteLink(token string) string { return v.d.BaseURL + "/invite/" + token }

// invitationGone says why an invitation was not changed; empty when it was, or
// when something else failed.
func invitationGone(err error) string {
	switch {
	case errors.Is(err, gateway.ErrStateChanged):
		return "That invitation was used, or revoked already."
	case errors.Is(err, gateway.ErrOwnerNeeded):
		return "Only an owner invites an owner."
	default:
		return ""
	}
}
