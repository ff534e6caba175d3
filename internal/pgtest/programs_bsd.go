//go:build unix && !linux

package pgtest

import "syscall"

// attributes makes a program run as that user.
func (p programs) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if p.uid >= 0 {
		a.Credential = &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.gid)}
	}
	return a
}
