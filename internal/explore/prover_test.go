package explore

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutant is a deliberate error in the machine.
type mutant struct {
	name string
	// file is a file of package conv in which old, which occurs once, is replaced by
	// new.
	file, old, new string
	// config is the configuration in which the error can be found; found is part of the
	// violation's text.
	config, found string
	quick         bool // tested in every run
}

// mutants are the errors that the exploration must find. A mutant whose code no longer
// exists fails the test.
var mutants = []mutant{
	{
		name: "the guard against stale turns is dropped", file: "reply.go",
		old:    "if number != 0 && number != r.Turn {\n\t\treturn true",
		new:    "if number != 0 && number != r.Turn {\n\t\treturn false",
		config: "floor: easyturn, energy", found: "was not dropped", quick: true,
	},
	{
		name: "the pause after a barge-in has no deadline", file: "transition.go",
		old: "c.st.arm(timers.Interrupted, c.opts.Limits.Interrupted)", new: "",
		config: "disturbances", found: "interrupted waits without a deadline", quick: true,
	},
	{
		name: "an utterance is answered twice", file: "request.go",
		old:    "s.arm(timers.Processing, o.Limits.Processing)\n\tout.ask(r)",
		new:    "s.arm(timers.Processing, o.Limits.Processing)\n\tout.ask(r)\n\tout.ask(r)",
		config: "disturbances", found: "is answered twice", quick: true,
	},
	{
		name: "the making of a reply has no deadline", file: "request.go",
		old:    "s.arm(timers.Processing, o.Limits.Processing)\n\tout.ask(r)",
		new:    "out.ask(r)",
		config: "tools and disturbances", found: "waits without a deadline",
	},
	{
		name: "the final transcript is waited for without end", file: "endturn.go",
		old: "c.st.arm(timers.Final, wait)", new: "_ = wait",
		config: "floor: easyturn, energy", found: "processing.understanding waits without a deadline",
	},
	{
		name: "a yes is acted on while the user goes on", file: "secondthought.go",
		old: "if c.st.Floor.Speaking {", new: "if false {",
		config: "flows that ask first, and a yes that goes on", found: "runs while the user goes on after a yes",
	},
	{
		name: "recovery has no deadline", file: "fault.go",
		old: "c.st.arm(timers.Fault, l.Error)", new: "",
		config: "faults and silence", found: "faulted waits without a deadline",
	},
	{
		name: "a call's result is forgotten", file: "tools.go",
		old:    "c.st.addItem(&c.opts, Item{\n\t\tTurn: call.Turn, Role: RoleTool,",
		new:    "func(*Options, Item) {}(&c.opts, Item{\n\t\tTurn: call.Turn, Role: RoleTool,",
		config: "tools and disturbances", found: "ended with 0 results",
	},
	{
		name: "the old turn's audio is not dropped", file: "endreply.go",
		old: "c.out.emit(FlushPlayout{Turn: r.Turn, Heard: c.st.heardSoFar()})", new: "",
		config: "tools and disturbances", found: "while its audio plays on",
	},
	{
		name: "a turn's last event is lost", file: "takefloor.go",
		old:    "if u.Turn != 0 {\n\t\tout.Turns = append(",
		new:    "if u.Turn != 0 && how != TurnAbandoned {\n\t\tout.Turns = append(",
		config: "disturbances", found: "disappeared without its last event",
	},
	{
		name: "a suspension returns to another phase", file: "suspension.go",
		old: "c.record(st.Before, c.event)", new: "c.record(ListeningReady, c.event)",
		config: "tools and disturbances", found: "returned to",
	},
	{
		name: "facts are taken in during a suspension", file: "conv.go",
		old: "c.st.Phase == Suspended && d.deferred", new: "c.st.Phase == Suspended && d.deferred && false",
		config: "tools and disturbances", found: "",
	},
	{
		name: "a tool runs for a turn that is held", file: "tools.go",
		old: "if r.Held() {\n\t\tc.st.stopHeldClock()\n\t\treturn", new: "if false {\n\t\tc.st.stopHeldClock()\n\t\treturn",
		config: "tools", found: "",
	},
	{
		name: "a repeated call runs again", file: "tools.go",
		old:    "if s.Calls.known(id) {\n\t\treturn true",
		new:    "if s.Calls.known(id) {\n\t\treturn false",
		config: "tools and disturbances", found: "",
	},
	{
		name: "a reply is not held for a voice", file: "takefloor.go",
		old: "st.Reply.Hold = holdReply\n", new: "\n",
		config: "disturbances", found: "",
	},
	{
		name: "deadlines are forgotten in a suspension", file: "suspension.go",
		old: "suspension{Source: source, At: c.st.Now, Timers: st.Timers}", new: "suspension{Source: source, At: c.st.Now}",
		config: "tools and disturbances", found: "waits without a deadline",
	},
	{
		name: "the circuit breaker's fault is never left", file: "fault.go",
		old: "c.st.arm(timers.Breaker, l.BreakerCooldown)", new: "",
		config: "faults and silence", found: "faulted waits without a deadline",
	},
	{
		name: "a task is settled before its result was told", file: "settle.go",
		old:    "case waitingNews:\n\t\tc.announceNews()",
		new:    "case len(p.News) > 0 && len(p.Settle) > 0:\n\t\tc.st.Pending.settleTasks(&c.out)\n\tcase waitingNews:\n\t\tc.announceNews()",
		config: "tasks that outlive the conversation", found: "was settled before its result was told",
	},
	{
		name: "a task that was told is never settled", file: "settle.go",
		old: "p.settleTasks(&c.out) // all that they led to has been told", new: "return false",
		config: "tasks that outlive the conversation", found: "is not settled",
	},
	{
		name: "a model's failed tool is an apology", file: "tools.go",
		old:    "if c.st.Phase == Faulted {\n\t\t\t// The mind has the failure",
		new:    "if false {\n\t\t\t// The mind has the failure",
		config: "tools that fail", found: "is told to nobody",
	},
	{
		name: "the reply waits for work that was called off", file: "tasks.go",
		old:    "awaited && c.st.Phase == Delegated && quick+long == 0",
		new:    "awaited && c.st.Phase == Delegated && quick+long < 0",
		config: "tools", found: "",
	},
	{
		name: "a flow's result that nobody waits for is kept from the flow", file: "tools.go",
		old:    "case call.Action():\n\t\tc.st.tellLater(&c.out, &c.opts, c.st.actionEnded(&c.opts, call, r))",
		new:    "case false:\n\t\tc.st.tellLater(&c.out, &c.opts, c.st.actionEnded(&c.opts, call, r))",
		config: "flows", found: "of which 0 calls are on their way", quick: true,
	},
	{
		name: "what was not understood is not taken back", file: "endreply.go",
		old: "c.unread()\n", new: "\n",
		config: "flows and a model that understands", found: "the dialogue waits for advice",
	},
	{
		name: "a yes counts before its question was heard", file: "confirm.go",
		old:    "return s.Dialogue.Confirmation != nil && !answers(began, b.Heard)",
		new:    "return b == nil && answers(began, b.Heard)",
		config: "flows that ask first", found: "runs without a yes to what was heard", quick: true,
	},
	{
		name: "what was cut off counts as heard", file: "confirm.go",
		old:    "if b.Heard.IsZero() && b.Done >= b.End {",
		new:    "if b.Heard.IsZero() {",
		config: "flows that ask first", found: "runs without a yes to what was heard",
	},
	{
		name: "a yes to a question whether somebody is there counts as one to another", file: "request.go",
		old:    "if kind != ReplyAnswer && kind != ReplyResumed {",
		new:    "if false {",
		config: "flows that ask first, silence and a bad line", found: "runs without a yes to what was heard",
	},
	{
		name: "a yes to a model's tool counts before its question was heard", file: "consent.go",
		old:    "if !answers(began, k.Heard) {",
		new:    "if false {",
		config: "tools that need a yes", found: "runs without a yes to what was heard",
	},
	{
		name: "a model's question whose sound was dropped counts as heard", file: "played.go",
		old:    "if s.Consent.asking(&s.Reply) {",
		new:    "if false {",
		config: "tools that need a yes", found: "runs without a yes to what was heard",
	},
	{
		name: "a model's tool runs without a yes", file: "consent.go",
		old:    "if i < 0 || k.Calls[i].Yes == 0 || k.Calls[i].Yes != userTurn {",
		new:    "if i < 0 {",
		config: "tools that need a yes", found: "runs without a yes to what was heard",
	},
	{
		name: "a reply that a noise cut off is lost", file: "pending.go",
		old: "s.Going.waits() && s.Floor.Barged == 0,", new: "false,",
		config: "replies that a noise cuts off", found: "a reply that a voice cut off is lost", quick: true,
	},
	{
		name: "a reply goes on for ever", file: "going.go",
		old: " || row > goesOnMost {", new: " {",
		config: "replies that a noise cuts off", found: "times in a row",
	},
	{
		name: "a reply that goes on repeats what was heard", file: "going.go",
		old: "from := lastSentence(g.Text, g.Heard)", new: "from := 0",
		config: "replies that a noise cuts off", found: "a sentence that was heard is said again",
	},
	{
		name: "a sign of listening ends a reply", file: "going.go",
		old: "return ignored(kind) && !c.answersCut(text)", new: "return false",
		config: "replies that a noise cuts off", found: "words that cannot be trusted",
	},
	{
		name: "words that mean nothing to the flows end a reply", file: "going.go",
		old: "case a != nil && a.Missed(", new: "case a != nil && false && a.Missed(",
		config: "flows that a noise cuts off", found: "words that cannot be trusted",
	},
	{
		name: "advice is followed while the reply is held", file: "consult.go",
		old: "if !r.Held() {", new: "if true {",
		config: "flows and a model that understands", found: "is not an edge of the phase graph",
	},
}

