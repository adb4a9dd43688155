package page

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// permissionWords say what a permission is to do.
var permissionWords = map[gateway.Permission]string{
	gateway.PermRead:      "See events, deliveries, endpoints, sources, claims and numbers, and choose mails for oneself",
	gateway.PermPublish:   "Send events in, and claim keys of the ledger",
	gateway.PermOperate:   "Redeliver, recover, reclaim, dismiss, reconcile, pause and resume, and send test events",
	gateway.PermConfigure: "Change endpoints, sources, rules and event types, and delete them",
	gateway.PermReveal:    "See secrets and ingest addresses",
	gateway.PermAudit:     "See who did what, and from where",
	gateway.PermKeys:      "Create and revoke API keys",
	gateway.PermMembers:   "Invite people, change their roles, remove them",
	gateway.PermSettings:  "Change the account’s name and settings",
	gateway.PermOwn:       "Make owners, hand the account over, and require two-step log-in",
	gateway.PermClose:     "Delete the account",
}

// permissionRow is a permission, and which roles have it, in their order.
type permissionRow struct {
	words string
	has   []bool
}

// permissionRows is the table of who may do what. What keys alone do is left
// out.
func permissionRows() []permissionRow {
	var rows []permissionRow
	for _, g := range gateway.Grants {
		row := permissionRow{words: permissionWords[g.Permission]}
		if g.Permission == gateway.PermPublish {
			continue // pages send nothing in
		}
		for _, r := range gateway.Roles {
			row.has = append(row.has, r.May(g.Permission))
		}
		rows = append(rows, row)
	}
	return rows
}

// mayDo lists in words what a role may do.
func mayDo(r gateway.Role) []string {
	var all []string
	for _, g := range gateway.Grants {
		if r.May(g.Permission) && g.Permission != gateway.PermPublish {
			all = append(all, permissionWords[g.Permission])
		}
	}
	return all
}

// roleNotes say what a role is for, in a few words.
var roleNotes = map[gateway.Role]string{
	gateway.RoleViewer:   "Looks, and sees no secret.",
	gateway.RoleOperator: "Keeps things going: redelivers, recovers, pauses and resumes.",
	gateway.RoleAdmin:    "Changes endpoints, sources, keys and members, and sees secrets.",
	gateway.RoleOwner:    "Everything, and the account itself.",
}

// roleOptions are the roles to choose from; owner is one for owners alone.
func roleOptions(chosen string, owner bool) []component.Option {
	var options []component.Option
	for _, r := range gateway.Roles {
		if r == gateway.RoleOwner && !owner {
			continue
		}
		options = append(options, component.Option{Value: string(r), Label: r.Title(), Hint: roleNotes[r], Selected: string(r) == chosen})
	}
	return options
}
