package mcp

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// process is a server's process with what it writes. Its methods are safe for
// concurrent use.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	tail   *tail
	grace  time.Duration

	waited chan struct{} // closed when the process has been waited for
	err    error         // of its end; readable when waited is closed
	ending sync.Once
}

// inherited are the variables that every process gets: what programs need to find
// themselves. Credentials are handed over by name.
func inherited() []string {
	if runtime.GOOS == "windows" {
		return []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE"}
	}
	return []string{"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"}
}

// startProcess runs a server's command. The goroutine that waits for it ends with
// it: see end.
func startProcess(s *Server, getenv func(string) (string, bool), grace time.Duration) (*process, error) {
	cmd := exec.Command(s.Command, s.Args...) //nolint:gosec,noctx // the config names it, and end ends it
	cmd.Dir = s.Dir
	cmd.Env = []string{}
	for _, name := range append(inherited(), s.Env...) {
		if v, ok := getenv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	ownGroup(cmd)
	p := &process{cmd: cmd, tail: &tail{}, grace: grace, waited: make(chan struct{})}
	// Pipes of our own: those of exec are closed by Wait, under the reader.
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inRead.Close(), inWrite.Close())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inRead, outWrite, p.tail
	cmd.WaitDelay = grace // what the process has left behind may hold its stderr
	err = cmd.Start()
	if closing := errors.Join(inRead.Close(), outWrite.Close()); err == nil {
		err = closing
	}
	if err != nil {
		return nil, errors.Join(plain(err), inWrite.Close(), outRead.Close())
	}
	p.stdin, p.stdout = inWrite, outRead
	go p.wait()
	return p, nil
}

// plain is an error of the start without what exec puts around it.
func plain(err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return errors.New(e.Name + ": " + e.Err.Error())
	}
	return err
}

// wait waits for the process and ends what is left of its group.
func (p *process) wait() {
	p.err = p.cmd.Wait()
	killGroup(p.cmd)
	close(p.waited)
}

// end asks the process to end, by the end of its input, then by SIGTERM, and makes
// it: the protocol's order of shutting a server down. It returns when the process
// has been waited for.
func (p *process) end() {
	p.ending.Do(func() {
		_ = p.stdin.Close() // it may be closed already
		for _, more := range []func(*exec.Cmd){terminateGroup, killGroup} {
			timer := time.NewTimer(p.grace)
			select {
			case <-p.waited:
			case <-timer.C:
				more(p.cmd)
			}
			timer.Stop()
		}
		<-p.waited
		_ = p.stdout.Close()
	})
	<-p.waited
}

// Close implements the end of the transport.
func (p *process) Close() error {
	p.end()
	return nil
}

// Read is what the process writes.
func (p *process) Read(b []byte) (int, error) { return p.stdout.Read(b) }

// Write is what the process reads.
func (p *process) Write(b []byte) (int, error) { return p.stdin.Write(b) }

// said is the last of what the process wrote to its standard error, for people.
func (p *process) said() string { return p.tail.String() }

// tail keeps the last bytes that are written to it. It is safe for concurrent use.
type tail struct {
	mu  sync.Mutex // guards buf
	buf []byte
}

// Write keeps the end of b.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - maxFailure; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

// String is what is kept, as one line of text.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(t.buf), "?")), " ")
}
