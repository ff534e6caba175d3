package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// program embeds a machine and has its own services: they are ready at once and
// answer what they are asked.
type program struct {
	t    *testing.T
	m    *Machine
	done chan error

	effects []string
	phases  []string
	answer  string // to every request; empty: none
}

func newProgram(t *testing.T, o MachineOptions) *program {
	t.Helper()
	p := &program{t: t, done: make(chan error, 1)}
	perform := o.Perform
	o.Perform = func(l *Loop, e conv.Effect) {
		p.effects = append(p.effects, conv.EffectType(e))
		p.serve(l, e)
		if perform != nil {
			perform(l, e)
		}
	}
	if o.ID == "" {
		o.ID = "conversation-17"
	}
	m, err := NewMachine(o)
	if err != nil {
		t.Fatal(err)
	}
	p.m = m
	m.OnStateChanged(func(s StateChanged) { p.phases = append(p.phases, s.Transition.To.String()) })
	return p
}

func (p *program) serve(l *Loop, e conv.Effect) {
	switch e := e.(type) {
	case conv.OpenSession:
		l.Post(conv.SessionReady{ID: "s"})
	case conv.PrimeAudio:
		l.Post(conv.AudioReady{})
	case conv.RequestReply:
		if p.answer != "" {
			l.Post(conv.ReplyDone{Turn: e.Turn, Request: e.Request, Text: p.answer})
		}
	case conv.EndSpeech:
		l.Post(conv.PlayoutStarted{Turn: e.Turn})
	case conv.Release:
		l.Post(conv.SessionEnded{})
	}
}

func (p *program) run(ctx context.Context) { go func() { p.done <- p.m.Run(ctx) }() }

func (p *program) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Error(err)
	}
}

// in waits until everybody waits, and checks the phase.
func (p *program) in(phase conv.Phase) {
	p.t.Helper()
	synctest.Wait()
	if got := p.m.State().Phase; got != phase {
		p.t.Errorf("phase %v, want %v; so far %q", got, phase, p.phases)
	}
}

// ended waits for the loop's end.
func (p *program) ended(want error) {
	p.t.Helper()
	if err := <-p.done; !errors.Is(err, want) {
		p.t.Errorf("Run returned %v, want %v", err, want)
	}
}

// bubble runs a test of a program on a fake clock.
func bubble(t *testing.T, o MachineOptions, test func(*testing.T, *program)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newProgram(t, o)) })
}

func TestFacadeHoldsAConversation(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		p.answer = "It is sunny."
		p.run(t.Context())
		p.in(conv.Idle)
		p.must(p.m.Initialize("s1"))
		p.in(conv.Idle)
		p.must(p.m.StartConversation())
		p.in(conv.ListeningReady)
		if s := p.m.State(); s.SessionID != "s1" || s.Label == "" || !s.Since.Equal(time.Now()) {
			t.Errorf("%+v", s)
		}
		p.must(p.m.SendText("how is the weather?"))
		p.in(conv.Speaking)
		if s := p.m.State(); s.Turn != 2 || s.TurnRole != conv.RoleAgent || s.PlayoutTurn != 2 || s.Previous != conv.Generating {
			t.Errorf("%+v", s)
		}
		p.must(p.m.HandleUserInterrupt("button"))
		p.in(conv.Interrupted)
		pass(50 * ms)
		p.in(conv.ListeningReady)
		p.must(p.m.Post(conv.SpeechStarted{Source: "vad"}, conv.STTFinal{Text: "and tomorrow", Confidence: 1, Endpoint: true}))
		p.in(conv.Speaking)
		p.must(p.m.Cancel())
		pass(50 * ms)
		p.in(conv.ListeningReady)
		p.must(p.m.EndConversation("enough"))
		p.ended(nil)
		if p.m.State().Phase != conv.Idle {
			t.Errorf("%+v", p.m.State())
		}
		for name, err := range map[string]error{
			"Post": p.m.Post(conv.UserStop{}), "StartConversation": p.m.StartConversation(), "Suspend": p.m.Suspend(""),
			"Resume": p.m.Resume(), "SendText": p.m.SendText("x"), "Cancel": p.m.Cancel(), "CancelTask": p.m.CancelTask("a"),
			"Initialize": p.m.Initialize(""), "EndConversation": p.m.EndConversation(""), "HandleUserInterrupt": p.m.HandleUserInterrupt(""),
			"Recent": second(p.m.Recent()), "CanTransition": second(p.m.CanTransition(conv.UserStart{})),
		} {
			if !errors.Is(err, ErrEnded) {
				t.Errorf("%s after the end: %v, want ErrEnded", name, err)
			}
		}
		if err := p.m.Recover(); err != nil {
			t.Errorf("Recover after the end: %v: there is nothing to recover", err)
		}
		if err := p.m.Run(t.Context()); err == nil {
			t.Error("the loop runs twice")
		}
	})
}

