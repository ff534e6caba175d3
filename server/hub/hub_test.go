package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/seeds"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// closing is a leg that records whether it was closed.
type closing struct {
	*text.Leg
	closed int
}

func (c *closing) Close() error {
	c.closed++
	return c.Leg.Close()
}

// call describes a conversation by text that greets.
func call(leg port.Leg, owner string) hub.Call {
	return hub.Call{
		Agent: "test", Transport: "text", Owner: owner, Leg: leg,
		Session: func(c *hub.Conversation) (*session.Session, error) {
			return session.New(session.Options{
				ID: c.ID(), Leg: c.Leg(), Trace: c.Recorder(), TraceLive: true, Text: true,
				Conv: conv.Options{Greeting: "Hello.", Endpoint: "manual", DeadAir: turn.DeadAirOptions{Off: true}},
			})
		},
	}
}

func mustHub(t *testing.T, o hub.Options) *hub.Hub {
	t.Helper()
	h, err := hub.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func mustStart(t *testing.T, h *hub.Hub, c hub.Call) *hub.Conversation {
	t.Helper()
	got, err := h.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// drained ends everything now.
func drained(h *hub.Hub) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h.Drain(ctx, time.Second)
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{Most: 3, PerUser: 2})
		defer drained(h)
		first := mustStart(t, h, call(text.New(text.Options{}), "a"))
		mustStart(t, h, call(text.New(text.Options{}), "a"))
		for _, c := range []struct {
			owner string
			want  error
		}{{"a", hub.ErrUserFull}, {"b", nil}, {"b", hub.ErrFull}} {
			leg := &closing{Leg: text.New(text.Options{})}
			if _, err := h.Start(call(leg, c.owner)); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, expected %v", c.owner, err, c.want)
			} else if refused := c.want != nil; refused != (leg.closed == 1) {
				t.Errorf("%s: the leg was closed %d times", c.owner, leg.closed)
			}
		}
		if err := first.Command(hub.Command{Type: "endConversation"}); err != nil {
			t.Error(err)
		}
		<-first.Done()
		synctest.Wait()
		mustStart(t, h, call(text.New(text.Options{}), "a"))
	})
}

// TestStartFails checks that a failed start leaves nothing behind.
func TestStartFails(t *testing.T) {
	h := mustHub(t, hub.Options{Most: 1})
	leg := &closing{Leg: text.New(text.Options{})}
	broken := call(leg, "")
	why := errors.New("no such thing")
	broken.Session = func(*hub.Conversation) (*session.Session, error) { return nil, why }
	if _, err := h.Start(broken); !errors.Is(err, why) || leg.closed != 1 {
		t.Errorf("%v, closed %d times", err, leg.closed)
	}
	mustStart(t, h, call(text.New(text.Options{}), ""))
	drained(h)
	if _, err := h.Start(call(text.New(text.Options{}), "")); !errors.Is(err, hub.ErrDraining) {
		t.Errorf("behind the drain: %v", err)
	}
}

// TestMemoryStays checks that an ended conversation frees its session while it
// stays listed, is removed after its time, and that the listed ones have a limit in
// bytes.
func TestMemoryStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{EndedFor: time.Minute})
		defer drained(h)
		var ids []string
		var conversations []weak.Pointer[hub.Conversation]
		var sessions []weak.Pointer[session.Session]
		var legs []weak.Pointer[text.Leg]
		for range 20 {
			leg := text.New(text.Options{})
			asked := call(leg, "me")
			open := asked.Session
			asked.Session = func(c *hub.Conversation) (*session.Session, error) {
				s, err := open(c)
				sessions = append(sessions, weak.Make(s))
				return s, err
			}
			c := mustStart(t, h, asked)
			ids, conversations, legs = append(ids, c.ID()), append(conversations, weak.Make(c)), append(legs, weak.Make(leg))
			if err := c.Command(hub.Command{Type: "endConversation"}); err != nil {
				t.Fatal(err)
			}
			<-c.Done()
		}
		synctest.Wait()
		left := func() (n [3]int) {
			runtime.GC()
			for i := range ids {
				for kind, there := range []bool{conversations[i].Value() != nil, sessions[i].Value() != nil, legs[i].Value() != nil} {
					if there {
						n[kind]++
					}
				}
			}
			return n
		}
		if n := left(); n != [3]int{len(ids), 0, 0} {
			t.Errorf("conversations, sessions and legs after their end: %v, want only those that are listed", n)
		}
		for _, id := range ids {
			c, ok := h.Find(id)
			if !ok {
				t.Fatal("an ended conversation is forgotten at once")
			}
			if trace, ok := c.Trace(); !ok || len(trace.Lines) < 2 || c.Details().Snapshot.Label == "" || len(c.Details().Transitions) == 0 {
				t.Errorf("the trace and the details are gone: %d lines, %+v", len(trace.Lines), c.Details())
			}
			if err := c.Command(hub.Command{Type: "interrupt"}); !errors.Is(err, session.ErrEnded) || c.Kept(t.Context()) {
				t.Errorf("a command behind the end: %v", err)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := left(); n != [3]int{} {
			t.Errorf("conversations, sessions and legs after their time: %v, want none", n)
		}
		small := mustHub(t, hub.Options{EndedBytes: 1})
		defer drained(small)
		c := mustStart(t, small, call(text.New(text.Options{}), "me"))
		if err := c.Command(hub.Command{Type: "endConversation"}); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		synctest.Wait()
		if _, ok := small.Find(c.ID()); ok {
			t.Error("a conversation is listed that exceeds the limit of bytes")
		}
	})
}

