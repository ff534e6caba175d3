//go:build !unix

package process

import "os/exec"

// ownGroup does nothing on systems without process groups.
func ownGroup(*exec.Cmd) {}

// terminateGroup kills the process only.
func terminateGroup(cmd *exec.Cmd) { killGroup(cmd) }

// killGroup kills the process only.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it may already have exited
