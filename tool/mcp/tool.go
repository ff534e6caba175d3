package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hocketvoice/hocket/internal/redact"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

type spec = port.ToolSpec

// Tools contains the tools of all servers. It is safe for concurrent use.
type Tools struct {
	o       Options
	servers []*server
	stop    context.CancelFunc
	running sync.WaitGroup // goroutines of servers and calls

	mu     sync.Mutex // guards closed and calls; no call begins after Close
	closed bool
	calls  int64 // numbers the calls, for progress
}

var _ port.Tool = (*Tools)(nil)

// Open starts all servers in parallel and lists their tools. It returns an error if
// a server does not start, lacks a tool named in the options, or two tools have the
// same name. ctx applies to Open only.
func Open(ctx context.Context, o Options) (*Tools, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	t := &Tools{o: o.withDefaults()}
	for i := range t.o.Servers {
		v, err := newServer(&t.o, &t.o.Servers[i])
		if err != nil {
			return nil, err
		}
		t.servers = append(t.servers, v)
	}
	links, errs := make([]*link, len(t.servers)), make([]error, len(t.servers))
	var starts sync.WaitGroup
	for i, v := range t.servers {
		starts.Go(func() { links[i], errs[i] = v.start(ctx) })
	}
	starts.Wait()
	for i, v := range t.servers {
		if links[i] != nil {
			errs[i] = v.missing()
		}
	}
	err := errors.Join(errors.Join(errs...), t.twice())
	if err != nil {
		for _, l := range links {
			if l != nil {
				l.end()
			}
		}
		return nil, err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx)) // Close cancels it
	t.stop = stop
	for i, v := range t.servers {
		t.running.Go(func() { v.run(run, links[i]) })
	}
	return t, nil
}

// twice returns an error if two tools have the same name.
func (t *Tools) twice() error {
	from := make(map[string]string)
	for _, v := range t.servers {
		for _, tool := range v.offered() {
			if first, there := from[tool.spec.Name]; there {
				return fmt.Errorf("mcp: the servers %s and %s both have a tool %s: set a prefix for one of them", first, v.s.Name, tool.spec.Name)
			}
			from[tool.spec.Name] = v.s.Name
		}
	}
	return nil
}

// Close ends running calls, connections and processes, and waits for them. Later
// calls fail. A second Close does nothing.
func (t *Tools) Close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.stop()
	t.running.Wait()
	return nil
}

// Specs returns the descriptions of the tools, including those of a server that is
// restarting.
func (t *Tools) Specs() []port.ToolSpec {
	var all []port.ToolSpec
	for _, v := range t.servers {
		for _, tool := range v.offered() {
			all = append(all, tool.spec)
		}
	}
	return all
}

// Call runs a tool once and returns its result. It does not validate the arguments,
// see [toolset.Check]. Errors are of type [*port.Failure] and do not contain
// credentials.
func (t *Tools) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	for _, v := range t.servers {
		for _, tool := range v.offered() {
			if tool.spec.Name == call.Name {
				return t.call(ctx, v, tool, call, progress)
			}
		}
	}
	return "", toolError("no MCP server has a tool %q", call.Name)
}

// find returns a server's tool by the server's own name.
func (t *Tools) find(serverName, toolName string) (*server, *tool, error) {
	var known []string
	for _, v := range t.servers {
		known = append(known, v.s.Name)
		if v.s.Name != serverName {
			continue
		}
		var has []string
		for _, tool := range v.offered() {
			if tool.name == toolName {
				return v, &tool, nil
			}
			has = append(has, tool.name)
		}
		return nil, nil, fmt.Errorf("the MCP server %s has no tool %q, only %s", serverName, toolName, list(has))
	}
	return nil, nil, fmt.Errorf("unknown MCP server %q: the config has %s", serverName, list(known))
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// begin registers a running call and returns its progress token.
func (t *Tools) begin() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return "", toolError("the MCP servers are closed")
	}
	t.calls++
	t.running.Add(1)
	return fmt.Sprint(t.calls), nil
}

// keyName is the metadata key of a call's idempotency key, which is different for
// each call.
const keyName = "hocket/idempotency-key"

// answer is the outcome of a call.
type answer struct {
	result *sdk.CallToolResult
	err    error
}

// call runs a tool within its timeout.
func (t *Tools) call(ctx context.Context, v *server, tool tool, call port.ToolCall, progress func(string)) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	args, err := toolset.Arguments(call.Arguments)
	if err != nil {
		return "", &port.Failure{Code: errclass.InvalidArgs, Message: fmt.Sprintf("%s: %v", tool.spec.Name, err)}
	}
	limit := v.limit(tool.policy)
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	number, err := t.begin()
	if err != nil {
		return "", err
	}
	defer t.running.Done()
	l, err := v.connected(ctx)
	if err != nil {
		return "", t.failure(caller, v, nil, tool, limit, err, "")
	}
	news := make(chan update, 16)
	params := &sdk.CallToolParams{Name: tool.name, Arguments: args, Meta: sdk.Meta{keyName: call.ID}}
	if progress != nil {
		params.SetProgressToken(number)
		v.hear(number, news)
		defer v.hear(number, nil)
	}
	answers := make(chan answer, 1)
	// A server that does not read blocks the request; the call must not wait for
	// it.
	t.running.Go(func() {
		result, err := l.session.CallTool(ctx, params)
		answers <- answer{result, err}
	})
	var said partial
	for {
		select {
		case u := <-news:
			said.add(u.message)
			progress(u.text)
		case a := <-answers:
			if a.err != nil {
				return "", t.failure(caller, v, l, tool, limit, a.err, said.rest(news))
			}
			return v.output(tool.spec.Name, a.result)
		case <-ctx.Done():
			return "", t.failure(caller, v, l, tool, limit, ctx.Err(), said.rest(news))
		}
	}
}