// One delegated call is called off by its id, and only what runs is.
func TestFacadeCallsOneTaskOff(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		p.run(t.Context())
		p.must(p.m.StartConversation())
		p.must(p.m.SendText("book it"))
		p.in(conv.Understanding)
		p.must(p.m.Post(
			conv.ToolCalled{ID: "a", Name: "flight", Long: true}, conv.ToolCalled{ID: "b", Name: "hotel", Long: true},
			conv.ToolCalled{ID: "c", Name: "clock"},
		))
		p.in(conv.Delegated)
		if got := p.m.State().Tools; !slices.Equal(got, []string{"flight", "hotel", "clock"}) {
			t.Fatalf("%q run", got)
		}
		p.must(p.m.CancelTask("a"))
		p.in(conv.Delegated)
		for _, id := range []string{"a", "c", "d", ""} {
			if err := p.m.CancelTask(id); !errors.Is(err, ErrNoTask) {
				t.Errorf("%s: %v", id, err)
			}
		}
		if got := p.m.State().Tools; !slices.Equal(got, []string{"hotel", "clock"}) {
			t.Errorf("%q run", got)
		}
		p.must(p.m.EndConversation(""))
		p.ended(nil)
	})
}

func second[T any](_ T, err error) error { return err }

func TestFacadeRefusesASecondConversation(t *testing.T) {
	owners := &Owners{}
	bubble(t, MachineOptions{Owner: "ann", Owners: owners}, func(t *testing.T, p *program) {
		p.run(t.Context())
		p.must(p.m.StartConversation())
		p.in(conv.ListeningReady)
		var active *ActiveError
		if err := p.m.StartConversation(); !errors.As(err, &active) || active.Owner != "ann" || !strings.Contains(err.Error(), "ann") {
			t.Errorf("a second start: %v", err)
		}
		other := newProgram(t, MachineOptions{Owner: "ann", Owners: owners})
		if err := other.m.StartConversation(); !errors.As(err, &active) {
			t.Errorf("a start on another machine: %v", err)
		}
		third := newProgram(t, MachineOptions{Owner: "bob", Owners: owners})
		third.run(t.Context())
		third.must(third.m.StartConversation())
		third.in(conv.ListeningReady)
		p.in(conv.ListeningReady)
		p.must(p.m.EndConversation(""))
		p.ended(nil)
		other.run(t.Context())
		other.must(other.m.StartConversation())
		other.in(conv.ListeningReady)
		for _, q := range []*program{other, third} {
			q.must(q.m.EndConversation(""))
			q.ended(nil)
		}
	})
	// A machine without owners looks after itself, and says so.
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		p.run(t.Context())
		p.must(p.m.StartConversation())
		var active *ActiveError
		if err := p.m.StartConversation(); !errors.As(err, &active) || active.Error() == "" {
			t.Errorf("a second start: %v", err)
		}
		p.must(p.m.EndConversation(""))
		p.ended(nil)
	})
}

