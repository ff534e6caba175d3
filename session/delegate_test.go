package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/turn"
)

// office is where the delegated work of a test's conversations is kept. What is asked of
// the tasks is noted, and may be refused or held up before it is done.
type office struct {
	port.Tasks
	t     *testing.T
	kept  *porttest.Tasks
	tool  *porttest.Tool
	store *porttest.Store
	goOn  chan string // a result of the tool; "" has it fail

	mu     sync.Mutex // guards all below
	asked  []string   // "start test/c1"
	before func(ctx context.Context, what string) error
}

// inOffice runs a test on the clock of a bubble. Nothing that it began is left behind.
func inOffice(t *testing.T, test func(*office)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := &office{t: t, store: &porttest.Store{}, goOn: make(chan string)}
		o.tool = &porttest.Tool{Known: []port.ToolSpec{{Name: "research", Long: true}}, Run: o.research}
		o.kept = &porttest.Tasks{Tool: o.tool}
		o.Tasks = o.kept
		test(o)
		o.kept.Close()
	})
}

func (o *office) research(ctx context.Context, _ port.ToolCall, progress func(string)) (string, error) {
	progress("I am reading")
	progress("")
	select {
	case result := <-o.goOn:
		if result == "" {
			return "", &port.Failure{Code: "INTERRUPTED", Message: "the worker is lost"}
		}
		return result, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// gives has the tool give a result.
func (o *office) gives(result string) {
	o.t.Helper()
	select {
	case o.goOn <- result:
	case <-time.After(time.Minute):
		o.t.Error("no tool waits for its result")
	}
}

func (o *office) ask(ctx context.Context, what, which string) error {
	o.mu.Lock()
	what += " " + which
	o.asked = append(o.asked, what)
	before := o.before
	o.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(ctx, what)
}

func (o *office) Start(ctx context.Context, task port.Task) error {
	if err := o.ask(ctx, "start", task.Key); err != nil {
		return err
	}
	return o.Tasks.Start(ctx, task)
}

func (o *office) Follow(ctx context.Context, key string, progress func(string)) (string, error) {
	if err := o.ask(ctx, "follow", key); err != nil {
		return "", err
	}
	return o.Tasks.Follow(ctx, key, progress)
}

func (o *office) Cancel(ctx context.Context, key string) error {
	if err := o.ask(ctx, "cancel", key); err != nil {
		return err
	}
	return o.Tasks.Cancel(ctx, key)
}

func (o *office) Settle(ctx context.Context, key string) error {
	if err := o.ask(ctx, "settle", key); err != nil {
		return err
	}
	return o.Tasks.Settle(ctx, key)
}

func (o *office) Leave(ctx context.Context, conversation string) error {
	if err := o.ask(ctx, "leave", conversation); err != nil {
		return err
	}
	return o.Tasks.Leave(ctx, conversation)
}

func (o *office) Adopt(ctx context.Context, caller, conversation string) ([]port.Task, error) {
	if err := o.ask(ctx, "adopt", conversation); err != nil {
		return nil, err
	}
	return o.Tasks.Adopt(ctx, caller, conversation)
}

// first has something happen before the first call of a kind is done, on its goroutine.
func (o *office) first(what string, do func(ctx context.Context) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var done atomic.Bool
	o.before = func(ctx context.Context, asked string) error {
		if asked != what || done.Swap(true) {
			return nil
		}
		return do(ctx)
	}
}

func (o *office) wantAsked(want ...string) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.asked, want) {
		o.t.Errorf("asked %q, expected %q", o.asked, want)
	}
}

func (o *office) wantKept(keys ...string) {
	o.t.Helper()
	if got := o.kept.Keys(); !slices.Equal(got, keys) {
		o.t.Errorf("the tasks %q are kept, expected %q", got, keys)
	}
}

// running are the calls that run in what is kept of a conversation.
func (o *office) running(ctx context.Context, id string) (calls []string) {
	o.t.Helper()
	b, ok, err := o.store.Load(ctx, id)
	if err != nil || !ok {
		return nil
	}
	saved, err := journal.ReadCheckpoint(b)
	if err != nil {
		o.t.Error(err)
		return nil
	}
	c, err := conv.Restore(conv.Options{TasksOutlive: true}, saved.Snapshot)
	if err != nil {
		o.t.Error(err)
		return nil
	}
	for _, call := range running(c) {
		calls = append(calls, call.ID)
	}
	return calls
}

