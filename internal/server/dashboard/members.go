package dashboard

import (
	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// addMemberRoutes adds the people of an account, and those who are invited.
func addMemberRoutes(r router) {
	const (
		all = "/settings/members"
		one = all + "/:id"
		inv = "/settings/invitations/:id"
	)
	r.within(get, all, showMembers)
	r.within(get, all+"/leave", askLeave)
	r.within(post, all+"/leave", leave)
	r.needs(gateway.PermMembers, get, all+"/invite", askInvite)
	r.needs(gateway.PermMembers, post, all+"/invite", inviteMember)
	r.needs(gateway.PermMembers, get, one+"/role", askRole)
	r.needs(gateway.PermMembers, post, one+"/role", setRole)
	r.needs(gateway.PermMembers, get, one+"/remove", askRemoveMember)
	r.needs(gateway.PermMembers, post, one+"/remove", removeMember)
	r.needs(gateway.PermOwn, get, all+"/two-step", askRequireTwoStep)
	r.needs(gateway.PermOwn, post, all+"/two-step", requireTwoStep)
	r.needs(gateway.PermOwn, get, one+"/owner", askHandOver)
	r.needs(gateway.PermOwn, post, one+"/owner", handOver)
	r.needs(gateway.PermMembers, post, inv+"/resend", resendInvitation)
	r.needs(gateway.PermMembers, get, inv+"/revoke", askRevokeInvitation)
	r.needs(gateway.PermMembers, post, inv+"/revoke", revokeInvitation)
}

// atMembers is the page of the account's people.
func (v *visit) atMembers(parts ...string) string {
	return v.at(append([]string{"settings", "members"}, parts...)...)
}

// offeredInvitations is how many invitations the page of members lists.
const offeredInvitations = 50

func showMembers(v *visit) error {
	l := v.listing(v.atMembers())
	people, err := v.d.Accounts.Members(v.ctx(), v.account(), asked[gateway.UserID](l))
	if err != nil {
		return err
	}
	invited, err := v.d.Accounts.MemberInvitations(v.ctx(), v.account(), store.Page[gateway.InvitationID]{Limit: offeredInvitations + 1})
	if err != nil {
		return err
	}
	frame, left, err := v.frame("Members", layout.SectionSettings)
	if err != nil {
		return err
	}
	view := page.Members{Frame: frame, Now: v.now(), Role: v.membership.Role, Leave: v.atMembers("leave"), MailOut: v.d.MailOut}
	view.TwoStepRequired = v.membership.TwoStepRequired
	if v.may(gateway.PermOwn) {
		view.RequireTwoStep = v.atMembers("two-step")
	}
	people, view.Newest, view.Older = shown(l, people, func(m store.Member) string { return m.ID.String() })
	for _, m := range people {
		view.Rows = append(view.Rows, v.memberRow(m))
	}
	if v.may(gateway.PermMembers) {
		view.Invite = v.atMembers("invite")
	}
	if err := v.addInvited(&view, invited, left); err != nil {
		return err
	}
	return v.page(page.MembersPage(view))
}

// memberRow offers of a member what the reader may do, and the use case lets
// them: owners are for owners.
func (v *visit) memberRow(m store.Member) page.MemberRow {
	row := page.MemberRow{
		ID: m.ID.String(), Name: m.Name, Email: m.Email, Role: m.Role, You: m.ID == v.person().ID, JoinedAt: m.JoinedAt, SeenAt: m.SeenAt, TwoStep: m.TwoStep,
	}
	if v.may(gateway.PermMembers) && (m.Role != gateway.RoleOwner || v.may(gateway.PermOwn)) {
		row.SetRole = v.atMembers(row.ID, "role")
		if !row.You {
			row.Remove = v.atMembers(row.ID, "remove")
		}
	}
	if v.may(gateway.PermOwn) && !row.You {
		row.HandOver = v.atMembers(row.ID, "owner")
	}
	return row
}

// addInvited adds who is invited, and the link that was just made.
func (v *visit) addInvited(view *page.Members, invited []account.Invitation, left flash) error {
	view.MoreInvited = len(invited) > offeredInvitations
	invited = invited[:min(len(invited), offeredInvitations)]
	actors := make([]gateway.Actor, len(invited))
	for i := range invited {
		actors[i] = invited[i].Actor
	}
	names, err := v.d.Store.ActorNames(v.ctx(), v.account(), actors)
	if err != nil {
		return err
	}
	for _, i := range invited {
		row := page.InvitedRow{
			ID: i.ID.String(), For: i.Email, Role: i.Role, EndsAt: i.EndsAt, Over: !i.EndsAt.After(v.now()),
			By: actorName(gateway.AuditEntry{Actor: i.Actor, ActorName: names[i.Actor]}),
		}
		if v.may(gateway.PermMembers) && (i.Role != gateway.RoleOwner || v.may(gateway.PermOwn)) {
			at := v.at("settings", "invitations", row.ID)
			row.Resend, row.Revoke = at+"/resend", at+"/revoke"
		}
		if link := left.secretOf(row.ID); link != "" {
			view.Link, view.LinkFor = link, i.Email
		}
		view.Invited = append(view.Invited, row)
	}
	view.Closed, err = v.signupClosed()
	return err
}

// signupClosed tells that nobody can sign up.
func (v *visit) signupClosed() (bool, error) {
	state, err := v.d.Accounts.SignupState(v.ctx())
	return state.Mode == config.SignupClosed, err
}

// wasMember tells that somebody was a member, and is none any more.
func (v *visit) wasMember(id gateway.UserID) (bool, error) {
	done, err := v.d.Store.AuditOf(v.ctx(), v.account(), []string{id.String()}, 1)
	return len(done) > 0 && (done[0].Action == account.ActionRemoved || done[0].Action == account.ActionLeft), err
}

// memberInAddress reads the member that the address names.
func (v *visit) memberInAddress() (store.Member, error) {
	id, err := gateway.ParseID[gateway.UserID](v.Param("id"))
	if err != nil {
		return store.Member{}, err
	}
	return v.d.Accounts.MemberByID(v.ctx(), v.account(), id)
}
