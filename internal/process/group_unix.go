//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a process the leader of a group, so that what it starts can be
// ended with it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// terminateGroup asks a process and what it has started to end.
func terminateGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // it may have ended

// killGroup ends them.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // it may have ended