// client is a conversation that is held.
type client struct {
	*Session
	o     *office
	ended chan error // of Run; nil when it was taken
	stop  context.CancelFunc

	mu    sync.Mutex // guards facts
	facts []string   // of tasks
}

// holds begins a conversation, whose agent delegates what it is asked for.
func (o *office) holds(id string, change ...func(*Options)) *client {
	o.t.Helper()
	model := &porttest.Model{Answer: func(r port.Request) []port.Delta {
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Role == "user" && strings.HasPrefix(last.Content, "find"):
			name, arguments, _ := strings.Cut(strings.TrimPrefix(last.Content, "find "), " ")
			return []port.Delta{{Call: &port.ToolCall{ID: "c1", Name: name, Arguments: arguments}}}
		case last.Role == "tool":
			return []port.Delta{{Text: "Here it is: " + last.Content}}
		default:
			return []port.Delta{{Text: "Yes."}}
		}
	}}
	options := Options{
		ID: id, Leg: porttest.NewLeg(porttest.LegOptions{Live: true}), Synthesizer: &porttest.Synthesizer{}, Model: model, Tools: o.tool,
		Conv:        conv.Options{DeadAir: turn.DeadAirOptions{Off: true}},
		Delegation:  Delegation{Tasks: o, Agent: "agent"},
		Checkpoints: Checkpoints{Store: o.store},
	}
	for _, f := range change {
		f(&options)
	}
	s, err := New(options)
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(o.t.Context()))
	c := &client{Session: s, o: o, ended: make(chan error, 1), stop: stop}
	s.OnStep(c.note)
	go func() { c.ended <- s.Run(ctx) }()
	o.t.Cleanup(c.hangUp)
	pass(100 * ms) // it listens
	return c
}

func (c *client) note(s Step) {
	c.mu.Lock()
	defer c.mu.Unlock()
	say := func(format string, args ...any) { c.facts = append(c.facts, fmt.Sprintf(format, args...)) }
	switch e := s.Event.(type) {
	case conv.TaskProgress:
		say("progress %q", e.Text)
	case conv.TaskDone:
		say("done %q", e.Output)
	case conv.TaskFailed:
		say("failed %s", e.Code)
	case conv.TaskAdopted:
		say("adopted %s", e.Key)
	default:
	}
	for _, e := range s.Output.Effects {
		if e, ok := e.(conv.SettleTask); ok {
			say("told %s%s", e.ID, e.Key)
		}
	}
}

func (c *client) happened() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.facts)
}

// says posts a line of the caller.
func (c *client) says(text string) {
	c.o.t.Helper()
	c.post(conv.UserText{Text: text})
}

func (c *client) post(ev conv.Event) {
	c.o.t.Helper()
	if err := c.Post(ev); err != nil {
		c.o.t.Fatal(err)
	}
}

// until lets time pass until something has happened.
func (c *client) until(what string) {
	c.o.t.Helper()
	for range 3000 {
		synctest.Wait()
		if slices.Contains(c.happened(), what) {
			return
		}
		pass(20 * ms)
	}
	c.o.t.Fatalf("%q does not happen, but %q; asked %q", what, c.happened(), c.o.asked)
}

func (c *client) wantHappened(want ...string) {
	c.o.t.Helper()
	if got := c.happened(); !slices.Equal(got, want) {
		c.o.t.Errorf("what has happened is %q, expected %q", got, want)
	}
}

// hangUp ends the conversation, and waits until nothing of it runs.
func (c *client) hangUp() {
	if c.ended == nil {
		return
	}
	_ = c.Post(conv.UserStop{}) // it may have ended
	select {
	case err := <-c.ended:
		if err != nil {
			c.o.t.Error(err)
		}
	case <-time.After(time.Minute):
		c.o.t.Errorf("the conversation does not end; what has happened is %q", c.happened())
		c.stop()
		<-c.ended
	}
	c.ended = nil
}

// die ends the process that holds the conversation.
func (c *client) die() {
	c.o.t.Helper()
	c.stop()
	if err := <-c.ended; !errors.Is(err, context.Canceled) {
		c.o.t.Error(err)
	}
	c.ended = nil
}

