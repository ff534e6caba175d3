package conv_test

import (
	"encoding/json"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/convtest"
	"github.com/hocketvoice/hocket/turn"
)

// TestViewsOfThePhases is the table of DESIGN.md section 3, row by row, with each
// context that a cell depends on.
func TestViewsOfThePhases(t *testing.T) {
	at := func(p conv.Phase) conv.State { return conv.State{Phase: p} }
	barged := func(p conv.Phase) conv.State { return conv.State{Phase: p, Floor: conv.Floor{Barged: 2}} }
	suspended := func(s conv.State) conv.State {
		s.Before, s.Phase = s.Phase, conv.Suspended
		return s
	}
	for _, c := range []struct {
		state conv.State
		want  [4]string
	}{
		{at(conv.Idle), [4]string{"idle", "none", "IDLE", "AGENT_IDLE"}},
		{at(conv.Preparing), [4]string{"preparing", "none", "IDLE", "AGENT_IDLE"}},
		{conv.State{Phase: conv.Preparing, Session: conv.Session{Life: conv.SessionLives}}, [4]string{"preparing", "idle", "IDLE", "AGENT_IDLE"}},
		{conv.State{Phase: conv.Preparing, Session: conv.Session{Life: conv.SessionOver}}, [4]string{"preparing", "reconnecting", "IDLE", "AGENT_IDLE"}},
		{at(conv.ListeningReady), [4]string{"listening", "idle", "LISTENING", "AGENT_IDLE"}},
		{barged(conv.ListeningReady), [4]string{"listening", "idle", "LISTENING", "INTERRUPTED"}},
		{at(conv.ListeningCapturing), [4]string{"listening", "listening", "LISTENING", "AGENT_IDLE"}},
		{barged(conv.ListeningCapturing), [4]string{"listening", "listening", "LISTENING", "INTERRUPTED"}},
		{at(conv.Understanding), [4]string{"processing", "processing", "PROCESSING", "AGENT_IDLE"}},
		{barged(conv.Understanding), [4]string{"processing", "processing", "PROCESSING", "INTERRUPTED"}},
		{at(conv.Waiting), [4]string{"waitingForCopilot", "processing", "PROCESSING", "AGENT_IDLE"}},
		{barged(conv.Waiting), [4]string{"waitingForCopilot", "processing", "PROCESSING", "INTERRUPTED"}},
		{at(conv.Generating), [4]string{"processing", "processing", "PROCESSING", "AGENT_IDLE"}},
		{barged(conv.Generating), [4]string{"processing", "processing", "PROCESSING", "INTERRUPTED"}},
		{at(conv.ToolRunning), [4]string{"processing", "tool_executing", "PROCESSING", "AGENT_IDLE"}},
		{barged(conv.ToolRunning), [4]string{"processing", "tool_executing", "PROCESSING", "INTERRUPTED"}},
		{at(conv.Delegated), [4]string{"waitingForCopilot", "waiting_amplifier", "PROCESSING", "AGENT_IDLE"}},
		{at(conv.Speaking), [4]string{"speaking", "speaking", "SPEAKING", "AGENT_SPEAKING"}},
		{conv.State{Phase: conv.Interrupted, Floor: conv.Floor{BrokeIn: true}}, [4]string{"interrupted", "listening", "INTERRUPTED", "INTERRUPTED"}},
		{at(conv.Interrupted), [4]string{"interrupted", "idle", "INTERRUPTED", "INTERRUPTED"}},
		{suspended(at(conv.Speaking)), [4]string{"suspended", "speaking", "IDLE", "AGENT_SPEAKING"}},
		{suspended(at(conv.Delegated)), [4]string{"suspended", "waiting_amplifier", "IDLE", "AGENT_IDLE"}},
		{suspended(barged(conv.Waiting)), [4]string{"suspended", "processing", "IDLE", "INTERRUPTED"}},
		{barged(conv.Reconnecting), [4]string{"suspended", "reconnecting", "IDLE", "AGENT_IDLE"}},
		{barged(conv.Faulted), [4]string{"faulted", "error", "IDLE", "AGENT_IDLE"}},
		{barged(conv.Terminating), [4]string{"terminating", "none", "IDLE", "AGENT_IDLE"}},
	} {
		views := c.state.Views()
		for i, v := range view.Names() {
			if got := v.Of(views); got != c.want[i] {
				t.Errorf("%v (before %v, %+v, %+v): view %s is %s, expected %s",
					c.state.Phase, c.state.Before, c.state.Floor, c.state.Session, v, got, c.want[i])
			}
		}
	}
}

// TestViewsAreRefused: a view that is not there is an error that names those which
// are.
func TestViewsAreRefused(t *testing.T) {
	if _, err := view.Name("soni").States(); err == nil {
		t.Error("an unknown view has states")
	}
	for _, v := range view.Names() {
		states, err := v.States()
		if err != nil || len(states) < 3 {
			t.Errorf("view %s: %v, %v", v, states, err)
		}
	}
}

// TestEveryWayLeadsThere: the scripts that the other tests start from.
func TestEveryWayLeadsThere(t *testing.T) {
	for _, p := range conv.Phases() {
		for _, endpoint := range turn.Policies() {
			if _, err := convtest.Reach(p, conv.Options{Endpoint: endpoint}, nil); err != nil {
				t.Errorf("%s: %v", endpoint, err)
			}
		}
	}
}

// TestPhaseNames: names and phases are one to one, also on the wire.
func TestPhaseNames(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range conv.Phases() {
		b, err := p.MarshalText()
		if err != nil || seen[string(b)] {
			t.Errorf("%v: %s, %v", p, b, err)
		}
		seen[string(b)] = true
		var back conv.Phase
		if err := back.UnmarshalText(b); err != nil || back != p {
			t.Errorf("%s is read as %v: %v", b, back, err)
		}
	}
	var p conv.Phase
	if err := p.UnmarshalText([]byte("dreaming")); err == nil {
		t.Error("an unknown phase is read")
	}
	if got := conv.Phase(200).String(); got != "phase(200)" {
		t.Errorf("a phase that is none is %q", got)
	}
	if conv.Phase(200).CanFollow(conv.Idle) {
		t.Error("a phase that is none has successors")
	}
}

// TestViewsOnTheWire: what is written is read again, and nothing else is.
func TestViewsOnTheWire(t *testing.T) {
	for _, p := range conv.Phases() {
		s := conv.State{Phase: p}
		want := s.Views()
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got view.Views
		if err := json.Unmarshal(b, &got); err != nil || got != want {
			t.Errorf("%s is read as %+v: %v", b, got, err)
		}
	}
	for _, name := range []string{"agent-voice", "amplifier", "easyturn", "interaction"} {
		if err := json.Unmarshal([]byte(`{"`+name+`":"dreaming"}`), new(view.Views)); err == nil {
			t.Errorf("an unknown state of %s is read", name)
		}
	}
}
