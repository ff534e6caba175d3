//go:build unix

package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
)

func serveHTTP(t *testing.T, h http.Handler) string {
	server := httptest.NewServer(h)
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	return server.URL
}

// called calls a tool and returns the result.
func called(t testing.TB, tool port.Tool, name, arguments string) string {
	t.Helper()
	out, err := checked(t, tool).Call(t.Context(), port.ToolCall{ID: "1", Name: name, Arguments: arguments}, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// checked validates arguments, as in conversations.
func checked(t testing.TB, tool port.Tool) port.Tool {
	t.Helper()
	c, err := toolset.Check(tool)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// refused checks the failure of a call.
func refused(t testing.TB, tool port.Tool, name, arguments, code string, parts ...string) {
	t.Helper()
	out, err := checked(t, tool).Call(t.Context(), port.ToolCall{ID: "1", Name: name, Arguments: arguments}, nil)
	f, ok := errors.AsType[*port.Failure](err)
	if !ok || f.Code != code {
		t.Fatalf("%s: %q, error %v, expected %s", name, out, err, code)
	}
	for _, part := range parts {
		if !strings.Contains(f.Message, part) {
			t.Errorf("%s: %q, expected %q in it", name, f.Message, part)
		}
	}
}

// TestPort runs the port's conformance suite over both transports.
func TestPort(t *testing.T) {
	call := port.ToolCall{ID: "1", Name: "echo", Arguments: `{"text":"hello"}`}
	t.Run("a process", func(t *testing.T) {
		porttest.TestTool(t, func(t *testing.T) port.Tool { return opened(t, self(t, "1", nil)) }, call)
	})
	t.Run("HTTP", func(t *testing.T) {
		porttest.TestTool(t, func(t *testing.T) port.Tool {
			return opened(t, Server{Name: "web", URL: overHTTP(t, "")})
		}, call)
	})
}

// TestCalls checks arguments, results and errors.
func TestCalls(t *testing.T) {
	t.Setenv("TEST_KEY", "hush-hush")
	t.Setenv("TEST_OTHER", "not for you")
	tools := opened(t, self(t, "1", func(s *Server) { s.Env = []string{"TEST_KEY"} }))
	if out := called(t, tools, "echo", `{"text":"a \"b\""}`); out != `a "b"` {
		t.Errorf("echo: %q", out)
	}
	if out := called(t, tools, "sum", `{"n":21}`); out != `{"deep":{"er":"found"},"sum":42}` {
		t.Errorf("sum: %s", out)
	}
	if out := called(t, tools, "picture", ""); out != "here:\n[image, 3 bytes]\n[resource file:///a]" {
		t.Errorf("picture: %q", out)
	}
	if out := called(t, tools, "big", `{"n":20000}`); len(out) != 20000 {
		t.Errorf("%d bytes: the machine cuts results, nobody else", len(out))
	}
	if out, err := tools.Call(t.Context(), port.ToolCall{ID: "conv_1/book.2", Name: "key"}, nil); err != nil || out != "conv_1/book.2" {
		t.Errorf("the key arrives as %q, error %v", out, err)
	}
	env := called(t, tools, "environment", `{}`)
	if !strings.Contains(env, "TEST_KEY=hush-hush") || !strings.Contains(env, "PATH=") || strings.Contains(env, "TEST_OTHER") {
		t.Errorf("the process has the environment\n%s", env)
	}
	refused(t, tools, "fail", `{}`, errclass.ToolError, "no such table")
	refused(t, tools, "tell", `{}`, errclass.ToolError, "no entry with [secret]")
	refused(t, tools, "big", `{"n":2000000}`, errclass.ToolError, "2000000 bytes")
	refused(t, tools, "echo", `{}`, errclass.InvalidArgs, "echo", "text")
	refused(t, tools, "echo", `{"text":7}`, errclass.InvalidArgs, "/text", "want string")
	refused(t, tools, "echo", `[1]`, errclass.InvalidArgs, "not a JSON object")
	refused(t, tools, "echo", `{"text":`, errclass.InvalidArgs, "not a JSON object")
	refused(t, tools, "dance", `{}`, errclass.ToolError, `"dance"`)
}

// TestFailureReachesTheModel checks that a failure has the form of seed 001,
// section 6.
func TestFailureReachesTheModel(t *testing.T) {
	tools := opened(t, self(t, "1", nil))
	_, err := tools.Call(t.Context(), port.ToolCall{Name: "fail", Arguments: `{}`}, nil)
	f, ok := errors.AsType[*port.Failure](err)
	if !ok {
		t.Fatal(err)
	}
	c, err := conv.New(conv.Options{Endpoint: "manual"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, ev := range []conv.Event{
		conv.UserStart{},
		conv.SessionReady{ID: "s"},
		conv.AudioReady{},
		conv.UserText{Text: "look it up"},
		conv.ToolCalled{ID: "c", Name: "fail", Arguments: "{}"},
		conv.ToolFailed{ID: "c", Code: f.Code, Message: f.Message},
	} {
		c.Step(now, ev)
	}
	h := c.History()
	if last := h[len(h)-1].Text; last != `{"error":"Tool failed: no such table","code":"TOOL_ERROR"}` {
		t.Errorf("the history has %s", last)
	}
}

// TestPolicies checks the names and properties of the offered tools.
func TestPolicies(t *testing.T) {
	tools := opened(t,
		self(t, "1", func(s *Server) {
			s.Name, s.Prefix, s.Allow = "a", "a_", []string{"echo", "hang", "work", "sum"}
			s.Policies = []Policy{
				{Tool: "hang", Timeout: 50 * time.Millisecond, Long: true},
				{Tool: "work", Confirm: true, Repeatable: true},
			}
		}),
		self(t, "1", func(s *Server) {
			s.Name, s.Allow, s.Policies = "b", []string{"echo"}, []Policy{{Tool: "echo", Irreversible: true}}
		}),
	)
	var got []string
	for _, s := range tools.Specs() {
		text := s.Name
		for _, f := range []struct {
			on   bool
			name string
		}{{s.Long, "long"}, {s.Irreversible, "irreversible"}, {s.Confirm, "confirm"}} {
			if f.on {
				text += " " + f.name
			}
		}
		got = append(got, text)
	}
	slices.Sort(got)
	want := []string{"a_echo", "a_hang long irreversible", "a_sum irreversible", "a_work confirm", "echo irreversible"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	refused(t, tools, "a_fail", `{}`, errclass.ToolError, "a_fail") // not allowed
	refused(t, tools, "a_hang", `{}`, errclass.NetworkTimeout, "a_hang: no answer within 50ms")
	called(t, tools, "a_echo", `{"text":"the server lives"}`)
}

// transports returns the test server over each transport.
func transports(t *testing.T, change func(*Server)) map[string]*Tools {
	t.Helper()
	web := Server{Name: "web", URL: overHTTP(t, "")}
	change(&web)
	return map[string]*Tools{"a process": opened(t, self(t, "1", change)), "HTTP": opened(t, web)}
}

// TestProgress checks that a long tool's progress is reported in order, and not
// after the end of the call.
func TestProgress(t *testing.T) {
	for name, tools := range transports(t, func(s *Server) { s.Policies = []Policy{{Tool: "work", Long: true}} }) {
		whole := false
		for range 1000 { // on a busy machine the answer may arrive before the progress
			var heard []string
			out, err := tools.Call(t.Context(), port.ToolCall{Name: "work", Arguments: `{}`}, func(text string) { heard = append(heard, text) })
			if err != nil || out != "done" {
				t.Fatalf("%s: %q, error %v", name, out, err)
			}
			if !slices.Equal(heard, []string{"25%", "reading the file", "75%"}[:len(heard)]) {
				t.Fatalf("%s: heard %q", name, heard)
			}
			if whole = len(heard) == 3; whole {
				break
			}
		}
		if !whole {
			t.Errorf("%s: no call was heard to its end", name)
		}
	}
}

// TestCalledOff checks that the end of a long call, by its caller or by timeout, is
// reported to the server, and that the progress so far is kept.
func TestCalledOff(t *testing.T) {
	limited := func(limit time.Duration) map[string]*Tools {
		return transports(t, func(s *Server) { s.Policies = []Policy{{Tool: "delegate", Long: true, Timeout: limit}} })
	}
	for name, tools := range limited(time.Minute) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := tools.Call(ctx, port.ToolCall{Name: "delegate", Arguments: `{}`}, func(text string) {
			if text == "found two" {
				cancel()
			}
		})
		cancel()
		f, ok := errors.AsType[*port.Failure](err)
		if !ok || !errors.Is(err, context.Canceled) || f.Code != "CANCELLED" || f.Partial != "found one\nfound two" {
			t.Errorf("%s: error %v, failure %+v", name, err, f)
		}
		waitFor(t, tools, "1")
	}
	for name, tools := range limited(2 * time.Second) {
		_, err := tools.Call(t.Context(), port.ToolCall{Name: "delegate", Arguments: `{}`}, func(string) {})
		f, ok := errors.AsType[*port.Failure](err)
		if want := (port.Failure{Code: errclass.NetworkTimeout, Message: "delegate: no answer within 2s", Partial: "found one\nfound two"}); !ok || *f != want {
			t.Errorf("%s: error %v, failure %+v", name, err, f)
		}
		waitFor(t, tools, "1")
	}
}

// waitFor waits until the server has received a number of cancellations.
func waitFor(t *testing.T, tools *Tools, n string) {
	t.Helper()
	waittest.Until(t, n+" cancellations", nil, func() bool { return called(t, tools, "called_off", `{}`) == n })
}

// TestLongFailure checks that a long error message is kept.
func TestLongFailure(t *testing.T) {
	tools := opened(t, self(t, "1", nil))
	_, err := tools.Call(t.Context(), port.ToolCall{Name: "verbose", Arguments: `{}`}, nil)
	f, ok := errors.AsType[*port.Failure](err)
	if whole := strings.Repeat("bad ", 200); !ok || len(f.Message) > maxFailure+3 || f.Partial != whole {
		t.Errorf("%v, %+v", err, f)
	}
}

// TestLimits checks that a call's timeout is the tool's, or else the server's, or
// else the default of its kind.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		server time.Duration
		policy Policy
		want   time.Duration
	}{
		{0, Policy{}, 30 * time.Second},
		{0, Policy{Long: true}, 5 * time.Minute},
		{time.Minute, Policy{Long: true}, time.Minute},
		{time.Minute, Policy{Timeout: time.Second}, time.Second},
	} {
		v := &server{s: &Server{Timeout: c.server}}
		if got := v.limit(c.policy); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestServerEnds checks that a call fails if its server exits, that the next call
// finds the server restarted, and that a hanging server is replaced.
func TestServerEnds(t *testing.T) {
	tools := opened(t, self(t, "1", func(s *Server) {
		s.Policies = []Policy{{Tool: "freeze", Timeout: 100 * time.Millisecond}}
	}))
	for range 3 {
		refused(t, tools, "die", `{}`, errclass.ServerError, "die: the MCP server test has exited")
		if out := called(t, tools, "echo", `{"text":"again"}`); out != "again" {
			t.Errorf("echo: %q", out)
		}
	}
	if len(tools.Specs()) < 10 {
		t.Errorf("%d tools are left", len(tools.Specs()))
	}
	refused(t, tools, "freeze", `{}`, errclass.NetworkTimeout, "no answer within 100ms")
	if out := called(t, tools, "echo", `{"text":"thawed"}`); out != "thawed" {
		t.Errorf("echo: %q", out)
	}
}

// TestToolsChange checks that a server's new tool is offered.
func TestToolsChange(t *testing.T) {
	tools := opened(t, self(t, "1", nil))
	called(t, tools, "more", `{}`)
	waittest.Until(t, "the new tool", nil, func() bool {
		called(t, tools, "echo", `{"text":"time passes"}`)
		return slices.ContainsFunc(tools.Specs(), func(s port.ToolSpec) bool { return s.Name == "new" })
	})
	if out := called(t, tools, "new", `{}`); out != "I am new" {
		t.Errorf("new: %q", out)
	}
}

// TestToolsChangeInSilence checks that a server that announces new tools but does
// not list them keeps its old ones.
func TestToolsChangeInSilence(t *testing.T) {
	tools := opened(t, self(t, "1", func(s *Server) {
		s.StartTimeout = 2 * time.Second
		s.Policies = []Policy{{Tool: "hang", Timeout: 100 * time.Millisecond}}
	}))
	called(t, tools, "silence", `{}`)
	refused(t, tools, "hang", `{}`, errclass.NetworkTimeout, "no answer within 100ms")
	if out := called(t, tools, "sum", `{"n":1}`); !strings.Contains(out, `"sum":2`) {
		t.Errorf("sum: %s", out)
	}
	if !slices.ContainsFunc(tools.Specs(), func(s port.ToolSpec) bool { return s.Name == "echo" }) {
		t.Error("the tools that there were are not offered")
	}
}

// TestTheCallerEnds checks that a caller may give up, and that Close ends running
// calls.
func TestTheCallerEnds(t *testing.T) {
	tools := opened(t, self(t, "1", nil))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := tools.Call(ctx, port.ToolCall{Name: "hang", Arguments: `{}`}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			if _, err := tools.Call(t.Context(), port.ToolCall{Name: "hang", Arguments: `{}`}, nil); err == nil {
				t.Error("a call that hangs has a result")
			}
		})
	}
	called(t, tools, "echo", `{"text":"beside"}`)
	if err := tools.Close(); err != nil {
		t.Error(err)
	}
	calls.Wait()
	refused(t, tools, "echo", `{"text":"late"}`, errclass.ToolError, "closed")
}

// TestHTTPKey checks that the key comes from the environment and is sent to the
// server only.
func TestHTTPKey(t *testing.T) {
	url := overHTTP(t, "hush-hush")
	env := func(name string) (string, bool) { return "hush-hush", name == "KEY" }
	tools, err := Open(t.Context(), Options{Servers: []Server{{Name: "web", URL: url, KeyEnv: "KEY"}}, Getenv: env})
	if err != nil {
		t.Fatal(err)
	}
	if out := called(t, tools, "echo", `{"text":"in"}`); out != "in" {
		t.Errorf("echo: %q", out)
	}
	refused(t, tools, "fail", `{}`, errclass.ToolError, "no such table")
	if err := tools.Close(); err != nil {
		t.Error(err)
	}
	_, err = Open(t.Context(), Options{Servers: []Server{{Name: "web", URL: url}}})
	if err == nil || !strings.Contains(err.Error(), "mcp server web: connect:") || !strings.Contains(err.Error(), "Unauthorized") {
		t.Errorf("without a key: %v", err)
	}
	away := serveHTTP(t, http.RedirectHandler("http://127.0.0.1:1/", http.StatusTemporaryRedirect))
	_, err = Open(t.Context(), Options{Servers: []Server{{Name: "web", URL: away, KeyEnv: "KEY"}}, Getenv: env})
	if err == nil || !strings.Contains(err.Error(), "another host") || strings.Contains(err.Error(), "hush") {
		t.Errorf("sent away: %v", err)
	}
}

// TestOpen checks that errors are reported at the start and nothing is left
// running.
func TestOpen(t *testing.T) {
	t.Setenv("TEST_KEY", "hush-hush")
	for name, c := range map[string]struct {
		servers []Server
		want    []string
	}{
		"both":        {[]Server{{Name: "a", Command: "x", URL: "http://x"}}, []string{"server a: exactly one of command and URL must be set"}},
		"neither":     {[]Server{{Name: "a"}}, []string{"exactly one of command and URL must be set"}},
		"no name":     {[]Server{{Command: "x"}}, []string{"server 1 has the name"}},
		"one name":    {[]Server{{Name: "a", Command: "x"}, {Name: "a", Command: "y"}}, []string{"two servers have the name a"}},
		"no command":  {[]Server{{Name: "a", Command: "no-such-command-here"}}, []string{"mcp server a: run it: no-such-command-here:"}},
		"no variable": {[]Server{{Name: "a", Command: "x", Env: []string{"TEST_ABSENT"}}}, []string{"the environment variable TEST_ABSENT is not set"}},
		"broken":      {[]Server{self(t, "broken", nil)}, []string{"mcp server test: connect:", "no database: is it there?"}},
		"silent": {
			[]Server{self(t, "silent", func(s *Server) { s.StartTimeout, s.Env = time.Second, []string{"TEST_KEY"} })},
			[]string{"no answer within 1s", "my key is [secret]"},
		},
		"no tool":   {[]Server{self(t, "1", func(s *Server) { s.Allow = []string{"echo", "dance"} })}, []string{`unknown tool "dance": the server has echo`}},
		"no policy": {[]Server{self(t, "1", func(s *Server) { s.Policies = []Policy{{Tool: "dance"}} })}, []string{`unknown tool "dance"`}},
		"twice": {
			[]Server{self(t, "1", func(s *Server) { s.Name = "a" }), self(t, "1", func(s *Server) { s.Name = "b" })},
			[]string{"the servers a and b both have a tool big: set a prefix"},
		},
		"a name": {[]Server{self(t, "1", func(s *Server) { s.Prefix = strings.Repeat("p", 64) })}, []string{"invalid name: expected 1 to 64"}},
	} {
		t.Run(name, func(t *testing.T) {
			tools, err := Open(t.Context(), Options{Servers: c.servers, Grace: 200 * time.Millisecond})
			if err == nil {
				t.Fatal("it opens", tools.Close())
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v, expected %q in it", err, part)
				}
			}
			if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v: expected one line and no key", err)
			}
		})
	}
}

// TestActions checks that a flow's action can be a server's tool, with its outputs
// taken from the result.
func TestActions(t *testing.T) {
	tools := opened(t, self(t, "1", nil))
	parse := func(text string) []agent.Action {
		a, problems := dialog.Parse([]agent.File{{Name: "a.yaml", Data: []byte("version: \"1.0\"\ninstructions: be brief\nslots: {n: {type: integer}, text: {type: string}}\nactions:\n" + text)}})
		if a == nil || len(problems) > 0 {
			t.Fatal(problems)
		}
		return a.Actions()
	}
	actions, err := NewActions(tools, parse(`
  double: {inputs: [n], mcp: {server: test, tool: sum, outputs: {twice: sum, hidden: deep.er}}}
  plain: {inputs: [n], mcp: {server: test, tool: sum}}
  say: {description: Says it, inputs: [text], outputs: [said], idempotent: true, requires_confirmation: true, mcp: {server: test, tool: echo}}
  lost: {inputs: [n], mcp: {server: test, tool: sum, outputs: {twice: deep.sum}}}
  slow: {long: true, mcp: {server: test, tool: hang}}
  elsewhere: {http: {url: "http://x"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, arguments, want string }{
		{"double", `{"n":4}`, `{"hidden":"found","twice":8}`},
		{"plain", `{"n":4}`, `{"deep":{"er":"found"},"sum":8}`},
		{"say", `{"text":"hello"}`, `{"said":"hello"}`},
		{"say", `{"text":"7"}`, `{"said":7}`},
	} {
		if out := called(t, actions, c.name, c.arguments); out != c.want {
			t.Errorf("%s: %s, expected %s", c.name, out, c.want)
		}
	}
	refused(t, actions, "lost", `{"n":4}`, errclass.ToolError, "action lost: the result has no field deep.sum")
	refused(t, actions, "double", `{}`, errclass.InvalidArgs, "n")
	porttest.TestTool(t, func(*testing.T) port.Tool { return actions }, port.ToolCall{ID: "1", Name: "say", Arguments: `{"text":"x"}`})
	for _, s := range actions.Specs() {
		if s.Name == "say" && (!s.Confirm || s.Irreversible || s.Description != "Says it") {
			t.Errorf("%+v", s)
		}
		if s.Long != (s.Name == "slow") {
			t.Errorf("%s: long %v", s.Name, s.Long)
		}
	}
	for text, want := range map[string]string{
		"  a: {mcp: {server: tets, tool: sum}}\n": `action a: unknown MCP server "tets": the config has test`,
		"  a: {mcp: {server: test, tool: sun}}\n": `action a: the MCP server test has no tool "sun", only `,
	} {
		if _, err := NewActions(tools, parse(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	if _, err := NewActions(nil, parse("  a: {mcp: {server: test, tool: sum}}\n")); err == nil || !strings.Contains(err.Error(), "the config has none") {
		t.Errorf("without servers: %v", err)
	}
}

// BenchmarkCall measures a call of a process's tool with validation. Goal: less
// than 1 ms.
func BenchmarkCall(b *testing.B) {
	tools := opened(b, self(b, "1", nil))
	for b.Loop() {
		called(b, tools, "echo", `{"text":"hello"}`)
	}
}

// TestServerStaysAway checks that a call waits for a server that cannot be
// restarted until its timeout and reports the reason, and that a later call
// succeeds when it can.
func TestServerStaysAway(t *testing.T) {
	server := self(t, "1", func(s *Server) { s.Timeout = 300 * time.Millisecond })
	program := filepath.Join(t.TempDir(), "server")
	script := "#!/bin/sh\nexec " + strings.Join(append([]string{server.Command}, server.Args...), " ") + "\n"
	install := func() {
		if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	install()
	server.Command, server.Args = program, nil
	tools := opened(t, server)
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	refused(t, tools, "die", `{}`, errclass.ServerError, "has exited")
	refused(t, tools, "echo", `{"text":"x"}`, errclass.ToolError, "mcp server test: run it", "no such file")
	if len(tools.Specs()) < 10 {
		t.Error("its tools are no longer offered")
	}
	install()
	for {
		out, err := tools.Call(t.Context(), port.ToolCall{Name: "echo", Arguments: `{"text":"back"}`}, nil)
		if err == nil && out == "back" {
			return
		}
	}
}