// A start that is given up, because no session comes, gives the owner's place
// back, and the machine can be started again.
func TestFacadeStartThatTimesOut(t *testing.T) {
	owners := &Owners{}
	synctest.Test(t, func(t *testing.T) {
		var effects []string
		m, err := NewMachine(MachineOptions{
			Owner: "ann", Owners: owners, Perform: func(_ *Loop, e conv.Effect) { effects = append(effects, conv.EffectType(e)) },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- m.Run(ctx) }()
		for range 2 {
			if err := m.StartConversation(); err != nil {
				t.Fatal(err)
			}
			pass(9 * time.Second)
			if got := m.State().Pending; !slices.Contains(got, "start") {
				t.Errorf("pending %q", got)
			}
			pass(2 * time.Second)
			if got := m.State().Pending; len(got) != 0 {
				t.Errorf("pending %q after 11 s", got)
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		if want := []string{"open_session", "notify", "open_session", "notify"}; !slices.Equal(effects, want) {
			t.Errorf("effects %q, want %q", effects, want)
		}
	})
}

// However a start and the end of the loop fall together, the owner's place is
// free afterwards.
func TestFacadeStartAtTheEnd(t *testing.T) {
	owners := &Owners{}
	for range 300 {
		m, err := NewMachine(MachineOptions{Owner: "ann", Owners: owners})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = m.Run(ctx) })
		all.Go(cancel)
		all.Go(func() {
			if err := m.StartConversation(); err != nil && !errors.Is(err, ErrEnded) {
				t.Errorf("StartConversation: %v", err)
			}
		})
		all.Wait()
		release, err := owners.Acquire("ann")
		if err != nil {
			t.Fatal("the loop has ended and the owner's place is taken still")
		}
		release()
	}
}

func TestFacadeObservers(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		p.answer = "It is sunny."
		var log []string
		var records []StateChanged
		p.m.OnStep(func(s Step) {
			log = append(log, "step "+conv.EventType(s.Event))
			if s.State.Phase != p.m.State().Phase {
				t.Error("State is older than the step")
			}
		})
		p.m.OnStateChanged(func(s StateChanged) {
			log = append(log, fmt.Sprintf("%v>%v", s.Transition.From, s.Transition.To))
			records = append(records, s)
		})
		p.m.OnStateExit(conv.Speaking, func(s StateChanged) { log = append(log, fmt.Sprint("left after ", s.In)) })
		p.m.OnStateEnter(conv.Speaking, func(StateChanged) { log = append(log, "entered") })
		p.m.OnTurnEvent(func(e TurnEvent) { log = append(log, fmt.Sprintf("%s %s %d", e.Type, e.Role, e.Turn)) })
		p.m.OnError(func(e Problem) {
			log = append(log, fmt.Sprintf("error %s in %v: %v", e.Code, e.Phase, e.Message != ""))
		})
		p.run(t.Context())
		p.must(p.m.StartConversation())
		p.in(conv.ListeningReady)
		log = nil
		p.must(p.m.SendText("how is the weather?"))
		p.in(conv.Speaking)
		pass(700 * ms)
		p.must(p.m.Post(conv.PlayoutFinished{}))
		p.in(conv.ListeningReady)
		want := []string{
			"step user.text", "listening.ready>processing.understanding",
			"turn-started user 1", "turn-completed user 1", "turn-started agent 2",
			"step reply.done", "processing.understanding>processing.generating",
			"step playout.started", "processing.generating>speaking", "entered",
			"step playout.finished", "speaking>listening.ready", "left after 700ms", "turn-completed agent 2",
		}
		if !slices.Equal(log, want) {
			t.Errorf("\n%s\nwant\n%s", strings.Join(log, "\n"), strings.Join(want, "\n"))
		}
		log = nil
		p.must(p.m.Post(conv.Fault{Code: "AUTH_FAILURE", Message: "key sk-secret is wrong"}))
		p.ended(nil) // a fault that a new attempt cannot mend ends the conversation
		if !slices.Contains(log, "error fault.auth in terminating: true") {
			t.Errorf("%q", log)
		}
		b, err := json.Marshal(records)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"conversation-17", "sunny", "weather", "sk-secret"} {
			if strings.Contains(string(b), secret) {
				t.Errorf("the records of transitions hold %q: %s", secret, b)
			}
		}
		for i, r := range records {
			if r.Conversation == "" || r.Label == "" || r.Transition.Cause == "" || i > 0 && r.From != records[i-1].To {
				t.Errorf("record %d: %+v", i, r)
			}
		}
	})
}