// TestEnded checks that ended conversations are listed for a limited time and in
// limited number.
func TestEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{Ended: 2, EndedFor: time.Minute})
		defer drained(h)
		var all []*hub.Conversation
		for range 3 {
			leg := &closing{Leg: text.New(text.Options{})}
			c := mustStart(t, h, call(leg, "me"))
			if err := leg.Leg.Close(); err != nil { // the person goes
				t.Fatal(err)
			}
			<-c.Done()
			synctest.Wait()
			if leg.closed != 1 {
				t.Errorf("the leg was closed %d times", leg.closed)
			}
			all = append(all, c)
		}
		for i, want := range []bool{false, true, true} {
			if _, ok := h.Find(all[i].ID()); ok != want {
				t.Errorf("conversation %d: found %v, expected %v", i, ok, want)
			}
		}
		if list := h.List(func(o string) bool { return o == "me" }); len(list) != 2 || list[0].Reason != "user.stop" || list[0].Ended.IsZero() {
			t.Errorf("the list is %+v", list)
		}
		if list := h.List(func(o string) bool { return o == "you" }); len(list) != 0 {
			t.Errorf("another owner sees %+v", list)
		}
		time.Sleep(2 * time.Minute)
		if list := h.List(nil); len(list) != 0 {
			t.Errorf("after two minutes the list is %+v", list)
		}
	})
}

// TestDrainWaits checks that running conversations may end by themselves, and are
// ended after the time limit.
func TestDrainWaits(t *testing.T) {
	for _, c := range []struct {
		name   string
		leaves time.Duration // when the person goes; 0: never
		want   time.Duration
	}{
		{"by itself", 5 * time.Second, 5 * time.Second},
		{"told", 0, 20 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := mustHub(t, hub.Options{})
				leg := text.New(text.Options{})
				conversation := mustStart(t, h, call(leg, ""))
				if c.leaves > 0 {
					time.AfterFunc(c.leaves, func() { _ = leg.Close() })
				}
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				h.Drain(ctx, 3*time.Second)
				if took := time.Since(began).Truncate(time.Second); took != c.want || conversation.Info().Reason != "user.stop" {
					t.Errorf("it took %v, for %q; expected %v", took, conversation.Info().Reason, c.want)
				}
			})
		})
	}
}

