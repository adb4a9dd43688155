// Package demo makes an account live: it sends to its sources as providers do and
// publishes as an application does, with repeats, late reports and forgeries, and it
// receives what is delivered, unreliably, in a process of its own. All of it goes
// through the ways that are open to everybody.
package demo
