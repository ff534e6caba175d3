package process

import "syscall"

// endWithParent has a process asked to end when this program has died.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
