package api

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const memberList = "members"

// MemberView is one of the people of an account.
type MemberView struct {
	ID       gateway.UserID `json:"id" example:"usr_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Name     string         `json:"name"`
	Email    string         `json:"email" example:"mara@example.com"`
	Role     gateway.Role   `json:"role" enum:"viewer,operator,admin,owner" doc:"What they may do in the dashboard, each role all that the one before may: look; act on deliveries, claims and operations; change what there is, and see secrets; everything, the account itself included."`
	TwoStep  bool           `json:"two_step" doc:"Whether they show a code besides the password."`
	JoinedAt timestamp      `json:"joined_at"`
	SeenAt   *timestamp     `json:"seen_at,omitempty" doc:"When they looked at the account last, give or take some minutes; left out: never."`
}

func viewMember(m store.Member) MemberView {
	return MemberView{ID: m.ID, Name: m.Name, Email: m.Email, Role: m.Role, TwoStep: m.TwoStep, JoinedAt: timestamp(m.JoinedAt), SeenAt: optionalTime(m.SeenAt)}
}

// memberPath is the path of an operation on one member.
type memberPath struct {
	ID string `path:"id" doc:"The person's id."`
}

// changeMemberBody describes a change of a member.
type changeMemberBody struct {
	Role string `json:"role" enum:"viewer,operator,admin,owner" doc:"Owners are made in the dashboard, by owners: here it is 403 owner_needed."`
}

func (a *API) addMemberRoutes() {
	register(a, route{
		method: get, path: "/members", needs: read, status: 200,
		id: "listMembers", tag: tagMembers, summary: "List members",
	}, a.listMembers)
	register(a, route{
		method: get, path: "/members/{id}", needs: read, status: 200,
		id: "getMember", tag: tagMembers, summary: "Get a member",
	}, a.getMember)
	registerJSON(a, route{
		method: patch, path: "/members/{id}", needs: gateway.PermMembers, status: 200, required: []string{"role"},
		id: "updateMember", tag: tagMembers, summary: "Change a member's role",
		about: "From their next request on. An owner is changed by owners alone, in the dashboard.",
	}, a.updateMember)
	register(a, route{
		method: remove, path: "/members/{id}", needs: gateway.PermMembers, status: 204,
		id: "removeMember", tag: tagMembers, summary: "Remove a member",
		about: "They lose the account at once, and are told by mail. What they made stays, but invitations of theirs that wait are revoked. An owner is removed by owners alone, in the dashboard.",
	}, a.removeMember)
	a.addInvitationRoutes()
}

func (a *API) listMembers(ctx context.Context, who caller, in *PageQuery) (*listReply[MemberView], error) {
	p, err := page[gateway.UserID](memberList, *in, TimeQuery{})
	if err != nil {
		return nil, err
	}
	people, err := a.Accounts.Members(ctx, who.account(), p)
	if err != nil {
		return nil, err
	}
	return reply(memberList, *in, people, func(m store.Member) []byte { return idCursor(m.ID) }, viewMember), nil
}

func (a *API) getMember(ctx context.Context, who caller, in *memberPath) (*objectReply[MemberView], error) {
	id, err := pathID[gateway.UserID](in.ID)
	if err != nil {
		return nil, err
	}
	m, err := a.Accounts.MemberByID(ctx, who.account(), id)
	return object(m, err, viewMember)
}

func (a *API) updateMember(ctx context.Context, who caller, in *memberPath, body changeMemberBody) (*objectReply[MemberView], error) {
	id, err := pathID[gateway.UserID](in.ID)
	if err != nil {
		return nil, err
	}
	if err := a.Accounts.SetRole(ctx, who.account(), who.actor(), id, gateway.Role(body.Role)); err != nil {
		return nil, err
	}
	m, err := a.Accounts.MemberByID(ctx, who.account(), id)
	return object(m, err, viewMember)
}

func (a *API) removeMember(ctx context.Context, who caller, in *memberPath) (*empty, error) {
	id, err := pathID[gateway.UserID](in.ID)
	if err != nil {
		return nil, err
	}
	account, err := a.Store.Account(ctx, who.account())
	if err != nil {
		return nil, err
	}
	return &empty{}, a.Accounts.Remove(ctx, account, who.actor(), id)
}
