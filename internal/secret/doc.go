// Package secret keeps secrets: it seals those that are stored, makes tokens,
// and compares in constant time.
//
// Stored secrets are sealed with a keyset that lies in the database, itself
// wrapped by the master key, which does not. So a copy of the database alone
// opens nothing, and changing the master key rewraps one row.
package secret
