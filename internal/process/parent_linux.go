package process

import "syscall"

// endWithParent makes a process receive SIGTERM when this program has died.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
