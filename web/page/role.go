package page

import "github.com/rowlock/rowlock/internal/gateway"

// permissionWords say what a permission is to do.
var permissionWords = map[gateway.Permission]string{
	gateway.PermRead:      "See events, deliveries, endpoints, sources, claims and numbers, and choose mails for oneself",
	gateway.PermPublish:   "Send events in, and claim keys of the ledger",
	gateway.PermOperate:   "Redeliver, recover, reclaim, dismiss, reconcile, pause and resume, and send test events",
	gateway.PermConfigure: "Change endpoints, sources, rules and event types, and delete them",
	gateway.PermReveal:    "See secrets and ingest addresses",
	gateway.PermKeys:      "Create and revoke API keys",
	gateway.PermMembers:   "Invite people, change their roles, remove them",
	gateway.PermSettings:  "Change the account’s name and settings",
	gateway.PermOwn:       "Make owners, and hand the account over",
	gateway.PermClose:     "Delete the account",
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
