package session

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// TurnContext is what is known of a turn: seed 000's TurnContext, without the words
// (SEC-001). Ids are hashes.
type TurnContext struct {
	TurnID string
	// UserUtteranceID is the user's turn, or the one that the agent's turn answers, and
	// the id of its transcript; AssistantResponseID the agent's turn. Empty: there is
	// none.
	UserUtteranceID, AssistantResponseID string
	StartedAt                            time.Time
	Confidence                           float64 // of the user's words, from 0 to 1; zero: not known
	Interruptions                        int     // of the agent, in the conversation so far
	Retries                              int     // of the model's request
	Recoveries                           int     // from faults, since the last completed answer
}

// turnNotes keep what a [TurnContext] is made of. They are of the loop's goroutine.
type turnNotes struct {
	user, agent   turnNote // the last of each
	interruptions int
}

type turnNote struct {
	number     int
	answers    int // the agent's: the user's turn
	started    time.Time
	confidence float64 // the user's
}

// note takes what a step says of turns.
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

// context is what is known of a turn; of one that is none, how often the agent was
// interrupted and things were tried again.
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
