//go:build unix

package pgchild

import "syscall"

// detached starts a child in a process group of its own, so that Ctrl-C at the
// terminal reaches this process alone, which then stops the child in order.
func detached(u User) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if u.Drop {
		a.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
	}
	return a
}

// killGroup kills a child and what it has started. It may be gone already,
// which is as good.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
