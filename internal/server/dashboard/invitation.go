package dashboard

import (
	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// freshInvitation stands for the invitation that was just made, whose link is
// shown once.
const freshInvitation = "invitation"

func listInvitations(v *visit) error {
	view, err := v.invitations()
	if err != nil {
		return err
	}
	return v.page(page.InvitationsPage(view))
}

func (v *visit) invitations() (page.Invitations, error) {
	view := page.Invitations{Now: v.now(), MailOut: v.d.MailOut}
	l := v.listing(invitationsPath)
	all, err := v.d.Accounts.Invitations(v.ctx(), asked[gateway.InvitationID](l))
	if err != nil {
		return view, err
	}
	all, view.Newest, view.Older = shown(l, all, func(i account.Invitation) string { return i.ID.String() })
	for _, i := range all {
		view.Rows = append(view.Rows, v.invitationRow(i))
	}
	state, err := v.d.Accounts.SignupState(v.ctx())
	if err != nil {
		return view, err
	}
	view.Open, view.Closed = state.Mode == config.SignupOpen, state.Mode == config.SignupClosed
	frame, left, err := v.frame("Invitations", layout.SectionAccounts)
	view.Frame, view.Link = frame, left.secretOf(freshInvitation)
	return view, err
}

func (v *visit) invitationRow(i account.Invitation) page.InvitationRow {
	row := page.InvitationRow{For: i.Email, CreatedAt: i.CreatedAt, EndsAt: i.EndsAt, UsedBy: i.UsedByEmail, UsedAt: i.UsedAt}
	if i.UsedBy == nil && i.EndsAt.After(v.now()) {
		row.End = endInvitationPath(i.ID.String())
	}
	return row
}

func endInvitationPath(id string) string { return invitationsPath + "/" + id + "/end" }

func invite(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if f.ok() {
		token, err := v.d.Accounts.Invite(v.ctx(), v.person().ID, f.text(fieldEmail))
		if err == nil {
			return v.flash(invitationsPath, flash{Text: "Invitation created.", Secret: v.d.BaseURL + "/invite/" + token, Of: freshInvitation})
		}
		if !f.take(err, map[string]string{fieldEmail: fieldEmail}, nil) {
			return err
		}
	}
	view, err := v.invitations()
	if err != nil {
		return err
	}
	view.Email, view.Errors = f.text(fieldEmail), f.errors
	return v.invalid(page.InvitationsPage(view))
}

func askEndInvitation(v *visit) error {
	id, err := gateway.ParseID[gateway.InvitationID](v.Param("invitation"))
	if err != nil {
		return err
	}
	return v.ask("Take an invitation back", layout.SectionAccounts, page.EndInvitationQuestion(page.EndInvitation{
		Action: endInvitationPath(id.String()), Heading: !v.scripted(),
	}))
}

func endInvitation(v *visit) error {
	id, err := gateway.ParseID[gateway.InvitationID](v.Param("invitation"))
	if err != nil {
		return err
	}
	err = v.d.Accounts.EndInvitation(v.ctx(), v.person().ID, id)
	if isMissing(err) {
		return v.refused(invitationsPath, "That invitation was used, or was over already.")
	}
	if err != nil {
		return err
	}
	return v.done(invitationsPath, "The invitation is taken back.")
}
