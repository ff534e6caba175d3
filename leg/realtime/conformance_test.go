package realtime_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

var rewrite = flag.Bool("rewrite", false, "write docs/realtime.md and CHECKS.md from this run")

// check is one of the 75 checks of the protocol.
type check struct {
	id, what string
	test     func(t testing.TB, r *rig)
	with     rigOptions
	speech   bool // it needs the speech engines
}

// lists returns all checks except for those about the whole run.
func lists() [][]check {
	return [][]check{sessionChecks, itemChecks, responseChecks, audioChecks, bufferChecks, turnChecks, otherChecks}
}

// way is a kind of server that the checks are run against.
type way struct {
	name          string
	greets, flows bool
	open          func(t testing.TB, o *session.Options)
	// never lists the checks that cannot apply, and the reasons. They are run too, and
	// must fail.
	never map[string]string
}

// ways are the kinds of servers. Clients rely on the protocol whoever answers, and a
// model that does not greet hides errors of an agent that does.
var ways = []way{
	{name: "model", open: func(testing.TB, *session.Options) {}},
	{name: "greets", greets: true, open: func(_ testing.TB, o *session.Options) {
		o.Conv.Greeting = "Hello. How can I help you?"
	}},
	{
		name: "flows", greets: true, flows: true, open: func(t testing.TB, o *session.Options) {
			a, problems := dialog.Parse([]agent.File{{Name: "agent.yaml", Data: []byte(flowsAgent)}})
			if a == nil {
				t.Fatal(problems)
			}
			o.Conv.Agent, o.Model, o.Tools = a, nil, endless{}
		},
		never: notByFlows,
	},
}

// endless implements the flows' only action, which runs until it is cancelled.
type endless struct{}

func (endless) Specs() []port.ToolSpec { return []port.ToolSpec{{Name: "talk_without_end"}} }

func (endless) Call(ctx context.Context, _ port.ToolCall, _ func(string)) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// notByFlows lists the checks that flows without a model cannot pass.
var notByFlows = map[string]string{
	"C21": "flows read no history: there is no model to be told of it",
	"C27": "nobody makes or reads tokens, and usage says so",
	"C30": "what flows answer counts against no limit of a model",
	"C32": "a flow's answer has no pieces: what is cancelled has no item yet",
	"C35": "a response beside the conversation is a model's",
	"C36": "a response with an input of its own is a model's",
	"C37": "max_output_tokens is a model's limit",
	"C41": "its second half is what a model is told was heard",
	"C63": "the client's tools are a model's",
	"C64": "the client's tools are a model's",
}

// results are the results of the checks by way and id: "passed", "failed", "not run",
// or the reason why a check cannot apply.
var results = struct {
	sync.Mutex
	of map[string]string
}{of: map[string]string{}}

// TestConformance runs the checks against the real handler, over real sockets and with
// real speech, once for each way. The checks about the whole run come last.
func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("checks", func(t *testing.T) {
		for _, w := range ways {
			known := map[string]bool{}
			for _, list := range lists() {
				for _, c := range list {
					known[c.id] = true
					t.Run(w.name+" "+c.id+" "+strings.ReplaceAll(c.what, "/", " "), func(t *testing.T) {
						t.Parallel()
						c.run(t, &w)
					})
				}
			}
			for id := range w.never {
				if !known[id] {
					t.Errorf("%s: %s is listed as one that cannot apply, but there is no such check", w.name, id)
				}
			}
		}
	})
	for _, c := range wholeChecks {
		t.Run(c.id+" "+c.what, func(t *testing.T) {
			t.Cleanup(func() { c.note(t, "all", "") })
			run.mu.Lock() // other tests are running
			defer run.mu.Unlock()
			c.test(t, nil)
		})
	}
	documentation(t)
}