func TestFacadeRecent(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		p.answer = "Yes."
		if recent, err := p.m.Recent(); len(recent) != 0 || err != nil {
			t.Errorf("before it runs: %v, %v", recent, err)
		}
		p.run(t.Context())
		p.must(p.m.StartConversation())
		for range 10 {
			p.must(p.m.SendText("and?"))
			p.in(conv.Speaking)
			p.must(p.m.Post(conv.PlayoutFinished{}))
		}
		p.in(conv.ListeningReady)
		recent, err := p.m.Recent()
		if err != nil || len(recent) != 20 {
			t.Fatalf("%d transitions, %v, want the last 20", len(recent), err)
		}
		if last := recent[19]; last.From != conv.Speaking || last.To != conv.ListeningReady || last.Cause != "playout.finished" {
			t.Errorf("the last one is %+v", last)
		}
		recent[0].Cause = "changed by the caller"
		if again, _ := p.m.Recent(); again[0].Cause == recent[0].Cause {
			t.Error("the caller shares memory with the machine")
		}
		p.must(p.m.EndConversation(""))
		p.ended(nil)
	})
}

func TestFacadeCanTransition(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		can := func(ev conv.Event, want bool) {
			t.Helper()
			before := p.m.State()
			got, err := p.m.CanTransition(ev)
			if err != nil || got != want {
				t.Errorf("CanTransition(%T) in %v: %v, %v, want %v", ev, before.Phase, got, err, want)
			}
			synctest.Wait()
			if after := p.m.State(); after.Phase != before.Phase || after.Turn != before.Turn {
				t.Errorf("the question changed %+v to %+v", before, after)
			}
		}
		can(conv.UserStop{}, false)
		p.run(t.Context())
		can(conv.SpeechStarted{}, false)
		p.must(p.m.StartConversation())
		p.in(conv.ListeningReady)
		effects := len(p.effects)
		can(conv.SpeechStarted{}, true)
		can(conv.UserInterrupt{Source: "button"}, false)
		can(conv.UserText{Text: "hello"}, true)
		can(conv.UserStop{}, true)
		can(conv.UserStart{}, false)
		can(conv.SessionRenewal{}, true)
		if len(p.effects) != effects {
			t.Errorf("questions had effects: %q", p.effects[effects:])
		}
		p.must(p.m.EndConversation(""))
		p.ended(nil)
	})
}

func TestFacadeRecover(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		p.run(t.Context())
		p.must(p.m.StartConversation())
		p.in(conv.ListeningReady)
		p.must(p.m.Recover()) // nothing to recover from
		p.in(conv.ListeningReady)
		for range 3 { // the third opens the circuit breaker
			p.must(p.m.Post(conv.Fault{Code: "SERVER_ERROR"}))
			p.in(conv.Faulted)
			p.must(p.m.Recover())
			p.in(conv.ListeningReady)
			p.must(p.m.SendText("")) // nothing
			pass(ms)
		}
		p.must(p.m.EndConversation(""))
		p.ended(nil)
	})
}

func TestFacadeSuspendAndResume(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		p.answer = "It is sunny."
		p.run(t.Context())
		p.must(p.m.StartConversation())
		p.must(p.m.SendText("how is the weather?"))
		p.in(conv.Speaking)
		before := p.m.State()
		p.must(p.m.Suspend("diagnostics"))
		p.in(conv.Suspended)
		p.must(p.m.SendText("later")) // kept
		pass(5 * time.Second)
		p.in(conv.Suspended)
		p.must(p.m.Resume())
		// The typed line interrupts, now that time goes on.
		p.in(conv.Interrupted)
		if got := p.phases[len(p.phases)-2:]; !slices.Equal(got, []string{"speaking", "interrupted"}) {
			t.Errorf("after the pause: %q", got)
		}
		if before.Turn == 0 {
			t.Errorf("%+v", before)
		}
		p.must(p.m.EndConversation(""))
		p.ended(nil)
	})
	// And on the real clock.
	p := newProgram(t, MachineOptions{})
	changed := make(chan conv.Phase, 8)
	defer p.m.OnStateChanged(func(s StateChanged) { changed <- s.Transition.To })()
	p.run(t.Context())
	p.must(p.m.StartConversation())
	for to := range changed {
		if to == conv.ListeningReady {
			break
		}
	}
	began := time.Now()
	const pauses = 200
	for range pauses {
		p.must(p.m.Suspend("renewal"))
		if to := <-changed; to != conv.Suspended {
			t.Fatalf("went to %v", to)
		}
		p.must(p.m.Resume())
		if to := <-changed; to != conv.ListeningReady {
			t.Fatalf("went to %v", to)
		}
	}
	t.Logf("a pause and the return take %v", time.Since(began)/pauses)
	p.must(p.m.EndConversation(""))
	p.ended(nil)
}