func of(caller string) func(*Options) { return func(o *Options) { o.Delegation.Caller = caller } }

// TestTaskIsToldAndForgotten: a task is begun when a checkpoint knows of it, followed, and
// forgotten when a checkpoint knows that its result was told.
func TestTaskIsToldAndForgotten(t *testing.T) {
	inOffice(t, func(o *office) {
		var atStart, atEnd []string
		o.before = func(ctx context.Context, what string) error {
			switch what {
			case "start test/c1":
				atStart = o.running(ctx, "test")
			case "settle test/c1":
				atEnd = o.running(ctx, "test")
			}
			return nil
		}
		c := o.holds("test")
		c.says(`find research {"to":"rome"}`)
		c.until(`progress "I am reading"`)
		o.wantKept("test/c1")
		o.gives("by train")
		c.until("told c1")
		pass(time.Second)
		synctest.Wait()
		o.wantKept()
		c.hangUp()
		o.wantAsked("start test/c1", "follow test/c1", "settle test/c1", "leave test")
		if !slices.Equal(atStart, []string{"c1"}) || atEnd != nil {
			t.Errorf("when it was begun a checkpoint knew of %q, when it was forgotten of %q", atStart, atEnd)
		}
		if calls := o.tool.Calls(); len(calls) != 1 || calls[0] != (port.ToolCall{ID: "test/c1", Name: "research", Arguments: `{"to":"rome"}`}) {
			t.Errorf("calls %+v", calls)
		}
		for _, want := range []string{`progress "I am reading"`, `done "by train"`} {
			if !slices.Contains(c.happened(), want) {
				t.Errorf("%q has not happened: %q", want, c.happened())
			}
		}
	})
}

// TestSignsOfLife: that the worker lives is a fact of its own.
func TestSignsOfLife(t *testing.T) {
	inOffice(t, func(o *office) {
		o.tool.Run = func(ctx context.Context, _ port.ToolCall, progress func(string)) (string, error) {
			for ctx.Err() == nil {
				pass(10 * time.Second)
				progress("")
			}
			return "", ctx.Err()
		}
		c := o.holds("test")
		c.says("find research")
		pass(35 * time.Second)
		c.wantHappened(`progress ""`, `progress ""`, `progress ""`)
	})
}

// TestTaskWhileTheDatabaseIsAway: each question is asked again until there is an answer,
// and the result comes once.
func TestTaskWhileTheDatabaseIsAway(t *testing.T) {
	inOffice(t, func(o *office) {
		var mu sync.Mutex
		fails := make(map[string]int)
		o.before = func(_ context.Context, what string) error {
			mu.Lock()
			defer mu.Unlock()
			what, _, _ = strings.Cut(what, " ")
			if fails[what]++; fails[what] <= 3 {
				return errors.New("the database is away")
			}
			return nil
		}
		c := o.holds("test", of("carla"))
		c.says("find research")
		o.gives("by train")
		c.until("told c1")
		pass(5 * askAgain)
		synctest.Wait()
		o.wantKept()
		c.hangUp()
		for _, what := range []string{"start", "follow", "settle", "adopt", "leave"} {
			if fails[what] != 4 {
				t.Errorf("%s was asked %d times, expected 4", what, fails[what])
			}
		}
		if n := len(o.tool.Calls()); n != 1 {
			t.Errorf("%d calls, expected 1", n)
		}
	})
}

// TestTaskFails: an answer is one, whichever, and it is told and forgotten like a result.
func TestTaskFails(t *testing.T) {
	duplicate := func(o *office) {
		o.first("start test/c1", func(context.Context) error { return &port.Failure{Code: "DUPLICATE", Message: "it runs"} })
	}
	for name, c := range map[string]struct {
		says  string
		setup func(*office)
		want  string
		asked []string
	}{
		"a worker that is lost": {"find research {}", func(o *office) { go o.gives("") }, "failed INTERRUPTED", []string{"start test/c1", "follow test/c1", "settle test/c1"}},
		"a duplicate":           {"find research {}", duplicate, "failed DUPLICATE", []string{"start test/c1", "settle test/c1"}},
		"no JSON":               {"find research {", nil, "failed TOOL_ERROR", []string{"settle test/c1"}},
	} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, func(o *office) {
				if c.setup != nil {
					c.setup(o)
				}
				held := o.holds("test")
				held.says(c.says)
				held.until(c.want)
				held.until("told c1")
				pass(time.Second)
				synctest.Wait()
				o.wantAsked(c.asked...)
				o.wantKept()
			})
		})
	}
}

