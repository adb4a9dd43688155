// Package resource is how callers write endpoints, sources, rules and event
// types: the bodies of the REST API, of which an exported configuration is made
// as well, so that nothing has to be learned twice.
package resource
