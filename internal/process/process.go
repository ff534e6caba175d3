package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/redact"
)

// maxSaid bounds the number of bytes kept of a program's standard error.
const maxSaid = 500

// Options describes the program to run.
type Options struct {
	// Command is run with Args in Dir, or in the current folder if Dir is empty,
	// without a shell.
	Command string
	Args    []string
	Dir     string
	// Env names the variables that the program gets in addition to PATH, HOME and
	// other basic ones, with values from Getenv (os.LookupEnv if nil). Set contains
	// more variables as NAME=value.
	Env, Set []string
	Getenv   func(name string) (string, bool)
	// Grace is the time limit of each step of End; 2 s if 0.
	Grace time.Duration
}

// Process is a running program. Its methods are safe for concurrent use.
type Process struct {
	// Stdin is the program's standard input. It is closed by End, or earlier by the
	// caller. Stdout is the program's standard output. Its reader must close it. It
	// ends at most one grace period after the program's exit.
	Stdin, Stdout *os.File

	cmd    *exec.Cmd
	said   tail
	grace  time.Duration
	waited chan struct{} // closed after the process has been waited for
	err    error         // exit error; may be read after waited is closed
	ending sync.Once
}

// inherited returns the variables that every program gets. Credentials must be
// passed by name.
func inherited() []string {
	if runtime.GOOS == "windows" {
		return []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE"}
	}
	return []string{"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"}
}

// Start starts a program.
func Start(o Options) (*Process, error) {
	getenv := o.Getenv
	if getenv == nil {
		getenv = os.LookupEnv
	}
	cmd := exec.Command(o.Command, o.Args...) //nolint:gosec,noctx // the config names it, and its owner ends it
	cmd.Dir = o.Dir
	cmd.Env = []string{}
	for _, name := range append(inherited(), o.Env...) {
		if v, ok := getenv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, o.Set...)
	ownGroup(cmd)
	p := &Process{cmd: cmd, grace: o.Grace, waited: make(chan struct{})}
	for _, name := range o.Env {
		v, _ := getenv(name)
		p.said.secrets = append(p.said.secrets, v)
	}
	if p.grace == 0 {
		p.grace = 2 * time.Second
	}
	// Use pipes of our own: Wait would close those of package exec while they are
	// read, and would wait for other processes that have them open.
	var ours, theirs [3]*os.File
	closeAll := func(files []*os.File) {
		for _, f := range files {
			if f != nil {
				_ = f.Close() // nothing was written to it
			}
		}
	}
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours[:])
			closeAll(theirs[:])
			return nil, err
		}
		ours[i], theirs[i] = r, w
	}
	ours[0], theirs[0] = theirs[0], ours[0] // standard input has the opposite direction
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	p.Stdin, p.Stdout = ours[0], ours[1]
	started := make(chan error, 1)
	go p.run(started, ours[2])
	err := <-started
	closeAll(theirs[:])
	if err != nil {
		closeAll(ours[:])
		return nil, plain(err)
	}
	return p, nil
}

// run starts the process and waits for it on one thread, since the parent-death
// signal is sent when the thread that started the process ends.
func (p *Process) run(started chan<- error, stderr *os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.wait(stderr)
	}
}

// plain returns an error of the start without the wrapper of package exec.
func plain(err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return errors.New(e.Name + ": " + e.Err.Error())
	}
	return err
}

// wait waits for the process and ends the rest of its group. It waits only for the
// grace period for processes that have left the group and hold the pipes.
func (p *Process) wait(stderr *os.File) {
	var listener sync.WaitGroup
	listener.Go(func() { _, _ = io.Copy(&p.said, stderr) }) // read until the end or an error
	p.err = p.cmd.Wait()
	killGroup(p.cmd)
	until := time.Now().Add(p.grace)
	_ = p.Stdout.SetReadDeadline(until) // it may already be closed
	_ = stderr.SetReadDeadline(until)
	listener.Wait()
	_ = stderr.Close()
	close(p.waited)
}

// Waited returns a channel that is closed when the program and its group have
// ended.
func (p *Process) Waited() <-chan struct{} { return p.waited }

// Err waits for the program's exit and returns its error, or nil for status 0.
func (p *Process) Err() error {
	<-p.waited
	return p.err
}

// End ends the program: it closes the input, and sends SIGTERM and SIGKILL to the
// group after one grace period each. It returns when the program has exited.
func (p *Process) End() { p.end(false) }

// Terminate is like End without the first grace period.
func (p *Process) Terminate() { p.end(true) }

func (p *Process) end(now bool) {
	p.ending.Do(func() {
		_ = p.Stdin.Close() // it may already be closed
		steps := []func(*exec.Cmd){terminateGroup, killGroup}
		if now {
			steps = steps[1:]
			select {
			case <-p.waited: // the process id may have been reused
			default:
				terminateGroup(p.cmd)
			}
		}
		for _, more := range steps {
			timer := time.NewTimer(p.grace)
			select {
			case <-p.waited:
			case <-timer.C:
				more(p.cmd)
			}
			timer.Stop()
		}
	})
	<-p.waited
}

// Said returns the end of the program's standard error for people, without the
// values of variables passed by name.
func (p *Process) Said() string { return p.said.String() }

// tail keeps the last bytes written to it. It is safe for concurrent use.
type tail struct {
	secrets []string

	mu  sync.Mutex // guards the fields below
	buf []byte
	cut bool // earlier bytes were dropped
}

// Write keeps the end of b.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := b[max(0, len(b)-maxSaid):]
	t.cut = t.cut || len(last) < len(b)
	t.buf = append(t.buf, last...)
	if over := len(t.buf) - maxSaid; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	return len(b), nil
}

// String returns the bytes kept as one line of text.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.buf)
	if t.cut {
		text = redact.HideHead(text, t.secrets...)
	}
	return redact.OneLine(redact.Hide(text, t.secrets...))
}
