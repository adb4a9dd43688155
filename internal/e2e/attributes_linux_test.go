package e2e

import "syscall"

// childAttributes puts a child into a process group of its own, and has the
// kernel end it with this process: a test run that times out leaves nothing
// running.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