// An observer posts while the inbox is full: it does not wait for itself, and its facts
// come in their order behind the step that it saw. What it asks is answered.
func TestMachineObserverPostsIntoAFullInbox(t *testing.T) {
	m, err := NewMachine(MachineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	posted := false
	m.OnStep(func(s Step) {
		if e, ok := s.Event.(conv.TaskProgress); ok {
			order = append(order, e.ID)
		}
		if posted {
			return
		}
		posted = true
		for n := range 3 * inboxSize {
			s.Loop.Post(conv.TaskProgress{ID: fmt.Sprint("own ", n)})
		}
		if _, err := m.CanTransition(conv.UserStop{}); err != nil {
			t.Error(err)
		}
		if _, err := m.Recent(); err != nil {
			t.Error(err)
		}
	})
	var want []string
	for n := range inboxSize {
		if err := m.Post(conv.TaskProgress{ID: fmt.Sprint(n)}); err != nil {
			t.Fatal(err)
		}
	}
	want = append(want, "0")
	for n := range 3 * inboxSize {
		want = append(want, fmt.Sprint("own ", n))
	}
	for n := range inboxSize - 1 {
		want = append(want, fmt.Sprint(n+1))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m.OnStep(func(Step) {
		if len(order) == len(want) {
			cancel()
		}
	})
	if err := m.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if !slices.Equal(order, want) {
		t.Errorf("%d facts in the order %q ..., want %d: the first, the observer's, the others", len(order), order[:min(len(order), 5)], len(want))
	}
}

// A post waits while the inbox is full, and all that was taken is stepped, in order.
func TestMachinePostWaitsForRoom(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		var order []string
		var other error
		done := make(chan struct{})
		p.m.OnStep(func(s Step) {
			e, ok := s.Event.(conv.TaskProgress)
			if !ok {
				return
			}
			order = append(order, e.ID)
			if e.ID != "first" {
				return
			}
			go func() {
				defer close(done)
				for n := 0; n < 2*inboxSize && other == nil; n++ {
					other = p.m.Post(conv.TaskProgress{ID: fmt.Sprint(n)})
				}
			}()
			synctest.Wait() // until the other goroutine waits
			if n := len(p.m.round.Load().inbox); n != inboxSize {
				t.Errorf("%d posts are in the inbox, expected %d", n, inboxSize)
			}
		})
		p.run(t.Context())
		p.must(p.m.StartConversation())
		p.in(conv.ListeningReady)
		p.must(p.m.Post(conv.TaskProgress{ID: "first"}))
		<-done
		synctest.Wait()
		if other != nil || len(order) != 1+2*inboxSize {
			t.Errorf("%d facts were stepped, error %v", len(order), other)
		}
		for n, id := range order[1:] {
			if id != fmt.Sprint(n) {
				t.Fatalf("fact %s was stepped in the place of %d", id, n)
			}
		}
		p.must(p.m.EndConversation(""))
		p.ended(nil)
	})
}

