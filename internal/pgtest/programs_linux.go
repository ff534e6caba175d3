package pgtest

import "syscall"

// attributes makes a program run as that user and end with its parent.
func (p programs) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Setpgid: true}
	if p.uid >= 0 {
		a.Credential = &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.gid)}
	}
	return a
}
