package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// User and Password are those of the server's only role, which may do everything.
const (
	User     = "hocket"
	Password = "a secret: @/?#%" //nolint:gosec // of a server on this machine alone; letters that mean something in a URL
)

// startLimit bounds a start of the server, and its stop.
const startLimit = 30 * time.Second

// Server is a private PostgreSQL. The zero value starts when a database is asked for.
// It is safe for concurrent use, but for the methods that interrupt it.
type Server struct {
	// Durable waits for the disk, as a real one does; without it the data do not
	// survive a fall of the machine, and tests are quicker.
	Durable bool

	mu        sync.Mutex // guards all below
	tried     bool
	err       error // why there is none
	programs  programs
	dir       string
	port      int
	cmd       *exec.Cmd
	ended     chan struct{} // closed when cmd has
	databases int
}

// Database makes an empty database and returns its URL, with user and password. The
// test is skipped where no PostgreSQL is installed.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tried {
		s.tried = true
		s.err = s.make()
	}
	if errors.Is(s.err, errMissing) {
		t.Skip(s.err)
	}
	if s.err != nil {
		t.Fatalf("a server of PostgreSQL for the tests: %v", s.err)
	}
	s.databases++
	name := fmt.Sprintf("test%d", s.databases)
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	if err := s.execute(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return s.url(name)
}

func (s *Server) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(User, Password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// execute runs a statement.
func (s *Server) execute(ctx context.Context, text string) error {
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, text)
	return errors.Join(err, conn.Close(ctx))
}

// make makes the data and starts the server for the first time.
func (s *Server) make() (err error) {
	if s.programs, err = find(); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "pgtest"); err != nil {
		return err
	}
	if err := errors.Join(s.initialize(), s.certify()); err != nil {
		return errors.Join(err, os.RemoveAll(s.dir))
	}
	if s.port, err = freePort(); err != nil {
		return errors.Join(err, os.RemoveAll(s.dir))
	}
	return s.start()
}

// Data is the folder of the server's files.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// Address is where it listens.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

func (s *Server) initialize() error {
	password := filepath.Join(s.dir, "password")
	if err := os.WriteFile(password, []byte(Password), 0o600); err != nil {
		return err
	}
	if err := s.programs.own(s.dir, password); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	cmd := s.programs.command(ctx, s.programs.initdb, "--pgdata", s.Data(), "--username", User, "--pwfile", password,
		"--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// start starts the server and waits until it takes connections.
func (s *Server) start() error {
	durable := "off"
	if s.Durable {
		durable = "on"
	}
	cmd := s.programs.command(context.Background(), s.programs.postgres, "-D", s.Data(), "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync="+durable, "-c", "full_page_writes="+durable,
		"-c", "ssl=on", "-c", "ssl_cert_file="+s.Certificate(), "-c", "ssl_key_file="+s.key(),
		"-c", "synchronous_commit="+durable, "-c", "max_connections=200", "-c", "shared_buffers=64MB", "-c", "log_statement=none")
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	if err := errors.Join(cmd.Start(), log.Close()); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { // until it ends: halt waits for it
		defer close(ended)
		_ = cmd.Wait() // it is stopped by a signal
	}()
	s.cmd, s.ended = cmd, ended
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.execute(ctx, "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ended:
			text, err := os.ReadFile(log.Name())
			return errors.Join(fmt.Errorf("the server has ended: %s", text), err)
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("the server does not answer: %w", err), s.halt(syscall.SIGQUIT))
		}
	}
}

// halt ends the server with a signal: SIGINT ends its connections, SIGQUIT does so
// without tidying up, as if it had crashed.
func (s *Server) halt(how syscall.Signal) error {
	if s.cmd == nil {
		return nil
	}
	if err := s.cmd.Process.Signal(how); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	select {
	case <-s.ended:
	case <-limit.C:
		return errors.Join(errors.New("the server does not end"), s.cmd.Process.Kill())
	}
	s.cmd = nil
	return nil
}

// Halt stops the server as an administrator does: connections are cut.
func (s *Server) Halt(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.halt(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
}

// Continue starts a server again that was halted.
func (s *Server) Continue(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the server and removes its data. It is called when the tests are done.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return nil
	}
	return errors.Join(s.halt(syscall.SIGINT), os.RemoveAll(s.dir))
}

// Tests are the tests of a program, for its TestMain: the server ends with them.
func (s *Server) Tests(m interface{ Run() int }) interface{ Run() int } { return &tests{m, s} }

type tests struct {
	m interface{ Run() int }
	s *Server
}

// Run runs the tests and stops the server.
func (t *tests) Run() int {
	status := t.m.Run()
	if err := t.s.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "the tests' PostgreSQL:", err)
		return max(status, 1)
	}
	return status
}

// freePort is a port that nobody listens on now.
func freePort() (int, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	_, text, err := net.SplitHostPort(l.Addr().String())
	if err := errors.Join(err, l.Close()); err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}
