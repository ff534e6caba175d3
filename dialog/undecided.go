package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/value"
)

// askChoice asks which of several values the user means, or for a value within a limit that
// they gave. It reports whether the message was undecided in this way.
func (t *turn) askChoice() bool {
	s, open := t.heard().Undecided()
	if s == nil || len(open) == 0 {
		return false
	}
	t.st.Misses++
	t.trace("slot_rejected", TraceData{Slot: s.Name, Detail: "more than one value, or a limit"})
	if t.giveUp() {
		t.back()
		return true
	}
	var texts []string
	for _, v := range open {
		if text := t.voice().Speak(v, &s.Spec, ""); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) > 1 && !s.Secret {
		t.phrase("which_value", "label", s.Label, "values", value.Enumerate(texts, t.a.def.Lang.Data.Render.Or))
	} else {
		t.phrase("one_value", "label", s.Label)
		t.prompt(s, t.collectStep(s))
	}
	t.back()
	return true
}
