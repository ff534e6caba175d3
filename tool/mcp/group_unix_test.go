//go:build unix

package mcp

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// freeze stops the process, which then appears to hang.
func freeze() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	select {}
}

// die kills the process.
func die() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }

// TestChildrenEnd checks that a server's children end with it.
func TestChildrenEnd(t *testing.T) {
	tools, err := Open(t.Context(), Options{Servers: []Server{self(t, "1", nil)}, Grace: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	out := called(t, tools, "child", `{}`)
	pid, err := strconv.Atoi(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the child does not run: %v", err)
	}
	if err := tools.Close(); err != nil {
		t.Fatal(err)
	}
	for runs(t, pid) {
		continue // the child ends with its server
	}
}

// runs reports whether a process is running; an exited one may not have been reaped
// yet.
func runs(t *testing.T, pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return false // it has ended in the meantime
	}
	t.Logf("process %d: %s", pid, out)
	return !strings.HasPrefix(string(out), "Z")
}
