//go:build unix && !linux

package pgchild

import "syscall"

// attributes has no signal for the death of this process: only Linux offers
// one. A server left behind by kill -9 is adopted at the next start.
func attributes(u User) *syscall.SysProcAttr { return detached(u) }