// TestTaskIsCalledOff: it ends, its tool too, it is forgotten behind a checkpoint, and
// nobody hears of a result.
func TestTaskIsCalledOff(t *testing.T) {
	inOffice(t, func(o *office) {
		c := o.holds("test")
		c.says("find research {}")
		c.until(`progress "I am reading"`)
		var known []string
		o.first("settle test/c1", func(ctx context.Context) error { known = o.running(ctx, "test"); return nil })
		c.post(conv.UserCancel{})
		pass(time.Second)
		synctest.Wait()
		o.wantAsked("start test/c1", "follow test/c1", "cancel test/c1", "settle test/c1")
		o.wantKept()
		if known != nil {
			t.Errorf("when it was forgotten a checkpoint knew of %q", known)
		}
		for _, fact := range c.happened() {
			if strings.HasPrefix(fact, "done") || strings.HasPrefix(fact, "failed") {
				t.Errorf("it is told: %s", fact)
			}
		}
	})
}

// TestTaskEndsAsItIsCalledOff: a result that comes at the moment when the work is called
// off is told to nobody, now or later.
func TestTaskEndsAsItIsCalledOff(t *testing.T) {
	inOffice(t, func(o *office) {
		c := o.holds("test", of("carla"))
		c.OnStep(func(s Step) { // on the loop's goroutine
			if conv.EventType(s.Event) == "task.progress" {
				c.post(conv.UserCancel{})
				o.gives("by train")
				pass(ms) // it is behind the word of the caller
			}
		})
		c.says("find research {}")
		c.until(`done "by train"`)
		pass(time.Second)
		synctest.Wait()
		o.wantKept()
		c.wantHappened(`progress "I am reading"`, `done "by train"`) // which is late
	})
}

// TestCalledOffWhileItBegins: a start that is on its way when the work is called off, and
// comes through, is called off too.
func TestCalledOffWhileItBegins(t *testing.T) {
	inOffice(t, func(o *office) {
		o.first("start test/c1", func(ctx context.Context) error {
			<-ctx.Done() // its answer is lost
			pass(500 * ms)
			return o.kept.Start(context.WithoutCancel(ctx), port.Task{Key: "test/c1", Call: port.ToolCall{ID: "test/c1", Name: "research"}, Conversation: "test"})
		})
		c := o.holds("test")
		c.says("find research {}")
		pass(time.Second)
		c.post(conv.UserCancel{})
		pass(10 * time.Second)
		synctest.Wait()
		o.wantKept()
		o.wantAsked("start test/c1", "cancel test/c1", "settle test/c1")
	})
}

// TestTaskOutlivesItsConversation: who hangs up is told in the next conversation, once;
// whoever the caller of a third one is hears nothing.
func TestTaskOutlivesItsConversation(t *testing.T) {
	inOffice(t, func(o *office) {
		first := o.holds("first", of("carla"))
		first.says("find research {}")
		first.until(`progress "I am reading"`)
		first.hangUp()
		o.wantKept("first/c1")
		o.gives("by train")
		others := o.holds("others", of("karl"))
		second := o.holds("second", of("carla"))
		second.until("adopted first/c1")
		second.until(`done "by train"`)
		second.until("told earlier-1first/c1")
		pass(time.Second)
		synctest.Wait()
		o.wantKept()
		others.wantHappened()
		if n := len(o.tool.Calls()); n != 1 {
			t.Errorf("%d calls, expected 1", n)
		}
	})
}

// TestNobodysTaskEndsWithItsConversation: nobody could be told.
func TestNobodysTaskEndsWithItsConversation(t *testing.T) {
	inOffice(t, func(o *office) {
		c := o.holds("test")
		c.says("find research {}")
		c.until(`progress "I am reading"`)
		c.hangUp()
		o.wantKept()
	})
}

