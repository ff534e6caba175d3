package conv

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// ear judges words by the options alone. It decides whether they echo the agent, whether they
// interrupt, and whether they are a yes.
type ear struct {
	language string
	words    *turn.Words
	filter   turn.FilterOptions
	agent    *dialog.Agent          // may be nil
	yes      func(text string) bool // reports whether words are a yes if agent is nil; set at the first use
}

// classify returns what the words are that are heard while the agent says saying.
func (e *ear) classify(text, saying string) turn.Verdict {
	return turn.Classify(text, saying, e.words, e.filter)
}

// echoed reports whether words that arrive after the agent's audio has ended are an echo of
// it. Only speech that began while the audio played can be an echo.
func (e *ear) echoed(s *State, text string) bool {
	if !s.Floor.Overlap {
		return false
	}
	if s.SaidCut {
		return e.echoes(text, s.Said) // where it was cut off is not known exactly
	}
	return e.echoesEnd(text, s.Said)
}

// echoesEnd reports whether text repeats the last words of said. An echo that is heard after
// the end of the audio repeats its end; words from another place, such as a value in a
// question, are an answer.
func (e *ear) echoesEnd(text, said string) bool {
	return e.echoes(text, lastWords(said, len(strings.Fields(text))+1))
}

// echoes reports whether every word of text occurs in said. While the agent speaks, a share of
// the words is enough, because words that are taken for an echo then merely do not interrupt
// the agent; here they would be lost.
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
