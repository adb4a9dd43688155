package gateway

import "slices"

// Role is what a member is in an account.
type Role string

// The roles of a member.
const (
	// RoleViewer may look, and sees no secret.
	RoleViewer Role = "viewer"
	// RoleOperator keeps things going: what failed goes out again.
	RoleOperator Role = "operator"
	// RoleAdmin changes what there is, and who is there.
	RoleAdmin Role = "admin"
	// RoleOwner may do everything. An account always has one.
	RoleOwner Role = "owner"
)

// Roles lists every role, each with all that the one before may do.
var Roles = []Role{RoleViewer, RoleOperator, RoleAdmin, RoleOwner}

// Title is the role as people read it.
func (r Role) Title() string {
	switch r {
	case RoleViewer:
		return "Viewer"
	case RoleOperator:
		return "Operator"
	case RoleAdmin:
		return "Admin"
	case RoleOwner:
		return "Owner"
	default:
		return string(r)
	}
}

// WithArticle is the role in the middle of a sentence: "an admin".
func (r Role) WithArticle() string {
	if r == RoleViewer {
		return "a " + string(r)
	}
	return "an " + string(r)
}

// Includes tells whether a role may do all that another may. A role that is not
// known includes none, and none includes it.
func (r Role) Includes(other Role) bool {
	at, least := slices.Index(Roles, r), slices.Index(Roles, other)
	return least >= 0 && at >= least
}

// May tells whether a role has a permission.
func (r Role) May(p Permission) bool {
	g, ok := grantOf(p)
	return ok && r.Includes(g.Role)
}
