package gateway

import "slices"

// Permission is what somebody needs to have for something: a member by their
// role, an API key by its scopes. Every route names one.
type Permission string

// The permissions.
const (
	// PermRead is to see everything but secrets, and to choose for oneself.
	PermRead Permission = "read"
	// PermPublish is to send events in, and to claim keys of the ledger.
	PermPublish Permission = "publish"
	// PermOperate is to act on deliveries, events, claims and comparisons, to
	// pause and to resume, and to send tests.
	PermOperate Permission = "operate"
	// PermConfigure is to change endpoints, sources, rules and event types.
	PermConfigure Permission = "configure"
	// PermReveal is to see secrets.
	PermReveal Permission = "reveal"
	// PermAudit is to see the audit log, which tells from where people work.
	PermAudit Permission = "audit"
	// PermKeys is to make API keys and to revoke them.
	PermKeys Permission = "keys"
	// PermMembers is to invite people, to change their roles and to remove them.
	// Who is no owner makes none, and changes none.
	PermMembers Permission = "members"
	// PermSettings is to change the account's name and its settings.
	PermSettings Permission = "settings"
	// PermOwn is to make owners, and to hand the account over.
	PermOwn Permission = "own"
	// PermClose is to have the account deleted, and to take that back.
	PermClose Permission = "close"
)

// Grant says who has a permission.
type Grant struct {
	Permission Permission
	// Role is the least role that has it.
	Role Role
	// Scope is what an API key needs to have; empty: no key has it.
	Scope Scope
	// Closing tells that it holds in an account, too, that is about to be deleted:
	// what comes in is kept, and everything can be seen.
	Closing bool
}

// Grants is the one table of who may do what, for pages, for the API and for the
// page that explains it.
var Grants = []Grant{
	{PermRead, RoleViewer, ScopeRead, true},
	{PermPublish, RoleOperator, ScopePublish, true},
	{PermOperate, RoleOperator, ScopeManage, false},
	{PermConfigure, RoleAdmin, ScopeManage, false},
	{PermReveal, RoleAdmin, ScopeManage, false},
	{PermAudit, RoleAdmin, ScopeRead, true},
	{PermKeys, RoleAdmin, ScopeManage, false},
	{PermMembers, RoleAdmin, ScopeManage, false},
	{PermSettings, RoleAdmin, "", false},
	{PermOwn, RoleOwner, "", false},
	{PermClose, RoleOwner, "", true},
}

func grantOf(p Permission) (Grant, bool) {
	i := slices.IndexFunc(Grants, func(g Grant) bool { return g.Permission == p })
	if i < 0 {
		return Grant{}, false
	}
	return Grants[i], true
}

// Known tells that the table has the permission.
func (p Permission) Known() bool {
	_, ok := grantOf(p)
	return ok
}

// Scope is what an API key needs to have it; empty: no key has it.
func (p Permission) Scope() Scope {
	g, _ := grantOf(p)
	return g.Scope
}

// WhileClosing tells that it holds in an account that is about to be deleted.
func (p Permission) WhileClosing() bool {
	g, _ := grantOf(p)
	return g.Closing
}

// Holders lists the roles that have it, the least first.
func (p Permission) Holders() []Role {
	return slices.DeleteFunc(slices.Clone(Roles), func(r Role) bool { return !r.May(p) })
}

// Who names those who have it, as a sentence begins: "An admin or an owner".
func (p Permission) Who() string {
	holders := p.Holders()
	who := ""
	for i, r := range holders {
		switch {
		case i == 0:
			who = "A" + r.WithArticle()[1:]
		case i == len(holders)-1:
			who += " or " + r.WithArticle()
		default:
			who += ", " + r.WithArticle()
		}
	}
	return who
}

// May tells whether the key has a permission.
func (k APIKey) May(p Permission) bool {
	scope := p.Scope()
	return scope != "" && slices.Contains(k.Scopes, scope)
}
