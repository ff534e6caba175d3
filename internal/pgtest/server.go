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

// User and Password are the credentials of the server's only role, a superuser.
const (
	User     = "hocket"
	Password = "a secret: @/?#%" //nolint:gosec // of a server on this machine only; contains characters that are special in URLs
)

// startLimit is the time limit for starting and stopping the server.
const startLimit = 30 * time.Second

// Server is a private PostgreSQL. The zero value starts when a database is
// requested. It is safe for concurrent use, except for the methods that interrupt
// it.
type Server struct {
	// Durable makes the server wait for the disk. Without it tests are faster, but
	// data does not survive a crash of the machine.
	Durable bool

	mu        sync.Mutex // guards the fields below
	tried     bool
	err       error // why the server could not start
	programs  programs
	dir       string
	port      int
	cmd       *exec.Cmd
	ended     chan struct{} // closed when cmd has exited
	databases int
}

// Database creates an empty database and returns its URL with user and password. It
// skips the test if PostgreSQL is not installed.
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

// make creates the data and starts the server for the first time.
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

// Data returns the data folder.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// Address returns the server's address.
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

// start starts the server and waits until it accepts connections.
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
	go func() { // until the server exits: halt waits for it
		defer close(ended)
		_ = cmd.Wait() // a signal stops it
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

// halt stops the server with a signal: SIGINT closes its connections, SIGQUIT stops
// it without cleaning up, like a crash.
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

// Halt stops the server as an administrator would, closing all connections.
func (s *Server) Halt(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.halt(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
}

// Continue restarts a halted server.
func (s *Server) Continue(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

// Stop stops the server and removes its data. It must be called after the tests.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return nil
	}
	return errors.Join(s.halt(syscall.SIGINT), os.RemoveAll(s.dir))
}

// Tests wraps a program's tests for its TestMain, so that the server stops with
// them.
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

// freePort returns a port that is currently free.
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
