//go:build peers

package panel

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPeerReadme goes the way of the README's first agent as a person does who has
// nothing else: the tree as it is published in an empty folder, a shell, and the
// commands as they are printed, one after the other. Only the addresses are others. The
// model is a server that others have written; the last step is a call in Chromium.
func TestPeerReadme(t *testing.T) {
	if chromium() == "" {
		t.Skip("there is no Chromium on this machine: 'make deps' installs it where apt-get can")
	}
	install(t)
	dir := published(t)
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(readme), "\n## An agent with a language model\n")
	part, _, _ = strings.Cut(part, "\n## ")
	file := regexp.MustCompile("(?s)```yaml (assistant.yaml)\n(.*?)```").FindStringSubmatch(part)
	session := regexp.MustCompile("(?s)```text\n\\$ (.*?)```").FindStringSubmatch(part)
	if file == nil || session == nil {
		t.Fatalf("the README's part has no file or no session:\n%s", part)
	}
	tool, page := free(t), free(t)
	there := strings.NewReplacer("127.0.0.1:11434", model(t), "127.0.0.1:8099", tool)
	if err := os.WriteFile(filepath.Join(dir, file[1]), []byte(there.Replace(file[2])), 0o600); err != nil {
		t.Fatal(err)
	}
	sh := open(t, dir)
	served := false
	for command := range strings.SplitSeq(strings.TrimSpace(session[1]), "\n$ ") {
		line, shown, _ := strings.Cut(command, "\n")
		line = there.Replace(line)
		switch {
		case strings.HasSuffix(line, "&"):
			sh.run(line)
			sh.run("until (exec 3<>/dev/tcp/" + strings.Replace(tool, ":", "/", 1) + ") 2>&-; do kill -0 $! || break; done")
		case strings.HasPrefix(line, "hocket serve "):
			if !strings.Contains(part, "http://127.0.0.1:8080") {
				t.Error("the README does not say where the page is")
			}
			sh.start(line + " --addr " + page)
			sh.until("http://" + page)
			served = true
		case strings.HasPrefix(line, "make "):
			sh.run(line)
		default:
			want, typed := apart(shown)
			if strings.HasPrefix(line, "hocket call ") {
				line += " --mix caller.wav"
			}
			got := said.ReplaceAllString(sh.run(line+typed), "")
			if strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%s\nthe README shows:\n%s\nit printed:\n%s", line, want, got)
			}
		}
	}
	if !served {
		t.Fatal("the session does not end with a page")
	}
	run(t, []string{"PAGE=http://" + page, "CALLER=" + filepath.Join(dir, "caller.wav")}, "node", "run.mjs", "e2e/readme.test.ts")
}

// said is what the output of a call has and the README's does not: the times, empty
// lines, the summary, and the note about the file that the test has added.
var said = regexp.MustCompile(`(?m)^ +[0-9.]+ s  |^call of .*\n|^caller\.wav .*\n|^\n`)

// apart returns what the README shows as printed, and what it shows as typed, as a
// here-document.
func apart(shown string) (printed, typed string) {
	for line := range strings.Lines(shown) {
		if text, ok := strings.CutPrefix(line, "> "); ok {
			typed += text
		} else {
			printed += line
		}
	}
	if typed != "" {
		typed = " <<'TYPED'\n" + typed + "TYPED"
	}
	return printed, typed
}

// published copies what is published of this tree into an empty folder, with the
// downloads that make has put beside it.
func published(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	root := os.DirFS("../..")
	c := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	c.Dir = "../.."
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	weights, err := fs.Glob(root, "detector/silero/weights/*.onnx")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(strings.Split(strings.TrimRight(string(out), "\x00"), "\x00"), weights...) {
		info, err := fs.Stat(root, name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		b, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, info.Mode().Perm()|0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// model starts the model server that others have written and returns its address.
func model(t *testing.T) string {
	t.Helper()
	script := "../../third_party/aimock-1.43.0/package/dist/cli.js"
	if _, err := os.Stat(script); err != nil {
		t.Skip("aimock is not there: provider/openai/testdata/aimock/fetch puts it into third_party, with npm")
	}
	s := shell{t: t, cmd: exec.Command("node", script, "--port", "0", "--strict", "--fixtures", "testdata/hours.json")}
	s.begin()
	line := s.until("listening on http://")
	_, addr, _ := strings.Cut(line, "http://")
	return strings.TrimSpace(addr)
}

// shell is a program whose output is read line by line; run and start want it to be a
// shell.
type shell struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.Writer
	out  *bufio.Scanner
	runs int
}

// open starts a shell in a folder. It has no other settings than this machine's Go, and
// a home of its own.
func open(t *testing.T, dir string) *shell {
	t.Helper()
	s := &shell{t: t, cmd: exec.Command("bash", "--norc", "-s")}
	s.cmd.Dir = dir
	home := t.TempDir()
	s.cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN", "GOFLAGS"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		s.cmd.Env = append(s.cmd.Env, name+"="+strings.TrimSpace(string(out)))
	}
	s.begin()
	return s
}

// begin starts the program in a process group of its own, which ends with the test.
func (s *shell) begin() {
	s.t.Helper()
	in, err := s.cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewScanner(r)
	s.cmd.Stdout, s.cmd.Stderr = w, w
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	_ = w.Close()
	s.t.Cleanup(func() {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		_ = s.cmd.Wait()
		_ = r.Close()
	})
}

// limit kills the shell after a time, unless the returned function is called: then the
// output ends, and the test fails with it.
func (s *shell) limit(d time.Duration) (stop func() bool) {
	return time.AfterFunc(d, func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }).Stop
}

// start types a command.
func (s *shell) start(command string) {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.in, command); err != nil {
		s.t.Fatal(err)
	}
}

// run types a command, waits until it has ended, and returns what it printed. The
// command must succeed.
func (s *shell) run(command string) (printed string) {
	s.t.Helper()
	defer s.limit(15 * time.Minute)() // of a command that builds the program
	s.runs++
	end := fmt.Sprintf("command %d of the README ended with ", s.runs)
	s.start(command + "\necho '" + end + "'$?")
	var b strings.Builder
	for s.out.Scan() {
		if status, ok := strings.CutPrefix(s.out.Text(), end); ok {
			if status != "0" {
				s.t.Fatalf("%s: status %s:\n%s", command, status, b.String())
			}
			return b.String()
		}
		b.WriteString(s.out.Text() + "\n")
	}
	s.t.Fatalf("%s: the shell has ended:\n%s", command, b.String())
	return ""
}

// until reads the output up to the line with a text, and returns that line.
func (s *shell) until(text string) string {
	s.t.Helper()
	defer s.limit(2 * time.Minute)()
	var b strings.Builder
	for s.out.Scan() {
		if strings.Contains(s.out.Text(), text) {
			return s.out.Text()
		}
		b.WriteString(s.out.Text() + "\n")
	}
	s.t.Fatalf("the output ends without %q:\n%s", text, b.String())
	return ""
}

// free returns a free address.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