// TestMessages checks that events are reported in order, in the list too.
func TestMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{})
		defer drained(h)
		list, err := h.Watch(hub.StreamOptions{From: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer list.Close()
		c := mustStart(t, h, call(text.New(text.Options{}), ""))
		s, err := c.Stream(hub.StreamOptions{From: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		time.Sleep(time.Second)
		if err := c.Command(hub.Command{Type: "endConversation", Reason: "enough"}); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		var phases []string
		var caption hub.Caption
		for {
			m, err := s.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch m.Type {
			case hub.TypeTransition:
				var tr hub.Transition
				if err := json.Unmarshal(m.Payload, &tr); err != nil {
					t.Fatal(err)
				}
				phases = append(phases, tr.Phase.To.String())
			case hub.TypeCaption:
				if err := json.Unmarshal(m.Payload, &caption); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := "preparing listening.ready processing.generating speaking listening.ready terminating idle"
		if got := strings.Join(phases, " "); got != want {
			t.Errorf("the phases are %s, expected %s", got, want)
		}
		if want := (hub.Caption{Turn: 1, Text: "Hello.", Heard: "Hello.", Final: true}); caption != want {
			t.Errorf("the last caption is %+v", caption)
		}
		var told []string
		for len(told) == 0 || told[len(told)-1] != hub.TypeEnded {
			m, err := list.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			told = append(told, m.Type)
		}
		if told[0] != hub.TypeStarted || len(told) != 9 {
			t.Errorf("the list is told %v", told)
		}
		if d := c.Details(); len(d.Transitions) != 7 || d.Metrics.AgentTurns != 1 {
			t.Errorf("details %+v", d)
		}
	})
}

func TestCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{})
		defer drained(h)
		c := mustStart(t, h, call(text.New(text.Options{}), ""))
		time.Sleep(time.Second)
		yes, no := true, false
		for _, command := range []hub.Command{
			{Type: "interrupt"},
			{Type: "suspend", Reason: "diagnostics"},
			{Type: "resume"},
			{Type: "cancel"},
			{Type: "recover"},
			{Type: "push_to_talk", Pressed: &yes},
			{Type: "push_to_talk", Pressed: &no},
		} {
			if err := c.Command(command); err != nil {
				t.Errorf("%+v: %v", command, err)
			}
		}
		time.Sleep(time.Second)
		active := new(session.ActiveError)
		if err := c.Command(hub.Command{Type: "startConversation"}); !errors.As(err, &active) {
			t.Errorf("a second start: %v", err)
		}
		for _, command := range []hub.Command{{}, {Type: "dance"}, {Type: "push_to_talk"}, {Type: "send_text"}, {Type: "send_text", Text: strings.Repeat("x", 9000)}, {Type: "send_text", Text: "\xff"}, {Type: "cancel", ID: "nothing"}} {
			if err := c.Command(command); !errors.Is(err, hub.ErrCommand) {
				t.Errorf("%.40v: %v", command, err)
			}
		}
		var phases []string
		for _, p := range c.Details().Transitions {
			phases = append(phases, p.To.String())
		}
		if got := strings.Join(phases, " "); !strings.Contains(got, "suspended listening.ready") || !strings.Contains(got, "listening.capturing") {
			t.Errorf("the phases are %s", got)
		}
	})
}

// TestHold checks that a conversation run by the caller is like others: it is
// counted, visible while it runs, and drained.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{Most: 1})
		hold := func(id string) (*hub.Conversation, <-chan error) {
			described := call(nil, "me") // the leg is theirs
			described.ID = id
			done := make(chan error, 1)
			c, err := h.Prepare(described)
			if err != nil {
				done <- err
				return c, done
			}
			s, err := session.New(session.Options{
				ID: id, Leg: text.New(text.Options{}), Trace: c.Recorder(), TraceLive: true, Text: true,
				Conv: conv.Options{Greeting: "Hello.", Endpoint: "manual", DeadAir: turn.DeadAirOptions{Off: true}},
			})
			if err != nil {
				t.Fatal(err)
			}
			go func() { done <- c.Hold(t.Context(), s) }()
			return c, done
		}
		gone := 0
		described := call(nil, "me")
		described.Over = func(string, bool) { gone++ }
		none, err := h.Prepare(described)
		if err != nil || h.Live() != 1 {
			t.Fatalf("%d have a place, error %v", h.Live(), err)
		}
		none.Forgo()
		none.Forgo()
		if err := none.Hold(t.Context(), nil); !errors.Is(err, hub.ErrStart) || gone != 1 || h.Live() != 0 {
			t.Errorf("given up: error %v, told %d times, %d have a place", err, gone, h.Live())
		}
		c, done := hold("theirs")
		time.Sleep(time.Second)
		if found, ok := h.Find("theirs"); !ok || found != c || c.Details().Phase != conv.ListeningReady {
			t.Fatalf("found %v, %+v", ok, c.Details())
		}
		if trace, ok := c.Trace(); !ok || len(trace.Lines) < 3 {
			t.Errorf("its trace: %v, %d lines", ok, len(trace.Lines))
		}
		if _, refused := hold("another"); !errors.Is(<-refused, hub.ErrFull) {
			t.Error("a conversation began above the limit")
		}
		if _, ok := h.Find("another"); ok {
			t.Error("a refused conversation is found")
		}
		drained(h)
		if err := <-done; err != nil {
			t.Errorf("it ended with %v", err)
		}
		if list := h.List(nil); len(list) != 1 || list[0].Ended.IsZero() {
			t.Errorf("the list is %+v", list)
		}
		if _, refused := hold("late"); !errors.Is(<-refused, hub.ErrDraining) {
			t.Error("a conversation began after the drain")
		}
	})
}

