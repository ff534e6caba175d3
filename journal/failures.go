package journal

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Timeout is the class of a failure to answer within the limits of the conversation. The
// other classes are those of seed 001, section 4.7.
const Timeout = "TIMEOUT"

// Failure is the failure of a provider or a tool. It contains no words of the conversation
// and no message of the provider.
type Failure struct {
	Kind    string // "model", "tool", "voice", "recognizer" or "session"
	Name    string // of a tool; empty if the model called it by a text that cannot be a name
	Class   string // a class of seed 001, section 4.7, or [Timeout]
	Attempt int    // number of the attempt at the same work, from 1
	Latency time.Duration
	Retried bool // another attempt follows
}

// Failures finds the failures of providers and tools in the steps of one conversation.
// The zero value is ready for use by one goroutine at a time.
type Failures struct {
	asked    request
	summary  request
	spoken   int       // the turn whose text was last given to the voice
	spokenAt time.Time // when the first text of that turn was given to the voice
	calls    map[string]call
	names    map[string]string // of adopted tasks by key, until they are followed
	attempts map[string]int    // of calls by idempotency key
}

// request is a request to the model.
type request struct {
	open                   bool
	turn, request, attempt int
	why                    conv.RequestReason
	at                     time.Time
}

// is reports whether number identifies the request. The number 0 identifies any request.
func (r *request) is(number int) bool { return number == 0 || number == r.request }

// call is a running call of a tool or task.
type call struct {
	name    string
	attempt int
	at      time.Time
}

// Step records a step of the conversation and returns the failures in it. out and st are
// the output and the state of the machine after the step.
func (f *Failures) Step(now time.Time, ev conv.Event, out *conv.Output, st *conv.State) (found []Failure) {
	if out.Late || out.Deferred {
		return nil
	}
	found = append(f.answered(now, ev, st), f.overdue(now, ev, out, st)...)
	for _, e := range out.Effects {
		f.begins(now, e)
	}
	return found
}

// answered handles an event that ends a request or a call. It returns the failure that the
// event reports, if any.
func (f *Failures) answered(now time.Time, ev conv.Event, st *conv.State) []Failure {
	switch e := ev.(type) {
	case conv.ReplyDone:
		f.asked.open = f.asked.open && !f.asked.is(e.Request)
	case conv.ReplyFailed:
		if !f.asked.open || !f.asked.is(e.Request) {
			return nil
		}
		return []Failure{f.giveUp(now, errclass.Of(e.Code).Name, f.retries(st))}
	case conv.Summarized:
		return f.summarized(now, e)
	case conv.ToolDone:
		delete(f.calls, e.ID)
	case conv.TaskDone:
		delete(f.calls, e.ID)
	case conv.ToolFailed:
		return f.callFailed(now, e.ID, errclass.Of(e.Code).Name)
	case conv.TaskFailed:
		return f.callFailed(now, e.ID, errclass.Of(e.Code).Name)
	case conv.TaskAdopted:
		f.named(e.Key, e.Name)
	case conv.PlayoutFailed:
		return []Failure{{Kind: "voice", Class: errclass.Of(e.Code).Name, Attempt: 1, Latency: f.sinceSpoken(now, e.Turn)}}
	case conv.Fault:
		kind := "session"
		if e.Code == "RECOGNIZER_FAILED" {
			kind = "recognizer"
		}
		return []Failure{{Kind: kind, Class: errclass.Of(e.Code).Name, Attempt: 1}}
	default:
		// Other events report no failure.
	}
	return nil
}

// summarized handles the result of a request for a summary, which has failed if it is empty.
func (f *Failures) summarized(now time.Time, e conv.Summarized) []Failure {
	open := f.summary.open
	if f.summary.open = false; !open || e.Text != "" {
		return nil
	}
	return []Failure{{Kind: "model", Class: errclass.Unknown, Attempt: 1, Latency: now.Sub(f.summary.at)}}
}

// named notes the tool of a task.
func (f *Failures) named(key, name string) {
	if f.names == nil {
		f.names = make(map[string]string)
	}
	f.names[key] = name
}

