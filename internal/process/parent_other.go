//go:build unix && !linux

package process

import "syscall"

// endWithParent does nothing where the system has no such signal.
func endWithParent(*syscall.SysProcAttr) {}
