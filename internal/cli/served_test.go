//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
)

// node is a server in its own process, which can be killed and started again.
type node struct {
	t       *testing.T
	url     string
	args    []string
	env     []string
	cmd     *exec.Cmd
	log     *os.File
	started time.Time
	gone    chan struct{} // closed when the process has ended; err is its result then
	err     error
}

// newNode describes a server with an agent and a store. more is added to the server
// section of its config.
func newNode(t *testing.T, agent, store, more string, env ...string) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "hocket.yaml")
	// No call is refused because the machine is busy with other tests.
	//
	// The tests compare what was said with what is stored. With the default, a
	// conversation whose server is killed repeatedly would forget its beginning.
	text := fmt.Sprintf("server: {url: \"http://%s\", drain: 1s, max_lateness: 1h%s}\nstore: {path: %q}\nhistory_limit: 100000\n", addr, more, store)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, url: "http://" + addr, args: []string{"serve", "--agent", agent, "--addr", addr, "--config", config}, env: env}
	if n.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n.cmd != nil {
			n.kill()
		}
		if t.Failed() {
			if b, err := os.ReadFile(n.log.Name()); err == nil {
				t.Logf("%s: %s", n.url, b[max(0, len(b)-1500):])
			}
		}
		_ = n.log.Close() // the file was read
	})
	return n
}

// start starts the process and waits until it answers.
func (n *node) start() {
	n.t.Helper()
	program, err := os.Executable()
	if err != nil {
		n.t.Fatal(err)
	}
	n.cmd = exec.Command(program, n.args...)
	n.cmd.Env = append(append(os.Environ(), mainEnv+"=1"), n.env...)
	n.cmd.Stdout, n.cmd.Stderr = n.log, n.log
	n.started = time.Now()
	if err := n.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.gone = make(chan struct{})
	go func(cmd *exec.Cmd, gone chan struct{}) {
		n.err = cmd.Wait()
		close(gone)
	}(n.cmd, n.gone)
	waittest.Until(n.t, "the server", n.gone, func() bool {
		resp, err := http.Get(n.url + "/healthz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close() // the rest is not needed
		return resp.StatusCode == http.StatusOK
	})
}

// kill ends the process like a power failure.
func (n *node) kill() {
	n.t.Helper()
	err := n.cmd.Process.Kill() // by its id
	<-n.gone
	n.cmd = nil
	if err != nil {
		n.t.Errorf("the server has ended before it was killed: %v", n.err)
	}
}

// stop asks the process to end and waits for it.
func (n *node) stop() {
	n.t.Helper()
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		n.t.Fatal(err)
	}
	n.ended()
}

// ended waits for the end of a process that was asked to end.
func (n *node) ended() {
	n.t.Helper()
	select {
	case <-n.gone:
	case <-waittest.Context(n.t).Done():
		n.t.Fatal("the server does not end")
	}
	n.cmd = nil
	if n.err != nil {
		n.t.Errorf("the server ended with %v", n.err)
	}
}

// logged waits for a line of the log whose attributes contain the given ones, and returns
// the line. The message is not compared: it may be reworded.
func (n *node) logged(want attrs) (line string) {
	n.t.Helper()
	waittest.Until(n.t, fmt.Sprintf("a line of the log with %v", want), n.gone, func() bool {
		line = n.line(want)
		return line != ""
	})
	return line
}

// line returns the first line of the log whose attributes contain the given ones, or "".
func (n *node) line(want attrs) string {
	n.t.Helper()
	b, err := os.ReadFile(n.log.Name())
	if err != nil {
		n.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if want.in(line) {
			return line
		}
	}
	return ""
}

// attrs are attributes of a line of the log. A value is contained in that of the line, as
// fmt.Sprint returns it.
type attrs map[string]string

func (a attrs) in(line string) bool {
	var has map[string]any
	if json.Unmarshal([]byte(line), &has) != nil {
		return false // it is not complete
	}
	for key, value := range a {
		if has[key] == nil || !strings.Contains(fmt.Sprint(has[key]), value) {
			return false
		}
	}
	return true
}

// timeUp returns a channel that receives shortly before the test program would be ended
// (go test -timeout), so that a test can report what it waited for.
func timeUp(t *testing.T) <-chan time.Time {
	end, ok := t.Deadline()
	if !ok {
		return nil
	}
	return time.After(time.Until(end) - 20*time.Second)
}

