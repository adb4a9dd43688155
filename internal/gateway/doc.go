// Package gateway is the domain of Rowlock: what an account, a source, an
// event, an endpoint, a delivery and an attempt are, the states they may be
// in, and the policies that decide what happens next, as pure functions.
//
// It imports the standard library only, so that every other package may
// import it.
package gateway
