//go:build unix

package cli

import (
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/hocketvoice/hocket/provider/openai/fake"
)

// screen is the program at a terminal, with its output.
type screen struct {
	t    *testing.T
	cmd  *exec.Cmd
	keys *os.File
	text bytes.Buffer
	seen int
}

// atTerminal starts the program at a new terminal.
func atTerminal(t *testing.T, env []string, args ...string) *screen {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, cmd: exec.CommandContext(t.Context(), program, args...)}
	s.cmd.Env = append(append(os.Environ(), mainEnv+"=1", "TERM=xterm"), env...)
	if s.keys, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	hangs := time.AfterFunc(time.Minute, func() { _ = s.cmd.Process.Kill() }) // reads from the terminal have no deadline
	t.Cleanup(func() {
		hangs.Stop()
		_ = s.cmd.Process.Kill()
		_ = s.keys.Close()
	})
	return s
}

// waits reads until the terminal shows a text after the text seen before.
func (s *screen) waits(text string) {
	s.t.Helper()
	for !strings.Contains(s.text.String()[s.seen:], text) {
		if err := s.read(); err != nil {
			s.t.Fatalf("%v: %q is missing:\n%q", err, text, s.text.String()[s.seen:])
		}
	}
	s.seen += strings.Index(s.text.String()[s.seen:], text) + len(text)
}

func (s *screen) read() error {
	buf := make([]byte, 4096)
	n, err := s.keys.Read(buf)
	s.text.Write(buf[:n])
	return err
}

// types sends keys.
func (s *screen) types(text string) {
	s.t.Helper()
	if _, err := s.keys.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the end and returns the exit status.
func (s *screen) ends() int {
	s.t.Helper()
	for s.read() == nil {
		continue
	}
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	up    = "\x1b[A"
	left  = "\x1b[D"
)

// TestChatAtATerminal checks that the speaker is shown, that lines can be edited, that
// earlier lines can be recalled, and that orders to the program are not sent to the
// agent.
func TestChatAtATerminal(t *testing.T) {
	s := atTerminal(t, []string{"NO_COLOR=1"}, "chat", "--agent", write(t, "agent.yaml", goodAgent))
	const prompt = "you    "
	s.waits("agent  ")
	for _, tc := range []struct{ keys, shown string }{
		{"wether" + left + left + left + left + "a\r", "\r\nagent  Which city?\r\n"},
		{"/state\r", `"conversation_state": "waiting_for_slot"`},
		{"/why\r", `"flow":"ask"`},
		{"/nonsense\r", "unknown command /nonsense: expected one of /state, /why, /quit, /help"},
		{"boston\r", "\r\nagent  You said boston.\r\n"},
		{up + up + up + up + up + "\r", "\r\nagent  Which city?\r\n"}, // the first line typed
	} {
		s.waits(prompt)
		s.types(tc.keys)
		s.waits(tc.shown)
	}
	s.waits(prompt)
	s.types("/quit\r")
	if status := s.ends(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if strings.Contains(s.text.String(), "\x1b[1") {
		t.Errorf("there are colours: %q", s.text.String())
	}
}

// TestChatColours checks that output to a terminal is coloured unless NO_COLOR is set,
// and that output to a pipe is not.
func TestChatColours(t *testing.T) {
	s := atTerminal(t, []string{"NO_COLOR="}, "chat", "--agent", write(t, "agent.yaml", goodAgent))
	s.waits("\x1b[1;36magent\x1b[0m  ")
	s.waits("\x1b[1myou\x1b[0m    ")
	s.types(ctrlD)
	if status := s.ends(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// TestChatCtrlC checks that Ctrl-C ends the chat at the prompt, and only stops the
// answer while the agent works.
func TestChatCtrlC(t *testing.T) {
	asked := make(chan struct{}, 10)
	web := httptest.NewServer(&fake.Server{Answer: func(q fake.Request) fake.Answer {
		if strings.HasSuffix(q.Messages[len(q.Messages)-1].Text(), "slow") { // "now" is appended to it
			asked <- struct{}{}
			return fake.Answer{Events: []string{fake.Begin()}, NoDone: true, Hang: true}
		}
		return fake.Text("Quick.")
	}})
	defer web.Close()
	s := atTerminal(t, []string{"NO_COLOR=1"}, "chat", "--agent", write(t, "clerk.yaml", clerk+"model: {name: m, base_url: "+web.URL+"/v1}\n"))
	s.waits("you    ")
	s.types("slow\r")
	<-asked
	s.types(ctrlC)
	s.waits("\r\nyou    ")
	s.types("now\r")
	s.waits("agent  Quick.")
	s.waits("you    ")
	s.types("half a line" + ctrlC)
	if status := s.ends(); status != statusInterrupted {
		t.Errorf("exit status %d", status)
	}
}

// TestChatInterruptedWithoutATerminal checks that an interrupt ends a chat that waits
// for a pipe.
func TestChatInterruptedWithoutATerminal(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "chat", "--agent", write(t, "agent.yaml", goodAgent))
	cmd.Env = append(os.Environ(), mainEnv+"=1")
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		t.Fatal(err1, err2)
	}
	defer in.Close()
	if _, err := io.WriteString(in, "weather\n"); err != nil {
		t.Fatal(err)
	}
	buf, text := make([]byte, 1000), ""
	for !strings.Contains(text, "Which city?") {
		n, err := out.Read(buf)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		text += string(buf[:n])
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != statusInterrupted && status != -1 {
		t.Errorf("exit status %d", status)
	}
}
