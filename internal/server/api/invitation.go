package api

import (
	"context"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
)

const invitationList = "invitations"

// InvitationView is an invitation, without its link.
type InvitationView struct {
	ID        gateway.InvitationID    `json:"id" example:"inv_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Email     string                  `json:"email,omitempty" doc:"The only address that can use it; left out: whoever has the link."`
	Role      gateway.Role            `json:"role" enum:"viewer,operator,admin,owner"`
	State     account.InvitationState `json:"state" enum:"waits,used,revoked,expired"`
	CreatedAt timestamp               `json:"created_at"`
	EndsAt    timestamp               `json:"ends_at" doc:"Until when it can be used."`
}

func (a *API) viewInvitation(i account.Invitation) InvitationView {
	return InvitationView{ID: i.ID, Email: i.Email, Role: i.Role, State: account.StateOf(i, a.Now()), CreatedAt: timestamp(i.CreatedAt), EndsAt: timestamp(i.EndsAt)}
}

// newInvitationView is an invitation with its link.
type newInvitationView struct {
	InvitationView

	URL string `json:"url" example:"https://hooks.example.com/invite/MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" doc:"Where it is used, once. It is shown here and never again."`
}

func (a *API) viewNewInvitation(i account.Invitation, token string) newInvitationView {
	return newInvitationView{a.viewInvitation(i), a.BaseURL + "/invite/" + token}
}

// newInvitationBody describes whom to invite.
type newInvitationBody struct {
	Email *string `json:"email,omitempty" nullable:"true" maxLength:"254" example:"mara@example.com" doc:"The address that the link goes to by mail, where mails are sent, and that alone can use it. Left out: whoever has the link."`
	Role  string  `json:"role" enum:"viewer,operator,admin" example:"operator" doc:"Owners are invited in the dashboard, by owners."`
}

// invitationPath is the path of an operation on one invitation.
type invitationPath struct {
	ID string `path:"id" doc:"The invitation's id."`
}

func (a *API) addInvitationRoutes() {
	register(a, route{
		method: get, path: "/invitations", needs: read, status: 200,
		id: "listInvitations", tag: tagMembers, summary: "List invitations",
		about: "Those that were neither used nor revoked; those whose time is over are among them. Their links are not kept.",
	}, a.listInvitations)
	registerJSON(a, route{
		method: post, path: "/invitations", needs: gateway.PermMembers, status: 201, required: []string{"role"},
		id: "createInvitation", tag: tagMembers, summary: "Invite a person",
		about: "It lets one person in, once, within seven days. The answer shows the link. At most 100 an hour are mailed for an account, and five to one address: then it is 429 rate_limited.",
	}, a.createInvitation)
	register(a, route{
		method: get, path: "/invitations/{id}", needs: read, status: 200,
		id: "getInvitation", tag: tagMembers, summary: "Get an invitation",
	}, a.getInvitation)
	registerJSON(a, route{
		method: post, path: "/invitations/{id}/resend", needs: gateway.PermMembers, status: 200, optional: true,
		id: "resendInvitation", tag: tagMembers, summary: "Send an invitation again",
		about: "With a new link and another seven days; the former link is of no use any more.",
	}, a.resendInvitation)
	register(a, route{
		method: remove, path: "/invitations/{id}", needs: gateway.PermMembers, status: 204,
		id: "revokeInvitation", tag: tagMembers, summary: "Revoke an invitation",
	}, a.revokeInvitation)
}

func (a *API) listInvitations(ctx context.Context, who caller, in *PageQuery) (*listReply[InvitationView], error) {
	p, err := page[gateway.InvitationID](invitationList, *in, TimeQuery{})
	if err != nil {
		return nil, err
	}
	all, err := a.Accounts.MemberInvitations(ctx, who.account(), p)
	if err != nil {
		return nil, err
	}
	return reply(invitationList, *in, all, func(i account.Invitation) []byte { return idCursor(i.ID) }, a.viewInvitation), nil
}

func (a *API) createInvitation(ctx context.Context, who caller, _ *nothing, body newInvitationBody) (*objectReply[newInvitationView], error) {
	of, err := a.Store.Account(ctx, who.account())
	if err != nil {
		return nil, err
	}
	n := account.NewMember{Role: gateway.Role(body.Role)}
	if body.Email != nil {
		n.Email = *body.Email
	}
	made, token, err := a.Accounts.InviteMember(ctx, of, who.actor(), n)
	return object(made, err, func(i account.Invitation) newInvitationView { return a.viewNewInvitation(i, token) })
}

func (a *API) getInvitation(ctx context.Context, who caller, in *invitationPath) (*objectReply[InvitationView], error) {
	id, err := pathID[gateway.InvitationID](in.ID)
	if err != nil {
		return nil, err
	}
	i, err := a.Accounts.MemberInvitation(ctx, who.account(), id)
	return object(i, err, a.viewInvitation)
}

func (a *API) resendInvitation(ctx context.Context, who caller, in *invitationPath, _ nothingBody) (*objectReply[newInvitationView], error) {
	id, err := pathID[gateway.InvitationID](in.ID)
	if err != nil {
		return nil, err
	}
	of, err := a.Store.Account(ctx, who.account())
	if err != nil {
		return nil, err
	}
	i, token, err := a.Accounts.RenewInvitation(ctx, of, who.actor(), id)
	return object(i, err, func(i account.Invitation) newInvitationView { return a.viewNewInvitation(i, token) })
}

func (a *API) revokeInvitation(ctx context.Context, who caller, in *invitationPath) (*empty, error) {
	id, err := pathID[gateway.InvitationID](in.ID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.Accounts.RevokeInvitation(ctx, who.account(), who.actor(), id)
}
