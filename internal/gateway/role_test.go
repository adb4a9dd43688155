package gateway_test

import (
	"slices"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// What each role may do, written down a second time: a slip in the table is a
// stranger in the house.
func TestRolesMay(t *testing.T) {
	t.Parallel()
	want := map[gateway.Role][]gateway.Permission{
		gateway.RoleViewer:   {gateway.PermRead},
		gateway.RoleOperator: {gateway.PermRead, gateway.PermPublish, gateway.PermOperate},
		gateway.RoleAdmin: {
			gateway.PermRead, gateway.PermPublish, gateway.PermOperate, gateway.PermConfigure, gateway.PermReveal,
			gateway.PermAudit, gateway.PermKeys, gateway.PermMembers, gateway.PermSettings,
		},
		gateway.RoleOwner: {
			gateway.PermRead, gateway.PermPublish, gateway.PermOperate, gateway.PermConfigure, gateway.PermReveal,
			gateway.PermAudit, gateway.PermKeys, gateway.PermMembers, gateway.PermSettings, gateway.PermOwn, gateway.PermClose,
		},
		"manager": nil, // as an earlier version called a role
		"":        nil,
	}
	for role, permissions := range want {
		for _, g := range gateway.Grants {
			if got := role.May(g.Permission); got != slices.Contains(permissions, g.Permission) {
				t.Errorf("%q may %s: %t", role, g.Permission, got)
			}
		}
	}
	for _, unknown := range []gateway.Permission{"", "Read", "everything"} {
		if gateway.RoleOwner.May(unknown) || unknown.Known() || unknown.WhileClosing() || (gateway.APIKey{Scopes: gateway.Scopes}).May(unknown) {
			t.Errorf("a permission %q is known", unknown)
		}
	}
}

func TestKeysMay(t *testing.T) {
	t.Parallel()
	for scope, want := range map[gateway.Scope][]gateway.Permission{
		gateway.ScopePublish: {gateway.PermPublish},
		gateway.ScopeRead:    {gateway.PermRead, gateway.PermAudit},
		gateway.ScopeManage:  {gateway.PermOperate, gateway.PermConfigure, gateway.PermReveal, gateway.PermKeys, gateway.PermMembers},
		"":                   nil,
	} {
		key := gateway.APIKey{Scopes: []gateway.Scope{scope}}
		for _, g := range gateway.Grants {
			if got := key.May(g.Permission); got != slices.Contains(want, g.Permission) {
				t.Errorf("a key with %q may %s: %t", scope, g.Permission, got)
			}
		}
	}
}

func TestWhoMay(t *testing.T) {
	t.Parallel()
	for p, want := range map[gateway.Permission]string{
		gateway.PermRead:    "A viewer, an operator, an admin or an owner",
		gateway.PermOperate: "An operator, an admin or an owner",
		gateway.PermReveal:  "An admin or an owner",
		gateway.PermClose:   "An owner",
		"unknown":           "",
	} {
		if got := p.Who(); got != want {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
}
