package conv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// Call is a tool or task without a result. It leaves [State.Calls] with exactly
// one result, which goes to the history. The package documentation has its life.
type Call struct {
	ID        string
	Key       string // idempotency key, if it is not the id
	Name      string
	Arguments string
	Secrets   []string // names of arguments that the history does not keep
	Turn      int      // the agent's turn that it belongs to
	Long      bool     // a delegated agent, not a quick tool
	Confirm   bool     // the user has to say yes to it first
	State     CallState
	Origin    Origin
	Due       Due
	Deadline  time.Time
	Started   time.Time
}

// CallState is where a call of a tool or task stands.
type CallState string

// The states of a call.
const (
	CallHeld    CallState = "held"    // its turn may yet be taken back: not started
	CallRunning CallState = "running" // started
	// callCancelled: called off, within the step that gives it its result.
	callCancelled CallState = "cancelled"
)

// Origin says who called a tool or task.
type Origin uint8

// The values of [Origin].
const (
	OriginModel   Origin = iota // a model
	OriginFlow                  // the dialogue, which takes the result
	OriginEarlier               // an earlier conversation, which started it: Key is the task's own
)

// Due says who waits for the result of a call.
type Due uint8

// The values of [Due].
const (
	DueReply   Due = iota // the reply that called it
	DueHistory            // nobody: the reply went on, or ended, without it; a task's result is still told
	DueNews               // the user: the reply was lost with the connection or to a fault, and the result is told later
)

// Action reports whether the dialogue made the call; its result goes there.
func (call *Call) Action() bool { return call.Origin == OriginFlow }

// Adopted reports whether an earlier conversation has started the call.
func (call *Call) Adopted() bool { return call.Origin == OriginEarlier }

// Background reports whether the reply goes on, or ended, without the call.
func (call *Call) Background() bool { return call.Due != DueReply }

// CodeForgotten is the code of a call that cannot be made again, because its secrets were
// not kept. A flow asks for them anew.
const CodeForgotten = "SECRETS_FORGOTTEN"

// Forgotten reports whether secrets of the call are not known any more.
func (call *Call) Forgotten() bool {
	return len(call.Secrets) > 0 && strings.Contains(call.Arguments, dialog.Hidden)
}

// shown are the arguments as the history keeps them, without the secrets.
func (call *Call) shown() string {
	if len(call.Secrets) == 0 {
		return call.Arguments
	}
	var args map[string]any
	if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil {
		return "{}"
	}
	for _, name := range call.Secrets {
		if args[name] != nil {
			args[name] = dialog.Hidden
		}
	}
	b, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("conv: what was JSON does not marshal: %v", err))
	}
	return string(b)
}

// Calls are the calls without a result, in the order in which they were made.
type Calls []Call

// find is the index of the running call with this id, or -1. An empty id
// means the oldest one that runs of its kind.
func (l Calls) find(id string, long bool) int {
	for i := range l {
		call := &l[i]
		if call.State == CallRunning && (call.ID == id || id == "" && call.Long == long) {
			return i
		}
	}
	return -1
}

// task is the index of the delegated call with this id that runs, or -1.
func (l Calls) task(id string) int {
	return slices.IndexFunc(l, func(call Call) bool {
		return call.ID == id && call.Long && call.State == CallRunning
	})
}

// adopted reports whether one is the task of an earlier conversation with this key.
func (l Calls) adopted(key string) bool {
	return slices.ContainsFunc(l, func(call Call) bool { return call.Adopted() && call.Key == key })
}

// known reports whether one has this id.
func (l Calls) known(id string) bool {
	return slices.ContainsFunc(l, func(call Call) bool { return call.ID == id })
}

// action reports whether a flow has a call in the turn.
func (l Calls) action(turn int) bool {
	return slices.ContainsFunc(l, func(call Call) bool { return call.Action() && call.Turn == turn })
}

// open counts the running calls that the reply of a turn waits for.
func (l Calls) open(turn int) (quick, long int) {
	for i := range l {
		call := &l[i]
		switch {
		case call.State != CallRunning || call.Background() || call.Turn != turn:
		case call.Long:
			long++
		default:
			quick++
		}
	}
	return quick, long
}

// held reports whether the reply of a turn has calls that wait until it is let go.
func (l Calls) held(turn int) bool {
	for i := range l {
		if call := &l[i]; call.State == CallHeld && call.Turn == turn {
			return true
		}
	}
	return false
}

// leave lets the calls of a turn go on without its reply.
func (l Calls) leave(turn int) {
	for i := range l {
		if l[i].Turn == turn && l[i].Due == DueReply {
			l[i].Due = DueHistory
		}
	}
}

// announce has the results of a turn told later, because its reply is lost with the
// connection or to a fault, and reports whether there are any.
func (l Calls) announce(turn int) bool {
	running := false
	for i := range l {
		call := &l[i]
		if call.State == CallRunning && call.Turn == turn {
			call.Due = DueNews
			running = true
		}
	}
	return running
}

// result is what a call came to.
type result struct {
	Text   string
	Failed bool
	// Forgotten: the call could not be made, as its secrets were not kept.
	Forgotten bool
}

// failedResult words a failure for the mind as seed 001, section 6, does, with
// what there is of a result.
func failedResult(code, message, partial string) result {
	answer := struct {
		Error   string `json:"error"`
		Code    string `json:"code,omitempty"`
		Partial string `json:"partial_result,omitempty"`
	}{"Tool failed: " + message, code, partial}
	b, err := json.Marshal(answer)
	if err != nil {
		panic(fmt.Sprintf("conv: three strings do not marshal: %v", err))
	}
	return result{Text: string(b), Failed: true, Forgotten: code == CodeForgotten}
}
