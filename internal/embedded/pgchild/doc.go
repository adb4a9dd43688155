// Package pgchild finds PostgreSQL's programs on this machine and runs them as
// children that never outlive this process and never run as root.
//
// It knows nothing of Rowlock's data: package embedded builds the private
// server of a small installation on it, and the test support builds its
// throw-away servers on it.
package pgchild
