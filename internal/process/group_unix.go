//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a process the leader of its own group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// terminateGroup sends SIGTERM to a process's group.
func terminateGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // it may already have exited

// killGroup sends SIGKILL to a process's group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // it may already have exited
