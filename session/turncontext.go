package session

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// TurnContext describes a turn to observers: TurnContext of seed 000, without the words of the
// turn (SEC-001). Ids are hashes, see [HashID]; an id is empty if there is no such turn.
type TurnContext struct {
	TurnID string
	// UserUtteranceID is the id of the user's turn, or of the user's turn that the agent's turn
	// answers, and of its transcript. AssistantResponseID is the id of the agent's turn.
	UserUtteranceID, AssistantResponseID string
	StartedAt                            time.Time
	Confidence                           float64 // of the user's words, from 0 to 1; zero if it is not known
	Interruptions                        int     // how often the agent was interrupted in the conversation
	Retries                              int     // how often the current model request was tried again
	Recoveries                           int     // recoveries from faults since the last completed reply
}

// turnNotes keeps the facts for a [TurnContext]. Only the loop's goroutine uses it.
type turnNotes struct {
	user, agent   turnNote // the last turn of each
	interruptions int
}

type turnNote struct {
	number     int
	answers    int // for a turn of the agent: the user's turn that it answers
	started    time.Time
	confidence float64 // for a turn of the user
}

// note takes the turn events of a step.
func (n *turnNotes) note(turns []conv.TurnEvent) {
	for i := range turns {
		t := &turns[i]
		switch {
		case t.Type == conv.TurnStarted && t.Role == conv.RoleUser:
			n.user = turnNote{number: t.Turn, started: t.At}
		case t.Type == conv.TurnStarted:
			n.agent = turnNote{number: t.Turn, started: t.At}
			if t.Kind == conv.ReplyAnswer {
				n.agent.answers = n.user.number
			}
		case t.Role == conv.RoleUser && t.Turn == n.user.number:
			n.user.confidence = t.Confidence
		case t.Type == conv.TurnInterrupted:
			n.interruptions++
		}
	}
}

// context returns the description of a turn. For the number 0 it contains only the counts.
func (m *Machine) context(number int) TurnContext {
	st, n := m.conv.State(), &m.turns
	c := TurnContext{
		TurnID: m.turnID(number), Interruptions: n.interruptions,
		Retries: max(0, st.Reply.Attempt-1), Recoveries: st.Faults.Recoveries,
	}
	user := 0
	switch number {
	case 0:
		return c
	case n.agent.number:
		c.AssistantResponseID, c.StartedAt = m.turnID(number), n.agent.started
		user = n.agent.answers
	case n.user.number:
		c.StartedAt = n.user.started
		user = number
	}
	c.UserUtteranceID = m.turnID(user)
	if user == n.user.number {
		c.Confidence = n.user.confidence
	}
	return c
}
