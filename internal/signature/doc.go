// Package signature proves who sent a webhook and signs the ones that go out.
//
// Inbound, each kind of source is one Scheme in one file, named in registry.go.
// A scheme reads the request exactly as it came, checks it against the live
// secrets of the source, and tells which events it carries. Whatever a sender
// puts into a request, the answer is a verdict or a *Refusal, never a panic.
//
// Outbound, Sign makes Standard Webhooks signatures with the keys of an endpoint.
//
// The package imports the standard library and the domain's ids only. It holds
// no state and reads no clock: the time is part of the request.
package signature