// TestProver checks the exploration itself: each mutant of the machine compiles, and
// the exploration finds it and prints the path. Five mutants are tested in every run,
// and all of them with HOCKET_MUTANTS=all.
func TestProver(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		t.Skip("this is a mutant")
	}
	all := os.Getenv("HOCKET_MUTANTS") == "all"
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			source := filepath.Join("..", "..", "conv", m.file)
			overlay := m.overlay(t, source)
			if !all && !m.quick {
				t.Skip("HOCKET_MUTANTS=all runs it")
			}
			m.run(t, overlay)
		})
	}
}

// overlay writes the changed file and an overlay for `go test`.
func (m mutant) overlay(t *testing.T, source string) string {
	t.Helper()
	b, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), m.old); n != 1 {
		t.Fatalf("the code to break stands in %s %d times, expected once:\n%s", m.file, n, m.old)
	}
	dir := t.TempDir()
	broken := filepath.Join(dir, m.file)
	if err := os.WriteFile(broken, []byte(strings.Replace(string(b), m.old, m.new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(source)
	if err != nil {
		t.Fatal(err)
	}
	b, err = json.Marshal(map[string]map[string]string{"Replace": {path: broken}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// childEnv is the environment variable with the configuration that a mutant explores.
const childEnv = "HOCKET_MUTANT_CONFIG"

// run builds and explores the mutant in another process.
func (m mutant) run(t *testing.T, overlay string) {
	t.Helper()
	ctx := t.Context()
	binary := filepath.Join(t.TempDir(), "mutant.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "-overlay", overlay, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the mutant does not compile: %v\n%s", err, out)
	}
	explore := exec.CommandContext(ctx, binary, "-test.run", "^TestMutant$", "-test.v")
	explore.Env = append(os.Environ(), childEnv+"="+m.config)
	out, err := explore.CombinedOutput()
	var exit *exec.ExitError
	if err == nil {
		t.Fatalf("the exploration does not notice it:\n%s", out)
	}
	if !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("the exploration did not run: %v\n%s", err, out)
	}
	text := string(out)
	if !strings.Contains(text, "found: ") || !strings.Contains(text, m.found) {
		t.Errorf("the exploration finds something else, expected %q:\n%s", m.found, text)
	}
	if !strings.Contains(text, `{"type":`) {
		t.Errorf("the exploration prints no way there:\n%s", text)
	}
	t.Logf("%s", text)
}

// TestMutant is run by a mutant: it explores one configuration until the first
// violation.
func TestMutant(t *testing.T) {
	name := os.Getenv(childEnv)
	if name == "" {
		t.Skip("TestProver runs it in a machine that is broken on purpose")
	}
	configs := Shipped()
	i := slices.IndexFunc(configs, func(c Config) bool { return c.Name == name })
	if i < 0 {
		t.Skipf("no configuration %q", name)
	}
	x, err := newExplorer(configs[i])
	if err != nil {
		t.Fatal(err)
	}
	frontier := x.begin()
	for level := 0; len(frontier) > 0 && len(x.violations) == 0; level++ {
		results, err := x.expand(frontier)
		if err != nil {
			t.Fatal(err)
		}
		frontier = x.merge(results)
	}
	if len(x.violations) == 0 {
		x.liveness()
	}
	for _, check := range sortedKeys(x.violations) {
		v := x.violations[check]
		t.Errorf("found: %s: %s\n%s", v.Check, v.What, strings.Join(v.Path, "\n"))
	}
	t.Logf("%d states, %d steps", len(x.nodes), x.steps)
}
