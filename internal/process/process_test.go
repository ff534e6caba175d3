//go:build unix

package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
	"go.uber.org/goleak"
)

// parentEnv turns the test's program into one that starts another and waits.
const parentEnv = "HOCKET_PROCESS_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(parentEnv) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	p, err := Start(Options{Command: "sleep", Args: []string{"300"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.cmd.Process.Pid) //nolint:forbidigo // the test's own program
	<-p.Waited()
}

func started(t *testing.T, o Options) *Process {
	t.Helper()
	o.Grace = 200 * time.Millisecond
	p, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Terminate()
		_ = p.Stdout.Close() // it may already be closed
	})
	return p
}

// TestEnd checks that a program ends at the end of its input, by SIGTERM, or by
// SIGKILL.
func TestEnd(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		end    func(*Process)
		want   string
	}{
		"its input":       {"cat", (*Process).End, ""},
		"its own status":  {"echo no luck >&2; exit 3", (*Process).End, "exit status 3"},
		"asked":           {"sleep 300", (*Process).End, "signal: terminated"},
		"asked at once":   {"sleep 300", (*Process).Terminate, "signal: terminated"},
		"made to":         {"trap '' TERM; while :; do sleep 300; done", (*Process).End, "signal: killed"},
		"made to at once": {"trap '' TERM; echo; while :; do sleep 300; done", (*Process).Terminate, "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := started(t, Options{Command: "sh", Args: []string{"-c", c.script}})
			if strings.Contains(c.script, "echo;") { // the program is running by now
				if _, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(c.script, "exit") {
				<-p.Waited()
			}
			c.end(p)
			if err := p.Err(); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("it has ended with %v", err)
			}
			if name == "its own status" && p.Said() != "no luck" {
				t.Errorf("it says %q", p.Said())
			}
			c.end(p) // a second call does nothing
		})
	}
}

// TestStreams checks standard input and output and the environment.
func TestStreams(t *testing.T) {
	env := func(name string) (string, bool) {
		return "of " + name, name == "HOME" || name == "GIVEN" || name == "OTHER"
	}
	p := started(t, Options{Command: "/bin/sh", Args: []string{"-c", "cat; /usr/bin/env"}, Env: []string{"GIVEN"}, Set: []string{"SET=1"}, Getenv: env})
	if _, err := p.Stdin.WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	if err := p.Stdin.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(p.Stdout)
	text := string(out)
	if err != nil || !strings.HasPrefix(text, "hello\n") || !strings.Contains(text, "HOME=of HOME\n") || !strings.Contains(text, "GIVEN=of GIVEN\n") ||
		!strings.Contains(text, "SET=1\n") || strings.Contains(text, "OTHER") {
		t.Errorf("%q, error %v", text, err)
	}
	if _, err := Start(Options{Command: "no-such-program"}); err == nil || err.Error() != "no-such-program: executable file not found in $PATH" {
		t.Errorf("%v", err)
	}
	if _, err := Start(Options{Command: "sh", Dir: "/no/such"}); err == nil {
		t.Error("it runs nowhere")
	}
}

// TestLastWords checks that output written during the end of a program can be read
// afterwards.
func TestLastWords(t *testing.T) {
	p := started(t, Options{Command: "sh", Args: []string{"-c", "trap 'echo bye; exit' TERM; echo; while :; do sleep 0.01; done"}})
	if _, err := p.Stdout.Read(make([]byte, 1)); err != nil { // the program is running by now
		t.Fatal(err)
	}
	p.Terminate()
	if b, err := io.ReadAll(p.Stdout); err != nil || string(b) != "bye\n" {
		t.Errorf("it has said %q, error %v", b, err)
	}
}

// TestSecrets checks that values of variables passed by name are removed, even if
// their beginning was cut off.
func TestSecrets(t *testing.T) {
	p := started(t, Options{
		Command: "sh", Args: []string{"-c", `echo "$KEY and more"; printf '%0480d' 0; echo "$KEY and $KEY" >&2`}, Env: []string{"KEY"},
		Getenv: func(name string) (string, bool) { return "open sesame", name == "KEY" },
	})
	<-p.Waited()
	if said := p.Said(); said != "[secret] and [secret]" {
		t.Errorf("it says %q", said)
	}
	said := tail{secrets: []string{"open sesame"}}
	if _, err := said.Write([]byte("open sesame!" + strings.Repeat("x", maxSaid-4))); err != nil {
		t.Fatal(err)
	}
	if text := said.String(); text != "!"+strings.Repeat("x", maxSaid-4) {
		t.Errorf("it says %.20q, %d bytes", text, len(text))
	}
}

// TestTail checks that the last bytes are kept.
func TestTail(t *testing.T) {
	var said tail
	for _, text := range []string{strings.Repeat("x", 10*maxSaid), "the\n\xff", "end "} {
		if n, err := said.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%d, error %v", n, err)
		}
	}
	if text := said.String(); !strings.HasSuffix(text, "xthe ?end") || len(text) > maxSaid {
		t.Errorf("%d bytes, %q", len(text), text)
	}
}

// TestParentDies checks that a program receives SIGTERM when its parent is killed.
func TestParentDies(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a process that its parent has died")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), self)
	parent.Env = append(os.Environ(), parentEnv+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	waittest.Until(t, "the end of the child", nil, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || err != nil || strings.Contains(string(stat), ") Z ")
	})
}