// limit returns the timeout of a call, which is longer by default for a delegated
// agent.
func (v *server) limit(p Policy) time.Duration {
	switch {
	case p.Timeout > 0:
		return p.Timeout
	case v.s.Timeout > 0:
		return v.s.Timeout
	case p.Long:
		return DefaultLongTimeout
	default:
		return DefaultTimeout
	}
}

// update is a progress report: text for people, and the server's own message.
type update struct{ text, message string }

// partial collects a server's progress messages, since the protocol has no other
// partial results.
type partial []byte

func (p *partial) add(message string) {
	if message == "" {
		return
	}
	if len(*p) > 0 {
		*p = append(*p, '\n')
	}
	*p = append(*p, message...)
	if over := len(*p) - maxPartial; over > 0 {
		*p = append((*p)[:0], (*p)[over:]...)
	}
}

// rest returns all messages, including those still in the channel.
func (p *partial) rest(news <-chan update) string {
	for {
		select {
		case u := <-news:
			p.add(u.message)
		default:
			return strings.ToValidUTF8(string(*p), "")
		}
	}
}

// failure returns the failure for an error of a call, with the progress messages as
// the partial result. If the caller's context has ended, the error also wraps the
// context's error.
func (t *Tools) failure(caller context.Context, v *server, l *link, tool tool, limit time.Duration, err error, said string) error {
	if caller.Err() != nil {
		return toolset.Interrupted(caller, tool.spec.Name, said)
	}
	f := t.failed(v, l, tool, limit, err)
	f.Partial = said
	return f
}

func (t *Tools) failed(v *server, l *link, tool tool, limit time.Duration, err error) *port.Failure {
	_, answered := errors.AsType[*jsonrpc.Error](err)
	if answered || l == nil && !errors.Is(err, context.DeadlineExceeded) {
		return toolError("%s: %s", tool.spec.Name, redact.Cut(redact.OneLine(v.hide(err.Error())), maxFailure))
	}
	if l != nil {
		v.down(l)
		token(v.suspect)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &port.Failure{Code: errclass.NetworkTimeout, Message: fmt.Sprintf("%s: no answer within %v", tool.spec.Name, limit)}
	}
	return &port.Failure{Code: errclass.ServerError, Message: fmt.Sprintf("%s: the MCP server %s has exited", tool.spec.Name, v.s.Name)}
}

// list lists a server's tools within the start timeout. It returns an error if a
// tool cannot be offered; such a tool must be excluded with allow.
func (v *server) list(ctx context.Context, l *link) ([]tool, error) {
	ctx, cancel := context.WithTimeout(ctx, v.s.StartTimeout)
	defer cancel()
	var tools []tool
	seen := 0
	for t, err := range l.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		if seen++; seen > maxTools {
			return nil, fmt.Errorf("the server has more than %d tools", maxTools)
		}
		if v.s.Allow != nil && !slices.Contains(v.s.Allow, t.Name) {
			continue
		}
		tool, err := v.tool(t)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", redact.Cut(t.Name, 80), err)
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// tool converts a server's tool to an offered one.
func (v *server) tool(t *sdk.Tool) (tool, error) {
	p := v.s.policy(t.Name)
	name := v.s.Prefix + t.Name
	if !toolset.IsName(name) {
		return tool{}, fmt.Errorf("invalid name: expected 1 to 64 letters, digits, - or _: exclude it with allow")
	}
	schema, err := newSchema(t.InputSchema)
	if err != nil {
		return tool{}, fmt.Errorf("its schema: %w", err)
	}
	harmless := p.Repeatable
	if a := t.Annotations; a != nil {
		harmless = harmless || a.ReadOnlyHint || a.IdempotentHint
	}
	description := t.Description
	if description == "" {
		description = t.Title
	}
	return tool{
		name: t.Name, policy: p,
		spec: spec{
			Name: name, Description: redact.Cut(strings.ToValidUTF8(description, "?"), maxDescription), Schema: schema,
			Long: p.Long, Irreversible: p.Irreversible || !harmless, Confirm: p.Confirm,
		},
	}, nil
}

// missing returns an error if the server lacks a tool that the options name.
func (v *server) missing() error {
	var has []string
	for _, t := range v.offered() {
		has = append(has, t.name)
	}
	wanted := slices.Clone(v.s.Allow)
	for _, p := range v.s.Policies {
		wanted = append(wanted, p.Tool)
	}
	for _, name := range wanted {
		if !slices.Contains(has, name) {
			return fmt.Errorf("mcp server %s: unknown tool %q: the server has %s", v.s.Name, name, list(has))
		}
	}
	return nil
}
