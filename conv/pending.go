package conv

import (
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// Pending is what waits for its moment: for [ListeningReady], with nobody speaking.
// What has its moment first is the order of [waiting]; of one kind, what came first.
type Pending struct {
	Greeted bool // the greeting was said, or its moment has passed
	Ending  bool // the goodbye is being said; the conversation ends after it
	Recover bool // the person asked to go on after an error of the dialogue

	Texts   []string        // typed lines not yet read
	TypedAt time.Time       // when the first of them was typed
	Resume  string          // the rest of a reply that was cut off, not heard yet
	Apology string          // the code of a phrase to say
	Tell    []string        // what flows say to results that nobody waited for
	Follow  []dialog.Output // what flows do about such results: one for each action that ran
	News    []string        // ids of calls whose results a model is to tell
	Settle  []Settled       // tasks whose results came, until they have been told (TasksOutlive)

	// Telling and Announcing are what the reply that is open tells, of Tell and of News.
	// They go back if it is lost before it is heard.
	Telling    []string
	Announcing []string

	Feedback int // how many steps of feedback were given while a delegated agent works
}

// Settled is a task that has its result: see [SettleTask].
type Settled struct {
	ID      string `json:"id"`
	Key     string `json:"key,omitempty"`
	Adopted bool   `json:"adopted,omitempty"`
}

// waiting is what may wait for its moment, in the order in which it has it.
type waiting uint8

const (
	waitingUser     waiting = iota // a voice that is heard, or words that came while nobody listened
	waitingText                    // a typed line
	waitingRecovery                // the way out of an error of the dialogue
	waitingAnswer                  // the answer to a turn, lost with the connection or to a fault
	waitingRest                    // the rest of a reply that a voice cut off and said nothing
	waitingApology                 // what the agent says to a question that it could not answer
	waitingWords                   // what a flow says to a result that nobody waited for
	waitingFlow                    // what a flow does about one
	waitingNews                    // a result that a model is to tell
	waitingTask                    // a task whose result has been told
	waitingEnd                     // the end of the conversation, after its goodbye
	waitingGreeting                // the first words
	waitingNothing
)

// next is what has its moment now.
func (s *State) next(o *Options) waiting {
	p := &s.Pending
	for w, waits := range [...]bool{
		waitingUser:     s.userWaits(o),
		waitingText:     len(p.Texts) > 0,
		waitingRecovery: p.Recover,
		waitingAnswer:   s.Conn.Unanswered.Turn != 0,
		waitingRest:     p.Resume != "" && s.Floor.Barged == 0,
		waitingApology:  p.Apology != "",
		waitingWords:    len(p.Tell) > 0,
		waitingFlow:     len(p.Follow) > 0,
		waitingNews:     len(p.News) > 0,
		waitingTask:     len(p.Settle) > 0,
		waitingEnd:      p.Ending,
		waitingGreeting: !p.Greeted,
	} {
		if waits {
			return waiting(w)
		}
	}
	return waitingNothing
}

// userWaits reports whether the user spoke, or speaks, since before the
// microphone was free.
func (s *State) userWaits(o *Options) bool {
	f := &s.Floor
	if o.Endpoint == turn.PolicyManual && !f.Pushed {
		return s.User.Ended && s.User.Words() != ""
	}
	return f.Speaking || s.User.Words() != ""
}

// takeText takes the first typed line, and when it was typed.
func (p *Pending) takeText() (text string, typed time.Time) {
	text, typed = p.Texts[0], p.TypedAt
	if p.Texts = append(p.Texts[:0:0], p.Texts[1:]...); len(p.Texts) == 0 {
		p.TypedAt = time.Time{}
	}
	return text, typed
}

// takeRest takes the rest of a reply that was cut off.
func (p *Pending) takeRest() string {
	rest := p.Resume
	p.Resume = ""
	return rest
}

// takeApology takes the code of the phrase to say.
func (p *Pending) takeApology() string {
	code := p.Apology
	p.Apology = ""
	return code
}

// takeWords takes what flows have to say. It goes back if it is not heard.
func (p *Pending) takeWords() string {
	text := ""
	for _, t := range p.Tell {
		text = joinWords(text, t)
	}
	p.Telling, p.Tell = p.Tell, nil
	return text
}

// takeFlow takes what a flow does next.
func (p *Pending) takeFlow() dialog.Output {
	out := p.Follow[0]
	p.Follow = append(p.Follow[:0:0], p.Follow[1:]...)
	return out
}

// takeNews takes the results that are to be told. They go back if nothing of it is
// heard.
func (p *Pending) takeNews() { p.Announcing, p.News = p.News, nil }

// told forgets what the reply that has ended was telling.
func (p *Pending) told() { p.Telling, p.Announcing = nil, nil }

// untoldNews puts back the news that was being told.
func (p *Pending) untoldNews(limit int) {
	p.Tell = putBack(p.Telling, p.Tell, limit)
	p.News = putBack(p.Announcing, p.News, limit)
	p.Telling, p.Announcing = nil, nil
}

// enqueue adds to a list of what is to be said; when it is full the oldest goes,
// which the history has anyway.
func enqueue(o *Options, list []string, text string) []string {
	if len(list) >= o.Limits.Queue {
		list = append(list[:0:0], list[1:]...)
	}
	return append(list, text)
}

// putBack puts what was taken from a queue before what has come since, within
// the queue's bound.
func putBack(taken, list []string, limit int) []string {
	all := append(append([]string(nil), taken...), list...)
	return all[max(0, len(all)-limit):]
}

// settleLater notes a task that has its result, until what follows from it has been
// told.
func (p *Pending) settleLater(out *Output, o *Options, call Call) {
	if !o.TasksOutlive {
		return
	}
	p.Settle = append(p.Settle, Settled{ID: call.ID, Key: call.Key, Adopted: call.Adopted()})
	// At most a queue of results is being told and another waits: the oldest is in
	// neither of them.
	if len(p.Settle) > 2*o.Limits.Queue+o.Limits.Calls {
		out.emit(SettleTask(p.Settle[0]))
		p.Settle = append(p.Settle[:0:0], p.Settle[1:]...)
	}
}

// settleTasks says that the results that came have been told.
func (p *Pending) settleTasks(out *Output) {
	for _, s := range p.Settle {
		out.emit(SettleTask(s))
	}
	p.Settle = nil
}

// queueText keeps a typed line for its moment and reports whether there is room
// for it; one that is refused is told.
func (s *State) queueText(out *Output, o *Options, text string, typed time.Time) bool {
	p := &s.Pending
	if len(p.Texts) >= o.Limits.Queue {
		out.emit(Reject{Code: "too_many_texts"})
		return false
	}
	if len(p.Texts) == 0 {
		p.TypedAt = typed
	}
	p.Texts = append(p.Texts, text)
	return true
}
