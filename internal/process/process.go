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

// maxSaid bounds what is kept of a program's standard error, in bytes.
const maxSaid = 500

// Options say what is run.
type Options struct {
	// Command with Args is run in Dir, the current folder if "". No shell reads them.
	Command string
	Args    []string
	Dir     string
	// Env names the variables that the program gets beside PATH, HOME and the like,
	// by what Getenv says, os.LookupEnv if nil; Set are further ones, NAME=value.
	Env, Set []string
	Getenv   func(name string) (string, bool)
	// Grace is how long each step of an end may take; 2 s if 0.
	Grace time.Duration
}

// Process is a program that runs. Its methods are safe for concurrent use.
type Process struct {
	// Stdin is what the program reads, closed by its end or by whoever needs that
	// earlier. Stdout is what it writes. Who reads it closes it, when the last of it is
	// read: at the latest a grace after the program's end there is no more.
	Stdin, Stdout *os.File

	cmd    *exec.Cmd
	said   tail
	grace  time.Duration
	waited chan struct{} // closed when the process has been waited for
	err    error         // of its end; readable when waited is closed
	ending sync.Once
}

// inherited are the variables that every program gets: what programs need to find
// themselves. Credentials are handed over by name.
func inherited() []string {
	if runtime.GOOS == "windows" {
		return []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE"}
	}
	return []string{"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"}
}

// Start runs a program.
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
	// Pipes of our own: those of exec are closed by Wait, under the reader, and Wait
	// would wait for whatever else holds them.
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
	ours[0], theirs[0] = theirs[0], ours[0] // the one that is written to
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

// run starts the process and waits for it, on one thread: where the process is to
// hear of the end of this program, it hears of the end of the thread that has
// started it.
func (p *Process) run(started chan<- error, stderr *os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.wait(stderr)
	}
}

// plain is an error of the start without what exec puts around it.
func plain(err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return errors.New(e.Name + ": " + e.Err.Error())
	}
	return err
}

// wait waits for the process and ends what is left of its group. What has left the
// group and holds the pipes holds them for the grace alone.
func (p *Process) wait(stderr *os.File) {
	var listener sync.WaitGroup
	listener.Go(func() { _, _ = io.Copy(&p.said, stderr) }) // to its end, whichever
	p.err = p.cmd.Wait()
	killGroup(p.cmd)
	until := time.Now().Add(p.grace)
	_ = p.Stdout.SetReadDeadline(until) // it may be closed already
	_ = stderr.SetReadDeadline(until)
	listener.Wait()
	_ = stderr.Close()
	close(p.waited)
}

// Waited is closed when the program has ended, and with it all of its group.
func (p *Process) Waited() <-chan struct{} { return p.waited }

// Err is how the program has ended, nil for status 0. It waits for the end.
func (p *Process) Err() error {
	<-p.waited
	return p.err
}

// End has the program end by the end of its input, then by SIGTERM and SIGKILL to
// its group, each a grace later. It returns when the program has ended.
func (p *Process) End() { p.end(false) }

// Terminate has it end as End does, without the first grace.
func (p *Process) Terminate() { p.end(true) }

func (p *Process) end(now bool) {
	p.ending.Do(func() {
		_ = p.Stdin.Close() // it may be closed already
		steps := []func(*exec.Cmd){terminateGroup, killGroup}
		if now {
			steps = steps[1:]
			select {
			case <-p.waited: // its number may be another's by now
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

// Said is the last of what the program wrote to its standard error, for people. The
// values of the variables that it was given by name are not in it.
func (p *Process) Said() string { return p.said.String() }

// tail keeps the last bytes that are written to it. It is safe for concurrent use.
type tail struct {
	secrets []string

	mu  sync.Mutex // guards all below
	buf []byte
	cut bool // there was more before it
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

// String is what is kept, as one line of text.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.buf)
	if t.cut {
		text = redact.HideHead(text, t.secrets...)
	}
	return redact.OneLine(redact.Hide(text, t.secrets...))
}