// The same with others that press in, without a pause.
func TestMachineObserverPostsAgainstAFlood(t *testing.T) {
	m, err := NewMachine(MachineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	next := map[string]int{}
	total := 0
	m.OnStep(func(s Step) {
		e, ok := s.Event.(conv.TaskProgress)
		if !ok {
			return
		}
		if e.Text != fmt.Sprint(next[e.ID]) {
			t.Errorf("%s: %s comes in the place of %d", e.ID, e.Text, next[e.ID])
			cancel()
		}
		next[e.ID]++
		if total++; total%7 == 0 && next["own sent"] < 500 {
			s.Loop.Post(conv.TaskProgress{ID: "own", Text: fmt.Sprint(next["own sent"])})
			next["own sent"]++
		}
		if total > 20_000 && next["own"] == 500 {
			cancel()
		}
	})
	var floods sync.WaitGroup
	for i := range 4 {
		floods.Go(func() {
			for n := 0; m.Post(conv.TaskProgress{ID: fmt.Sprint("flood ", i), Text: fmt.Sprint(n)}) == nil; n++ {
			}
		})
	}
	if err := m.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	floods.Wait()
}

// Facts of one Post are stepped together, with no others between.
func TestMachinePostIsWhole(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		var order []string
		p.m.OnStep(func(s Step) {
			if e, ok := s.Event.(conv.TaskProgress); ok {
				order = append(order, e.ID)
			}
		})
		var posters sync.WaitGroup
		for i := range 4 {
			posters.Go(func() {
				for range 100 {
					id := fmt.Sprint(i)
					facts := []conv.Event{conv.TaskProgress{ID: id}, conv.TaskProgress{ID: id}, conv.TaskProgress{ID: id}}
					p.must(p.m.Post(facts...))
					facts[1] = conv.TaskProgress{ID: "changed by the caller"}
				}
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		p.run(ctx)
		posters.Wait()
		synctest.Wait()
		cancel()
		p.ended(context.Canceled)
		if len(order) != 1200 {
			t.Fatalf("%d facts, want 1200", len(order))
		}
		for i := 0; i < len(order); i += 3 {
			if order[i] != order[i+1] || order[i] != order[i+2] {
				t.Fatalf("facts %q are not of one post", order[i:i+3])
			}
		}
	})
}

// Deadlines fire at their time, with one timer, also while facts stream in.
func TestMachineDeadlines(t *testing.T) {
	bubble(t, MachineOptions{Conv: conv.Options{}}, func(t *testing.T, p *program) {
		p.run(t.Context())
		p.must(p.m.StartConversation())
		p.in(conv.ListeningReady)
		p.must(p.m.Post(conv.SpeechStarted{Utterance: 1}, conv.SpeechStopped{Utterance: 1}))
		p.in(conv.ListeningCapturing)
		for range 199 { // no words come
			pass(10 * ms)
			p.must(p.m.Post(conv.TaskProgress{ID: "nobody"}))
		}
		p.in(conv.ListeningCapturing)
		pass(11 * ms)
		p.in(conv.Understanding)
		p.must(p.m.EndConversation(""))
		p.ended(nil)
	})
}

func TestMachineRecorderFails(t *testing.T) {
	steps := 0
	bubble(t, MachineOptions{Record: func(time.Time, *conv.Conversation, conv.Shown) error {
		if steps++; steps == 3 {
			return errTrace
		}
		return nil
	}}, func(t *testing.T, p *program) {
		p.run(t.Context())
		if err := p.m.StartConversation(); err != nil && !errors.Is(err, ErrEnded) { // the loop may end on it
			t.Error(err)
		}
		p.ended(errTrace)
		if err := p.m.Post(conv.UserStop{}); !errors.Is(err, ErrEnded) {
			t.Errorf("Post: %v", err)
		}
	})
}

// Questions before, at and after the beginning of the loop, from anywhere.
func TestMachineQuestionsAtTheBeginning(t *testing.T) {
	for range 100 {
		m, err := NewMachine(MachineOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for range 10 {
					if _, err := m.CanTransition(conv.UserStart{}); err != nil && !errors.Is(err, ErrEnded) {
						t.Error(err)
					}
					if _, err := m.Recent(); err != nil && !errors.Is(err, ErrEnded) {
						t.Error(err)
					}
				}
			})
		}
		var loop sync.WaitGroup
		loop.Go(func() { _ = m.Run(ctx) })
		all.Wait()
		cancel()
		loop.Wait()
	}
}

