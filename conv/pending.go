package conv

import (
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// pending is the work that waits until the phase is [ListeningReady] and nobody speaks. The
// machine then does it in the order of [waiting], and within one kind in the order in which
// it came.
type pending struct {
	Greeted bool // the greeting was said, or is no longer wanted
	Ending  bool // the agent says goodbye, and the conversation ends afterwards
	Recover bool // the person asked to continue after an error of the dialogue

	Texts   []string        // typed lines that have not been read
	TypedAt time.Time       // when the first of them was typed
	Apology string          // the code of the apology to say
	Tell    []string        // what flows say about results that no reply waited for
	Follow  []dialog.Output // what flows do about such results, one output for each action that ran
	News    []string        // ids of calls whose results the model must tell
	Settle  []settled       // tasks whose results came and have not been told yet (TasksOutlive)

	// Telling and Announcing are the entries of Tell and of News that the open reply tells.
	// They go back to Tell and News if the reply is lost before it is heard.
	Telling    []string
	Announcing []string

	Feedback int // how many steps of feedback were given while a delegated agent works
}

// settled is a task that has its result. Its fields are those of [SettleTask].
type settled struct {
	ID      string `json:"id"`
	Key     string `json:"key,omitempty"`
	Adopted bool   `json:"adopted,omitempty"`
}

// waiting is a kind of work that waits, in the order in which it is done.
type waiting uint8

const (
	waitingUser     waiting = iota // a voice that is heard, or words that came while the microphone was not free
	waitingText                    // a typed line
	waitingRecovery                // the recovery from an error of the dialogue
	waitingAnswer                  // a turn whose answer was lost with the connection or to a fault
	waitingRest                    // the rest of a reply that was cut off
	waitingApology                 // the apology for a question that the agent could not answer
	waitingWords                   // what a flow says about a result that no reply waited for
	waitingFlow                    // what a flow does about such a result
	waitingNews                    // a result that the model must tell
	waitingTask                    // a task whose result has been told
	waitingEnd                     // the end of the conversation after the goodbye
	waitingGreeting                // the first words of the agent
	waitingNothing
)

// next returns the kind of work to do now.
func (s *State) next(o *Options) waiting {
	p := &s.Pending
	for w, waits := range [...]bool{
		waitingUser:     s.User.waits(&s.Floor, o),
		waitingText:     len(p.Texts) > 0,
		waitingRecovery: p.Recover,
		waitingAnswer:   s.Conn.Unanswered.Turn != 0,
		waitingRest:     s.Going.waits() && s.Floor.Barged == 0,
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

// takeText removes the first typed line and returns it with the time when it was typed.
func (p *pending) takeText() (text string, typed time.Time) {
	text, typed = p.Texts[0], p.TypedAt
	if p.Texts = append(p.Texts[:0:0], p.Texts[1:]...); len(p.Texts) == 0 {
		p.TypedAt = time.Time{}
	}
	return text, typed
}

// takeApology removes the code of the apology and returns it.
func (p *pending) takeApology() string {
	code := p.Apology
	p.Apology = ""
	return code
}

// takeWords moves Tell to Telling and returns it as one text.
func (p *pending) takeWords() string {
	text := ""
	for _, t := range p.Tell {
		text = joinWords(text, t)
	}
	p.Telling, p.Tell = p.Tell, nil
	return text
}

// takeFlow removes the first output of Follow and returns it.
func (p *pending) takeFlow() dialog.Output {
	out := p.Follow[0]
	p.Follow = append(p.Follow[:0:0], p.Follow[1:]...)
	return out
}

// takeNews moves News to Announcing.
func (p *pending) takeNews() { p.Announcing, p.News = p.News, nil }

// told empties Telling and Announcing: the reply that told them has ended.
func (p *pending) told() { p.Telling, p.Announcing = nil, nil }

// untoldNews puts Telling and Announcing back to Tell and News.
func (p *pending) untoldNews(limit int) {
	p.Tell = putBack(p.Telling, p.Tell, limit)
	p.News = putBack(p.Announcing, p.News, limit)
	p.Telling, p.Announcing = nil, nil
}

// enqueue appends text to a list of what the agent must say. If the list is full, it drops the
// oldest entry: its result is in the history anyway.
func enqueue(o *Options, list []string, text string) []string {
	if len(list) >= o.Limits.Queue {
		list = append(list[:0:0], list[1:]...)
	}
	return append(list, text)
}

// putBack returns the entries that were taken from a list, followed by those that have come
// since. It drops the oldest entries beyond limit.
func putBack(taken, list []string, limit int) []string {
	all := append(append([]string(nil), taken...), list...)
	return all[max(0, len(all)-limit):]
}

// settleLater notes a task that has its result. The task is settled when the result has been
// told.
func (p *pending) settleLater(out *Output, o *Options, call Call) {
	if !o.TasksOutlive {
		return
	}
	p.Settle = append(p.Settle, settled{ID: call.ID, Key: call.Key, Adopted: call.Adopted()})
	// At most Queue results are being told and Queue more wait. The oldest task is not
	// among them.
	if len(p.Settle) > 2*o.Limits.Queue+o.Limits.Calls {
		out.emit(SettleTask(p.Settle[0]))
		p.Settle = append(p.Settle[:0:0], p.Settle[1:]...)
	}
}

// settleTasks settles all tasks: their results have been told.
func (p *pending) settleTasks(out *Output) {
	for _, s := range p.Settle {
		out.emit(SettleTask(s))
	}
	p.Settle = nil
}

// queueText queues a typed line and reports whether there is room for it. If there is none, it
// rejects the line.
func (p *pending) queueText(out *Output, o *Options, text string, typed time.Time) bool {
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
