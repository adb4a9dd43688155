package app

import (
	"fmt"
	"strings"
)

// Roles are what a process does. Every process does at least one.
type Roles struct{ Web, API, Ingest, Worker bool }

// ParseRoles reads roles separated by commas, such as "web,api,ingest,worker".
func ParseRoles(csv string) (Roles, error) {
	var r Roles
	for name := range strings.SplitSeq(csv, ",") {
		switch strings.TrimSpace(name) {
		case "web":
			r.Web = true
		case "api":
			r.API = true
		case "ingest":
			r.Ingest = true
		case "worker":
			r.Worker = true
		default:
			return r, fmt.Errorf("%q is no role: want web, api, ingest, worker, separated by commas", name)
		}
	}
	return r, nil
}

// String writes the roles as ParseRoles reads them.
func (r Roles) String() string {
	var names []string
	for _, role := range []struct {
		on   bool
		name string
	}{{r.Web, "web"}, {r.API, "api"}, {r.Ingest, "ingest"}, {r.Worker, "worker"}} {
		if role.on {
			names = append(names, role.name)
		}
	}
	return strings.Join(names, ",")
}
