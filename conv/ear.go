package conv

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// ear judges words by themselves: whether they are the agent's own, come back as an
// echo, whether they interrupt, and whether they are a yes.
type ear struct {
	language string
	words    *turn.Words
	filter   turn.FilterOptions
	agent    *dialog.Agent          // nil: there is none
	yes      func(text string) bool // reports whether words are a yes, without an agent; made when it is first needed
}

// classify judges words against what the agent is saying.
func (e *ear) classify(text, saying string) turn.Verdict {
	return turn.Classify(text, saying, e.words, e.filter)
}

// echoed reports whether words are the agent's own, come back after the end of its
// audio: the stretch of speech began while it played.
func (e *ear) echoed(s *State, text string) bool {
	if !s.Floor.Overlap {
		return false
	}
	if s.SaidCut {
		return e.echoes(text, s.Said) // nobody knows where it was cut
	}
	return e.echoesEnd(text, s.Said)
}

// echoesEnd reports whether words repeat the last words that were said: an echo that is
// heard after the end of the audio repeats its end. Other words of a question are taken
// for an answer.
func (e *ear) echoesEnd(text, said string) bool {
	return e.echoes(text, lastWords(said, len(strings.Fields(text))+1))
}

// echoes reports whether each of the words was said. While the agent speaks a share of
// them is enough, because an echo is then only denied the floor; here its words would
// be lost.
func (e *ear) echoes(text, said string) bool {
	filter := e.filter
	if filter.Echo != turn.Off {
		filter.Echo = 1
	}
	return text != "" && turn.Classify(text, said, e.words, filter).Kind == turn.Echo
}

// saidYes reports whether the words are a yes and nothing else.
func (e *ear) saidYes(text string) bool {
	if e.agent != nil {
		return e.agent.SaidYes(text)
	}
	if e.yes == nil {
		e.yes = dialog.YesIn(e.language)
	}
	return e.yes(text)
}