func TestMachineOptions(t *testing.T) {
	if _, err := NewMachine(MachineOptions{Conv: conv.Options{Endpoint: "no such"}}); err == nil {
		t.Error("an unknown policy, and no error")
	}
}

func TestOwners(t *testing.T) {
	var o Owners
	release, err := o.Acquire("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Acquire(""); err == nil {
		t.Error("a second place")
	}
	release()
	again, err := o.Acquire("")
	if err != nil {
		t.Fatal(err)
	}
	release() // the first one's: it must not free the second's place
	if _, err := o.Acquire(""); err == nil {
		t.Error("a place that was given back twice")
	}
	again()
}

// TestFacadeStartRecovers is seed 000's fourth example: an observer starts the
// conversation again when it is faulted, and ends it when the budget is spent.
func TestFacadeStartRecovers(t *testing.T) {
	o := MachineOptions{Owner: "window", Owners: &Owners{}, Conv: conv.Options{Retry: conv.Retry{Recover: 9}}}
	bubble(t, o, func(t *testing.T, p *program) {
		const budget = 2
		p.m.OnStateEnter(conv.Faulted, func(s StateChanged) {
			if p.m.State().Recoveries < budget {
				s.Loop.Post(conv.UserStart{})
				return
			}
			s.Loop.Post(conv.UserStop{Reason: "fatal-error"})
		})
		p.run(t.Context())
		p.must(p.m.Initialize("s1"))
		p.must(p.m.StartConversation())
		for range budget {
			p.in(conv.ListeningReady)
			p.must(p.m.Post(conv.Fault{Code: "UNKNOWN"}))
			p.in(conv.ListeningReady) // at once, not after ten seconds
		}
		var active *ActiveError
		if err := p.m.StartConversation(); !errors.As(err, &active) {
			t.Errorf("a start while the conversation goes on: %v, want an ActiveError", err)
		}
		p.must(p.m.Post(conv.Fault{Code: "UNKNOWN"}))
		p.ended(nil)
	})
}

// TestMachineHoldsAnother: the machine that has ended a conversation holds the next.
func TestMachineHoldsAnother(t *testing.T) {
	bubble(t, MachineOptions{Owner: "window", Owners: &Owners{}}, func(t *testing.T, p *program) {
		p.answer = "It is sunny."
		if err := p.m.Reset(); err == nil {
			t.Error("a machine that has not run is reset")
		}
		turns := 0
		p.m.OnTurnEvent(func(e TurnEvent) { turns = max(turns, e.Turn) })
		for i := range 3 {
			p.run(t.Context())
			p.must(p.m.Initialize("s"))
			p.in(conv.Idle)
			p.must(p.m.StartConversation())
			p.in(conv.ListeningReady)
			if err := p.m.Reset(); err == nil {
				t.Error("a conversation is reset while it goes on")
			}
			p.must(p.m.SendText("how is the weather?"))
			p.in(conv.Speaking)
			p.must(p.m.EndConversation(""))
			p.ended(nil)
			if want := 2 * (i + 1); turns != want {
				t.Errorf("conversation %d: the last turn is %d, want %d: numbers go on", i+1, turns, want)
			}
			if err := p.m.StartConversation(); !errors.Is(err, ErrEnded) {
				t.Errorf("a start before the reset: %v, want ErrEnded", err)
			}
			p.must(p.m.Reset())
		}
	})
}

// TestMachineResetNeedsAnEnd: a machine whose loop ended in the middle does not begin
// anew.
func TestMachineResetNeedsAnEnd(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		ctx, cancel := context.WithCancel(t.Context())
		p.run(ctx)
		p.must(p.m.Initialize("s"))
		p.must(p.m.StartConversation())
		p.in(conv.ListeningReady)
		cancel()
		p.ended(context.Canceled)
		if err := p.m.Reset(); err == nil {
			t.Error("it is reset in the middle of a conversation")
		}
	})
}