// overdue returns the failures of work that the machine has given up at a deadline.
func (f *Failures) overdue(now time.Time, ev conv.Event, out *conv.Output, st *conv.State) (found []Failure) {
	_, deadline := ev.(conv.DeadlinePassed)
	found = f.cancelled(now, out, deadline)
	if !deadline {
		return found
	}
	failed := 0 // the agent's turn that has failed
	if i := slices.IndexFunc(out.Turns, func(t conv.TurnEvent) bool { return t.Role == conv.RoleAgent && t.Type == conv.TurnFailed }); i >= 0 {
		failed = out.Turns[i].Turn
	}
	switch a := &f.asked; {
	case a.open && f.retries(st):
		found = append(found, f.giveUp(now, Timeout, true))
	case a.open && (failed != 0 && failed == a.turn || notified(out, "reply.incomplete") || f.goesOnWithout(st)):
		found = append(found, f.giveUp(now, Timeout, false))
	case failed != 0 && failed == f.spoken:
		found = append(found, Failure{Kind: "voice", Class: Timeout, Attempt: 1, Latency: f.sinceSpoken(now, f.spoken)})
	}
	return found
}

// cancelled handles the calls that a step cancels. They are failures at a deadline.
func (f *Failures) cancelled(now time.Time, out *conv.Output, deadline bool) (found []Failure) {
	for _, e := range out.Effects {
		if e, ok := e.(conv.CancelTool); ok && deadline {
			found = append(found, f.callFailed(now, e.ID, Timeout)...)
		} else if ok {
			delete(f.calls, e.ID)
		}
	}
	return found
}

// goesOnWithout reports whether the reply goes on without the advice that was asked for.
func (f *Failures) goesOnWithout(st *conv.State) bool {
	a := &f.asked
	advice := a.why == conv.RequestUnderstanding || a.why == conv.RequestWording
	return advice && st.Reply.Turn == a.turn && (st.Reply.Advised() || st.Reply.Request != a.request)
}

// retries reports whether the open request will be made again after a pause.
func (f *Failures) retries(st *conv.State) bool {
	return st.Reply.Turn == f.asked.turn && st.Reply.Retrying()
}

// giveUp marks the open request as failed.
func (f *Failures) giveUp(now time.Time, class string, retried bool) Failure {
	f.asked.open = false
	return Failure{Kind: "model", Class: class, Attempt: f.asked.attempt, Latency: now.Sub(f.asked.at), Retried: retried}
}

func (f *Failures) callFailed(now time.Time, id, class string) []Failure {
	c, ok := f.calls[id]
	delete(f.calls, id)
	one := Failure{Kind: "tool", Name: toolName(c.name), Class: class, Attempt: max(1, c.attempt)}
	if ok {
		one.Latency = now.Sub(c.at)
	}
	return []Failure{one}
}

func (f *Failures) sinceSpoken(now time.Time, turn int) time.Duration {
	if turn != 0 && turn != f.spoken || f.spokenAt.IsZero() {
		return 0
	}
	return now.Sub(f.spokenAt)
}

// begins records work that an effect starts or cancels.
func (f *Failures) begins(now time.Time, e conv.Effect) {
	switch e := e.(type) {
	case conv.RequestReply:
		f.asked = request{open: true, turn: e.Turn, request: e.Request, attempt: max(1, e.Attempt), why: e.Why, at: now}
	case conv.CancelTurn:
		f.asked.open = f.asked.open && e.Turn != f.asked.turn
	case conv.Summarize:
		f.summary = request{open: true, at: now}
	case conv.Speak:
		if e.Turn != f.spoken {
			f.spoken, f.spokenAt = e.Turn, now
		}
	case conv.RunTool:
		f.runs(now, e.ID, cmp.Or(e.Key, e.ID), e.Name)
	case conv.StartTask:
		f.runs(now, e.ID, cmp.Or(e.Key, e.ID), e.Name)
	case conv.FollowTask:
		f.runs(now, e.ID, e.Key, f.names[e.Key])
		delete(f.names, e.Key)
	default:
		// Other effects start nothing that can fail.
	}
}

func (f *Failures) runs(now time.Time, id, key, name string) {
	if f.calls == nil {
		f.calls, f.attempts = make(map[string]call), make(map[string]int)
	}
	f.attempts[key]++
	f.calls[id] = call{name: name, attempt: f.attempts[key], at: now}
}

func notified(out *conv.Output, code string) bool {
	return slices.ContainsFunc(out.Effects, func(e conv.Effect) bool {
		n, ok := e.(conv.Notify)
		return ok && n.Code == code
	})
}

// toolName returns a tool's name, or "" for a text that cannot be a name: a model may call
// a tool by any text.
func toolName(name string) string {
	odd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("_-./:", r)
	}
	if len(name) > 128 || strings.ContainsFunc(name, odd) {
		return ""
	}
	return name
}
