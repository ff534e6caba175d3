package dialog

import (
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog/value"
	"github.com/hocketvoice/hocket/dialog/words"
)

// Commits reports whether a message is a yes to the open question to confirm, because of which
// an action may run. The state does not change.
func (a *Agent) Commits(st *State, now time.Time, m Message) bool {
	t := a.looking(st, now)
	if st.ConversationState != Confirming || m.Early || t.unsure(m) {
		return false
	}
	t.read(value.CutText(strings.ToValidUTF8(strings.TrimSpace(m.Text), "\uFFFD"), value.MaxUtterance))
	return t.heard().Assent() == words.Assents
}

// SaidYes reports whether a text is nothing but a yes, in the agent's language. A tool of a
// model that cannot be undone needs such an answer first.
func (a *Agent) SaidYes(text string) bool { return answerIn(a.def.Lang, text) == value.Yes }

// SaidNo reports whether a text is nothing but a no, in the agent's language.
func (a *Agent) SaidNo(text string) bool { return answerIn(a.def.Lang, text) == value.No }

// YesIn returns a function that reports whether a text is nothing but a yes in a language.
// In a language that package value does not know, the function reports false.
func YesIn(language string) func(text string) bool {
	tag, _ := value.Tag(language)
	l, err := value.Load(tag)
	return func(text string) bool { return err == nil && answerIn(l, text) == value.Yes }
}

func answerIn(l *value.Language, text string) value.Answer {
	var buf [24]value.Token
	return l.YesOrNo(value.Tokenize(text, buf[:0]))
}
