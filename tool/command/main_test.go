//go:build unix

package command

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// childEnv turns the test's program into a child process that does what its arguments
// say.
const childEnv = "HOCKET_COMMAND_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	os.Exit(child(os.Args[1:]))
}

// child is a third-party program with its exit status.
func child(args []string) int {
	say := func(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }
	switch args[0] {
	case "say": // prints each argument as a line
		for _, line := range args[1:] {
			say("%s", line)
		}
	case "cat": // prints a file recorded from another program
		b, err := os.ReadFile(args[1])
		if err != nil {
			panic(err)
		}
		_, _ = os.Stdout.Write(b)
	case "exit":
		fmt.Fprintln(os.Stderr, "no disk,", os.Getenv("TEST_KEY"))
		say(`{"type":"partial","output":"half"}`)
		return 3
	case "plain": // prints words and exits with a status
		say("one\ntwo")
		if args[1] != "0" {
			return 7
		}
	case "input": // prints its input
		b, err := io.ReadAll(os.Stdin)
		if err != nil {
			panic(err)
		}
		say(`{"type":"result","output":%q}`, strings.Join(args[1:], "|")+" < "+string(b))
	case "environment":
		say(`{"type":"result","output":%q}`, strings.Join(os.Environ(), "\n"))
	case "deaf": // reads nothing
		say(`{"type":"result","output":"I did not listen"}`)
	case "flood":
		w := bufio.NewWriter(os.Stdout)
		for {
			if _, err := w.WriteString(`{"type":"progress","text":"` + strings.Repeat("x", 1000) + `"}` + "\n"); err != nil {
				return 1
			}
		}
	case "longline":
		_, _ = os.Stdout.WriteString(strings.Repeat("x", maxLine+1))
		block()
	case "stubborn": // ignores signals
		signal.Ignore(syscall.SIGTERM)
		say(`{"type":"partial","output":"half"}`)
		say(`{"type":"progress","text":"%d"}`, os.Getpid())
		block()
	case "polite": // writes its partial result on SIGTERM
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		say(`{"type":"progress","text":"%d"}`, os.Getpid())
		<-asked
		say(`{"type":"partial","output":"nearly"}`)
	case "finishes": // writes its result on SIGTERM
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		say(`{"type":"progress","text":"%d"}`, os.Getpid())
		<-asked
		say(`{"type":"result","output":"just in time"}`)
	case "lingers": // writes a result and does not exit
		say(`{"type":"result","output":"early"}`)
		signal.Ignore(syscall.SIGTERM)
		block()
	case "family": // starts a process that starts another, and waits for them or leaves them behind
		cmd := exec.Command(os.Args[0], "stubborn") //nolint:gosec // this very program
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		if args[1] == "waits" {
			_ = cmd.Wait()
		}
		if args[1] == "result" {
			say(`{"type":"result","output":"%d"}`, cmd.Process.Pid)
		}
	case "deserter": // starts a child that leaves the group and keeps the streams open
		cmd := exec.Command(os.Args[0], "stubborn") //nolint:gosec // this very program
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		say(`{"type":"partial","output":"half"}`)
		say(`{"type":"progress","text":"%d"}`, cmd.Process.Pid)
	default:
		panic(args[0])
	}
	return 0
}

// block never returns.
func block() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGUSR1)
	<-stop
}