// TestFacadeTellsViews: a voice that comes a moment behind an interruption by a command
// changes what seed 001 sees, from idle to listening, while the phase stays.
func TestFacadeTellsViews(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		p.answer = "It is sunny."
		var seen []string
		p.m.OnStateChanged(func(s StateChanged) {
			if s.From.Amplifier != s.To.Amplifier {
				seen = append(seen, fmt.Sprintf("%v on %s", s.To.Amplifier, s.Transition.Cause))
			}
		})
		entered := 0
		p.m.OnStateEnter(conv.Interrupted, func(StateChanged) { entered++ })
		p.run(t.Context())
		p.must(p.m.StartConversation())
		p.must(p.m.SendText("how is the weather?"))
		p.in(conv.Speaking)
		seen = nil
		p.must(p.m.HandleUserInterrupt("button"))
		p.in(conv.Interrupted)
		pass(ms)
		p.must(p.m.Post(conv.SpeechStarted{}))
		p.in(conv.Interrupted)
		if want := []string{"idle on user.interrupt", "listening on speech.started"}; !slices.Equal(seen, want) {
			t.Errorf("the view amplifier was told as %q, want %q", seen, want)
		}
		if entered != 1 {
			t.Errorf("the phase was entered %d times, it was once", entered)
		}
		p.must(p.m.EndConversation(""))
		p.ended(nil)
	})
}

// TestFacadeTurnContext: a change carries what seed 000 names of its turn, the one that
// it has ended too, and no words.
func TestFacadeTurnContext(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		p.answer = "It is sunny."
		contexts := map[conv.Phase]TurnContext{}
		p.m.OnStateChanged(func(s StateChanged) { contexts[s.Transition.To] = s.Turn })
		var done TurnContext
		p.m.OnTurnEvent(func(e TurnEvent) {
			if e.Type == conv.TurnCompleted && e.Role == conv.RoleUser {
				done = e.Context
			}
		})
		p.run(t.Context())
		p.must(p.m.StartConversation())
		p.in(conv.ListeningReady)
		pass(10 * ms)
		began := time.Now().In(p.m.State().Since.Location())
		p.must(p.m.Post(conv.SpeechStarted{}))
		pass(10 * ms)
		p.must(p.m.Post(conv.STTFinal{Text: "how is the weather", Confidence: 0.9, Endpoint: true}))
		p.in(conv.Speaking)
		p.must(p.m.HandleUserInterrupt("button"))
		p.in(conv.Interrupted)
		user, agent := HashID("conversation-17/1"), HashID("conversation-17/2")
		if want := (TurnContext{TurnID: user, UserUtteranceID: user, StartedAt: began, Confidence: 0.9}); done != want {
			t.Errorf("the user's turn ends with\n%+v, want\n%+v", done, want)
		}
		want := TurnContext{
			TurnID: agent, UserUtteranceID: user, AssistantResponseID: agent,
			StartedAt: began.Add(10 * ms), Confidence: 0.9, Interruptions: 1,
		}
		if got := contexts[conv.Interrupted]; got != want {
			t.Errorf("interrupted has\n%+v, want\n%+v", got, want)
		}
		p.must(p.m.EndConversation(""))
		p.ended(nil)
	})
}

// TestMachineClock: the times of steps are what is written of them, to the nanosecond:
// a monotonic reading would make another difference than the time of day.
func TestMachineClock(t *testing.T) {
	var times []time.Time
	m, err := NewMachine(MachineOptions{Record: func(now time.Time, _ *conv.Conversation, _ conv.Shown) error {
		times = append(times, now)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m.OnStep(func(s Step) {
		if _, ok := s.Event.(conv.UserStart); ok {
			cancel()
		}
	})
	if err := m.Post(conv.TaskProgress{}, conv.UserStart{}); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for _, at := range times {
		if at != at.Round(0) { //nolint:revive // Equal ignores the monotonic reading, which Round strips
			t.Errorf("a step is at %v, expected no monotonic reading", at)
		}
	}
	if len(times) != 2 {
		t.Errorf("%d steps, expected 2", len(times))
	}
}
