//go:build !unix

package process

import "os/exec"

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

// terminateGroup ends the process alone.
func terminateGroup(cmd *exec.Cmd) { killGroup(cmd) }

// killGroup ends the process alone.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it may have ended