// heard contains the members of a stream's message that a client needs.
type heard struct {
	Type    string
	At      float64
	Reason  string
	Payload struct {
		Text  string
		Final bool
		Code  string
		Name  string
		State string
		Phase struct{ From, To string }
	}
}

// caller is a client of the control API. When its connection is lost, it returns to any
// of the servers.
type caller struct {
	t      *testing.T
	urls   []string // of the servers; it is connected to the first
	id     string
	access string
	resume string
	at     float64 // of the last message read; repeated messages are skipped

	stream context.CancelFunc
	events chan heard // closed when the stream has ended
}

// post sends a request and decodes the response into into, which may be nil.
func (c *caller) post(path string, body map[string]any, into any) (status int, err error) {
	b, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.urls[0]+path, bytes.NewReader(b))
	if err != nil {
		return 0, err
	}
	if c.access != "" {
		req.Header.Set("Authorization", "Bearer "+c.access)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if into != nil && resp.StatusCode < 300 {
		return resp.StatusCode, json.NewDecoder(resp.Body).Decode(into)
	}
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection can be reused
	return resp.StatusCode, nil
}

// refusal sends a request that must be refused, and returns the response.
func (c *caller) refusal(body map[string]any) ([]byte, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.urls[0]+"/v1/conversations", bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// call begins or continues a conversation. It returns false if the server does not
// answer or asks the client to try again.
func (c *caller) call(body map[string]any) bool {
	var made struct {
		ID          string `json:"id"`
		AccessToken string `json:"access_token"`
		ResumeToken string `json:"resume_token"`
	}
	c.access = ""
	status, err := c.post("/v1/conversations", body, &made)
	if err != nil || status == http.StatusServiceUnavailable || status == http.StatusBadGateway {
		return false
	}
	if status != http.StatusCreated {
		c.fail("POST /v1/conversations %v: status %d", body, status)
	}
	if c.id != "" && c.id != made.ID {
		c.fail("it went on as %s, it was %s", made.ID, c.id)
	}
	c.id, c.access, c.resume = made.ID, made.AccessToken, made.ResumeToken
	return true
}

// follow opens the event stream.
func (c *caller) follow() bool {
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.urls[0]+"/v1/conversations/"+c.id+"/events?from=1", nil)
	if err != nil {
		c.fail("%v", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.access)
	resp, err := http.DefaultClient.Do(req) //nolint:bodyclose // closed by the goroutine below
	if err != nil {
		cancel()
		return false
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close() // an error message
		cancel()
		return false
	}
	c.stream, c.events = cancel, make(chan heard, 1024)
	events, read := c.events, c.at
	go func() {
		defer close(events)
		defer resp.Body.Close()
		scan := bufio.NewScanner(resp.Body)
		scan.Buffer(nil, 1<<20)
		for scan.Scan() {
			data, ok := strings.CutPrefix(scan.Text(), "data: ")
			var m heard
			if !ok || json.Unmarshal([]byte(data), &m) != nil {
				continue
			}
			// The state of the store is repeated for a returning client, and the end of the
			// stream has no time.
			if m.At > read || m.Reason != "" || strings.HasPrefix(m.Payload.Code, "store.") {
				events <- m
			}
		}
	}()
	return true
}

// comeBack continues the conversation with the first server that accepts it.
func (c *caller) comeBack() {
	c.t.Helper()
	c.leave()
	waittest.Until(c.t, "the return of "+c.id, nil, func() bool {
		if c.call(map[string]any{"resume": c.resume}) && c.follow() {
			return true
		}
		c.urls = append(c.urls[1:], c.urls[0]) // like a load balancer
		return false
	})
}

// leave ends the stream.
func (c *caller) leave() {
	if c.stream != nil {
		c.stream()
		for range c.events {
			continue
		}
		c.stream = nil
	}
}

// get sends a GET request without a key, which on this machine has access to
// everything.
func (c *caller) get(path string, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.urls[0]+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", path, resp.StatusCode)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// fail fails the test and ends the goroutine.
func (c *caller) fail(format string, args ...any) {
	c.t.Errorf(format, args...)
	c.t.FailNow()
}

// say types a line and reports whether a server has accepted it.
func (c *caller) say(text string) bool {
	status, err := c.post("/v1/conversations/"+c.id+"/commands", map[string]any{"type": "send_text", "text": text}, nil)
	return err == nil && status == http.StatusAccepted
}
