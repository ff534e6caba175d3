package dialog

import "github.com/hocketvoice/hocket/dialog/value"

// SaidYes reports whether a text is a yes and nothing else, in the agent's
// language: what a model's tool needs before it does what cannot be undone.
func (a *Agent) SaidYes(text string) bool {
	var buf [24]value.Token
	return a.def.Lang.YesOrNo(value.Tokenize(text, buf[:0])) == value.Yes
}
