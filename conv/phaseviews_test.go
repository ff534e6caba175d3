package conv

import (
	"testing"

	"github.com/hocketvoice/hocket/conv/view"
)

// TestViewsOfThePhases is the table of DESIGN.md section 3, row by row, with each
// context that a cell depends on.
func TestViewsOfThePhases(t *testing.T) {
	at := func(p Phase) State { return State{Phase: p} }
	barged := func(p Phase) State { return State{Phase: p, Floor: floor{Barged: 2}} }
	suspended := func(s State) State {
		s.Before, s.Phase = s.Phase, Suspended
		return s
	}
	for _, c := range []struct {
		state State
		want  [4]string
	}{
		{at(Idle), [4]string{"idle", "none", "IDLE", "AGENT_IDLE"}},
		{at(Preparing), [4]string{"preparing", "none", "IDLE", "AGENT_IDLE"}},
		{State{Phase: Preparing, Session: session{Life: sessionLives}}, [4]string{"preparing", "idle", "IDLE", "AGENT_IDLE"}},
		{State{Phase: Preparing, Session: session{Life: sessionOver}}, [4]string{"preparing", "reconnecting", "IDLE", "AGENT_IDLE"}},
		{at(ListeningReady), [4]string{"listening", "idle", "LISTENING", "AGENT_IDLE"}},
		{barged(ListeningReady), [4]string{"listening", "idle", "LISTENING", "INTERRUPTED"}},
		{at(ListeningCapturing), [4]string{"listening", "listening", "LISTENING", "AGENT_IDLE"}},
		{barged(ListeningCapturing), [4]string{"listening", "listening", "LISTENING", "INTERRUPTED"}},
		{at(Understanding), [4]string{"processing", "processing", "PROCESSING", "AGENT_IDLE"}},
		{barged(Understanding), [4]string{"processing", "processing", "PROCESSING", "INTERRUPTED"}},
		{at(Waiting), [4]string{"waitingForCopilot", "processing", "PROCESSING", "AGENT_IDLE"}},
		{barged(Waiting), [4]string{"waitingForCopilot", "processing", "PROCESSING", "INTERRUPTED"}},
		{at(Generating), [4]string{"processing", "processing", "PROCESSING", "AGENT_IDLE"}},
		{barged(Generating), [4]string{"processing", "processing", "PROCESSING", "INTERRUPTED"}},
		{at(ToolRunning), [4]string{"processing", "tool_executing", "PROCESSING", "AGENT_IDLE"}},
		{barged(ToolRunning), [4]string{"processing", "tool_executing", "PROCESSING", "INTERRUPTED"}},
		{at(Delegated), [4]string{"waitingForCopilot", "waiting_amplifier", "PROCESSING", "AGENT_IDLE"}},
		{at(Speaking), [4]string{"speaking", "speaking", "SPEAKING", "AGENT_SPEAKING"}},
		{State{Phase: Interrupted, Floor: floor{BrokeIn: true}}, [4]string{"interrupted", "listening", "INTERRUPTED", "INTERRUPTED"}},
		{at(Interrupted), [4]string{"interrupted", "idle", "INTERRUPTED", "INTERRUPTED"}},
		{suspended(at(Speaking)), [4]string{"suspended", "speaking", "IDLE", "AGENT_SPEAKING"}},
		{suspended(at(Delegated)), [4]string{"suspended", "waiting_amplifier", "IDLE", "AGENT_IDLE"}},
		{suspended(barged(Waiting)), [4]string{"suspended", "processing", "IDLE", "INTERRUPTED"}},
		{barged(Reconnecting), [4]string{"suspended", "reconnecting", "IDLE", "AGENT_IDLE"}},
		{barged(Faulted), [4]string{"faulted", "error", "IDLE", "AGENT_IDLE"}},
		{barged(Terminating), [4]string{"terminating", "none", "IDLE", "AGENT_IDLE"}},
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
