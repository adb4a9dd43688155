// Package access says of each route who it is for. Whoever adds a route says so
// in the same line, and the guards are made of it: there is no route without.
package access

import "github.com/rowlock/rowlock/internal/gateway"

// Audience is who a route is for.
type Audience string

// The audiences.
const (
	// Everybody needs to be nobody.
	Everybody Audience = "everybody"
	// Person is whoever is logged in.
	Person Audience = "person"
	// InstanceOwner is the owner of the whole instance.
	InstanceOwner Audience = "instance owner"
	// Members are those of the account in the address who have the permission.
	Members Audience = "members"
	// Keys are API keys that have the permission.
	Keys Audience = "keys"
)

// Route is one route, and who it is for.
type Route struct {
	Method, Path string
	For          Audience
	// Needs is what members and keys need to have; empty for the others.
	Needs gateway.Permission
}

// Routes are those of a part of the server, in the order in which they were
// added.
type Routes []Route

// Add notes a route.
func (r *Routes) Add(one Route) { *r = append(*r, one) }