// run runs a check in one way. A check that cannot apply is run with a probe and must
// fail, so that the list of these checks stays correct.
func (c *check) run(t *testing.T, w *way) {
	why := w.never[c.id]
	t.Cleanup(func() { c.note(t, w.name, why) })
	if c.speech {
		engine(t)
		take(t, 1)
	}
	with := c.with
	with.silent, with.greets, with.flows = !c.speech, w.greets, w.flows
	if why == "" {
		with.open = func(_ string, o *session.Options) error { w.open(t, o); return nil }
		c.test(t, newRig(t, with))
		return
	}
	p := &probe{TB: t, done: make(chan struct{})}
	with.open = func(_ string, o *session.Options) error { w.open(p, o); return nil }
	go p.try(func() { c.test(p, newRig(p, with)) })
	<-p.done
	switch reason := p.reason(); {
	case p.Skipped():
		t.Skip(reason)
	case reason == "":
		t.Errorf("the check passes, but is listed as one that cannot apply: %s", why)
	default:
		t.Logf("cannot apply (%s): %.300s", why, reason)
	}
}

func (c *check) note(t *testing.T, way, why string) {
	results.Lock()
	defer results.Unlock()
	result := "passed"
	switch {
	case t.Failed():
		result = "failed"
	case t.Skipped():
		result = "not run"
	case why != "":
		result = why
	}
	results.of[way+" "+c.id] = result
}

// probe records the failures of a check that is expected to fail.
type probe struct {
	testing.TB
	done chan struct{}

	mu      sync.Mutex // guards the fields below
	why     string     // why the check failed or was skipped
	skipped bool
}

// try runs a check. A panic counts as a failure.
func (p *probe) try(f func()) {
	defer close(p.done)
	defer func() {
		if v := recover(); v != nil {
			p.fail("panic: ", v)
		}
	}()
	f()
}

func (p *probe) fail(args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == "" {
		p.why = "failed " + fmt.Sprint(args...)
	}
}

func (p *probe) reason() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

func (p *probe) Error(args ...any)                 { p.fail(args...) }
func (p *probe) Errorf(format string, args ...any) { p.fail(fmt.Sprintf(format, args...)) }
func (p *probe) Fail()                             { p.fail() }
func (p *probe) Failed() bool                      { return p.reason() != "" }
func (p *probe) Fatal(args ...any)                 { p.fail(args...); runtime.Goexit() }
func (p *probe) FailNow()                          { p.Fatal() }
func (p *probe) Fatalf(format string, args ...any) { p.Fatal(fmt.Sprintf(format, args...)) }
func (p *probe) Log(...any)                        {}
func (p *probe) Logf(string, ...any)               {}

func (p *probe) Skip(args ...any) {
	p.fail(args...)
	p.mu.Lock()
	p.skipped = true
	p.mu.Unlock()
	runtime.Goexit()
}
func (p *probe) SkipNow()                         { p.Skip() }
func (p *probe) Skipf(format string, args ...any) { p.Skip(fmt.Sprintf(format, args...)) }

func (p *probe) Skipped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.skipped
}

// wholeChecks are about all events received in any check.
var wholeChecks = []check{
	{id: "C72", what: "every server event validates against the types of npm openai", test: func(t testing.TB, _ *rig) {
		if len(run.invalid) > 0 {
			t.Errorf("%d of %d events do not match the schema:\n%s", len(run.invalid), run.events, some(run.invalid))
		}
		if run.events < 1000 {
			t.Skipf("only %d events: run all checks", run.events)
		}
	}},
	{id: "C73", what: "no event types that npm openai does not know", test: func(t testing.TB, _ *rig) {
		if len(run.unknown) > 0 {
			t.Errorf("unknown: %s", some(run.unknown))
		}
	}},
	{id: "C74", what: "every event has an event_id, and none is used twice", test: func(t testing.TB, _ *rig) {
		if len(run.withoutID) > 0 || len(run.reused) > 0 {
			t.Errorf("without: %s; twice: %s", some(run.withoutID), some(run.reused))
		}
	}},
}
