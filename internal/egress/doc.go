// Package egress is the one outbound HTTP client, for every address that a
// user may choose.
//
// What holds for each request:
//   - The address is vetted when the connection is made, after the name was
//     resolved, so that no name leads to where it must not. Redirects are not
//     followed and no proxy is taken from the environment.
//   - The answer is hostile: its headers and body are bounded, and the timeout
//     covers everything, to the last byte of the body.
//   - A request is put on the wire once. If a kept-alive connection turns out
//     to be closed before a byte was written, another one is used; afterwards
//     nothing is sent again, whatever happened: deciding that is the caller's.
//   - It is HTTP/1.1, where an attempt has its connection to itself: a reset,
//     a hang or a dead peer touches that attempt alone, and no layer below
//     replays requests.
//
// A far side that fails is a Result, not an error.
package egress