// TestHangUpWhileATaskIsTaken: what begins, or is adopted, at the moment of the end waits
// for its caller like the rest.
func TestHangUpWhileATaskIsTaken(t *testing.T) {
	slow := func(ctx context.Context) error {
		pass(500 * ms)
		return nil
	}
	t.Run("begun", func(t *testing.T) {
		inOffice(t, func(o *office) {
			o.Tasks = deaf{o.kept}
			o.first("start first/c1", slow)
			c := o.holds("first", of("carla"))
			c.says("find research {}")
			pass(400 * ms)
			c.hangUp()
			if got, err := o.kept.Adopt(t.Context(), "carla", "second"); err != nil || len(got) != 1 {
				t.Errorf("%d tasks wait for the caller, error %v; expected 1", len(got), err)
			}
		})
	})
	t.Run("adopted", func(t *testing.T) {
		inOffice(t, func(o *office) {
			o.Tasks = deaf{o.kept}
			task := port.Task{Key: "k", Call: port.ToolCall{ID: "k", Name: "research"}, Conversation: "first", Caller: "carla"}
			if err := errors.Join(o.kept.Start(t.Context(), task), o.kept.Leave(t.Context(), "first")); err != nil {
				t.Fatal(err)
			}
			o.first("adopt second", slow)
			c := o.holds("second", of("carla"))
			pass(100 * ms)
			c.hangUp()
			if got, err := o.kept.Adopt(t.Context(), "carla", "third"); err != nil || len(got) != 1 {
				t.Errorf("%d tasks wait for the caller, error %v; expected 1", len(got), err)
			}
		})
	})
}

// deaf are tasks that have begun to carry a question out when its context ends.
type deaf struct{ port.Tasks }

func (d deaf) Start(ctx context.Context, task port.Task) error {
	return d.Tasks.Start(context.WithoutCancel(ctx), task)
}

func (d deaf) Adopt(ctx context.Context, caller, conversation string) ([]port.Task, error) {
	return d.Tasks.Adopt(context.WithoutCancel(ctx), caller, conversation)
}

// TestTaskGoesOnInAnotherProcess: who resumes a conversation asks for the same tasks
// again, for its own and for one that it has adopted.
func TestTaskGoesOnInAnotherProcess(t *testing.T) {
	inOffice(t, func(o *office) {
		earlier := port.Task{Key: "k", Call: port.ToolCall{ID: "k", Name: "research"}, Conversation: "earlier", Caller: "carla"}
		if err := errors.Join(o.kept.Start(t.Context(), earlier), o.kept.Leave(t.Context(), "earlier")); err != nil {
			t.Fatal(err)
		}
		first := o.holds("test", of("carla"))
		first.until("adopted k")
		first.says("find research {}")
		pass(time.Second)
		first.die()
		o.wantAsked("adopt test", "follow k", "start test/c1", "follow test/c1")
		o.wantKept("k", "test/c1")

		b, ok, err := o.store.Load(t.Context(), "test")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		saved, err := journal.ReadCheckpoint(b)
		if err != nil {
			t.Fatal(err)
		}
		o.asked = nil
		second := o.holds("test", of("carla"), func(o *Options) { o.Restore = saved.Snapshot })
		pass(time.Second)
		o.gives("one")
		o.gives("another")
		second.until("told c1")
		second.until("told earlier-1k")
		pass(time.Second)
		synctest.Wait()
		o.wantKept()
		if n := len(o.tool.Calls()); n != 2 {
			t.Errorf("%d calls, expected one of each task", n)
		}
		slices.Sort(o.asked)
		o.wantAsked("adopt test", "follow k", "follow test/c1", "settle k", "settle test/c1", "start test/c1")
	})
}

// TestNoTaskForALostConversation: who no longer holds the conversation begins nothing for
// it, and says nothing.
func TestNoTaskForALostConversation(t *testing.T) {
	inOffice(t, func(o *office) {
		if err := o.store.Beat(t.Context(), port.Node{ID: "n"}, time.Hour); err != nil {
			t.Fatal(err)
		}
		ours, err := o.store.Claim(t.Context(), "test", "n")
		if err != nil {
			t.Fatal(err)
		}
		c := o.holds("test", func(o *Options) { o.Checkpoints.Token = ours.Token })
		pass(time.Second)
		if _, err := o.store.Claim(t.Context(), "test", "n"); err != nil {
			t.Fatal(err)
		}
		c.says("find research {}")
		if err := <-c.ended; !errors.Is(err, port.ErrFenced) {
			t.Errorf("it has ended with %v", err)
		}
		c.ended = nil
		o.wantAsked()
		c.wantHappened()
	})
}
