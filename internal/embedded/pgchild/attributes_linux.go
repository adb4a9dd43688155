package pgchild

import "syscall"

// attributes adds the signal that the kernel sends when this process dies in
// any way, kill -9 included.
func attributes(u User) *syscall.SysProcAttr {
	a := detached(u)
	a.Pdeathsig = syscall.SIGQUIT
	return a
}
