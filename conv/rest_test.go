package conv

import "testing"

// TestAtRest checks what a conversation may be doing when it is handed to another process.
func TestAtRest(t *testing.T) {
	for name, c := range map[string]struct {
		st   State
		want bool
	}{
		"it listens":               {State{Phase: ListeningReady}, true},
		"the person is away":       {State{Phase: Reconnecting}, true},
		"delegated work runs":      {State{Phase: ListeningReady, Calls: calls{{ID: "a", Long: true, State: callRunning}}}, true},
		"the person speaks":        {State{Phase: ListeningCapturing}, false},
		"the agent speaks":         {State{Phase: Speaking}, false},
		"the last words are heard": {State{Phase: ListeningReady, Playout: playout{Playing: true}}, false},
		"a tool runs":              {State{Phase: ListeningReady, Calls: calls{{ID: "a", State: callRunning}}}, false},
		"a tool runs meanwhile":    {State{Phase: Reconnecting, Calls: calls{{ID: "a", State: callRunning}}}, false},
		"a line was not read":      {State{Phase: ListeningReady, Pending: pending{Texts: []string{"hello"}}}, false},
		"it says goodbye":          {State{Phase: ListeningReady, Pending: pending{Ending: true}}, false},
		"it begins":                {State{Phase: Preparing}, false},
		"it has ended":             {State{Phase: Idle}, false},
	} {
		if got := c.st.AtRest(); got != c.want {
			t.Errorf("%s: %v, expected %v", name, got, c.want)
		}
	}
}
