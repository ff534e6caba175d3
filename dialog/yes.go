package dialog

import "github.com/hocketvoice/hocket/dialog/value"

// SaidYes reports whether a text is a yes and nothing else, in the agent's
// language: what a model's tool needs before it does what cannot be undone.
func (a *Agent) SaidYes(text string) bool { return answerIn(a.def.Lang, text) == value.Yes }

// SaidNo reports whether a text is a no and nothing else.
func (a *Agent) SaidNo(text string) bool { return answerIn(a.def.Lang, text) == value.No }

// YesIn returns what reports a yes without an agent, in a language that package
// value has words for; in others nothing is a yes.
func YesIn(language string) func(text string) bool {
	tag, _ := value.Tag(language)
	l, err := value.Load(tag)
	return func(text string) bool { return err == nil && answerIn(l, text) == value.Yes }
}

func answerIn(l *value.Language, text string) value.Answer {
	var buf [24]value.Token
	return l.YesOrNo(value.Tokenize(text, buf[:0]))
}
