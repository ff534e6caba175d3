//go:build unix && !linux

package process

import "syscall"

// endWithParent does nothing on systems without such a signal.
func endWithParent(*syscall.SysProcAttr) {}