// TestMovedConversationEnds checks that a conversation that another process continues ends here at
// once, as moved and not as over.
func TestMovedConversationEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{})
		described := call(text.New(text.Options{}), "me")
		ended := make(chan bool, 1)
		described.Over = func(_ string, over bool) { ended <- over }
		c, err := h.Start(described)
		if err != nil {
			t.Fatal(err)
		}
		h.Lose("another")
		h.Lose(c.ID())
		<-c.Done()
		if over := <-ended; over || c.Info().Reason != "moved" {
			t.Errorf("over %v, reason %q", over, c.Info().Reason)
		}
		h.Lose(c.ID())
		drained(h)
	})
}

// TestOnePerCaller checks that a caller has one conversation at a time, and that
// conversations without a caller are not counted.
func TestOnePerCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{OnePerCaller: true})
		defer drained(h)
		begin := func(caller string) (*hub.Conversation, int, error) {
			leg := &closing{Leg: text.New(text.Options{})}
			o := call(leg, "office")
			o.Caller = caller
			c, err := h.Start(o)
			return c, leg.closed, err
		}
		first, _, err := begin("office/ann")
		if err != nil {
			t.Fatal(err)
		}
		_, closed, err := begin("office/ann")
		if _, active := errors.AsType[*session.ActiveError](err); !active || closed != 1 {
			t.Errorf("a second one of the same caller: %v; its leg was closed %d times", err, closed)
		}
		for _, caller := range []string{"office/bob", "", ""} {
			if _, _, err := begin(caller); err != nil {
				t.Errorf("caller %q: %v", caller, err)
			}
		}
		if err := first.Command(hub.Command{Type: "endConversation"}); err != nil {
			t.Error(err)
		}
		<-first.Done()
		synctest.Wait()
		if _, _, err := begin("office/ann"); err != nil {
			t.Errorf("behind the end of the first: %v", err)
		}
	})
}

// TestStateIsShownInTime checks that a follower receives a state within the time
// that seed 000 allows the panel, which leaves out network and browser.
func TestStateIsShownInTime(t *testing.T) {
	var f struct {
		TimingMS map[string]float64 `json:"timing_ms"`
	}
	seeds.Load(t, "agent-voice", &f)
	limit := time.Duration(f.TimingMS["panel_shows_state"]) * time.Millisecond
	if limit == 0 {
		t.Fatal("the table has no panel_shows_state")
	}
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{})
		defer drained(h)
		c := mustStart(t, h, call(text.New(text.Options{}), ""))
		s, err := c.Stream(hub.StreamOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		go func() {
			time.Sleep(time.Second)
			_ = c.Command(hub.Command{Type: "interrupt"})
			time.Sleep(time.Second)
			_ = c.Command(hub.Command{Type: "endConversation"})
		}()
		shown := 0
		for {
			m, err := s.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			var p hub.StatePayload
			if m.Type != hub.TypeState {
				continue
			}
			if err := json.Unmarshal(m.Payload, &p); err != nil {
				t.Fatal(err)
			}
			shown++
			if late := time.Since(p.Since); late < 0 || late > limit {
				t.Errorf("%s is told %v after it began: expected at most %v", p.State, late, limit)
			}
		}
		if shown < 2 {
			t.Errorf("%d states were told", shown)
		}
	})
}

// TestWaitsUntil checks that the list says until when a conversation waits whose client is
// gone, and no longer when the client is back.
func TestWaitsUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{})
		defer drained(h)
		o := call(text.New(text.Options{Linger: time.Minute}), "")
		o.Wait = time.Minute
		o.Session = func(c *hub.Conversation) (*session.Session, error) {
			o := session.Options{ID: c.ID(), Leg: c.Leg(), Text: true, Conv: conv.Options{DeadAir: turn.DeadAirOptions{Off: true}}}
			o.Conv.Limits.Reconnect, o.Conv.Retry.Reconnect = hub.Patient(time.Minute)
			return session.New(o)
		}
		c := mustStart(t, h, o)
		s, err := c.Stream(hub.StreamOptions{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if until := c.Info().WaitsUntil; !until.IsZero() {
			t.Errorf("with a client it waits until %v", until)
		}
		s.Close()
		gone := time.Now()
		time.Sleep(30 * time.Second)
		if info := c.Info(); info.Phase != conv.Reconnecting || (info.WaitsUntil.Sub(gone)-time.Minute).Abs() > 3*time.Second { // a disturbance counts as a loss after 2 s
			t.Errorf("without a client, in %v, it waits until %v, %v after it has gone", info.Phase, info.WaitsUntil, info.WaitsUntil.Sub(gone))
		}
		c.Return()
		time.Sleep(5 * time.Second)
		if info := c.Info(); !info.WaitsUntil.IsZero() {
			t.Errorf("with its client back, in %v, it waits until %v", info.Phase, info.WaitsUntil)
		}
	})
}
