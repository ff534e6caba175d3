package conv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// Call is a call of a tool or task that has no result yet. When the result comes, the
// call leaves [State.Calls] and the result enters the history; every call gets exactly
// one result. The package documentation describes the states of a call.
type Call struct {
	ID        string
	Key       string // idempotency key; empty if it is the ID
	Name      string
	Arguments string
	Secrets   []string // names of arguments that are hidden in the history
	Turn      int      // agent turn that made the call
	Long      bool     // the call is for a delegated agent, not a quick tool
	Confirm   bool     // the call runs only after the user has said yes to it
	State     callState
	Origin    origin
	Due       due
	Deadline  time.Time
	Started   time.Time
}

// callState is the state of a [Call].
type callState string

// The states of a call.
const (
	callHeld    callState = "held"    // not started, because the turn that made it may still be taken back
	callRunning callState = "running" // started, and its result has not come
	// callCancelled marks a call that was cancelled. The same step ends the call, so no
	// call has this state between two steps.
	callCancelled callState = "cancelled"
)

// origin says what made a call.
type origin uint8

// The values of [origin].
const (
	originModel   origin = iota // a model
	originFlow                  // a flow of the dialogue, which receives the result
	originEarlier               // an earlier conversation started the task; Key is the key of the task itself
)

// due says what happens with the result of a call.
type due uint8

// The values of [due].
const (
	dueReply   due = iota // the reply that made the call waits for the result
	dueHistory            // the reply went on, or ended, without the result; the agent still tells the result of a task
	dueNews               // the reply was lost with the connection or to a fault; the agent tells the result later
)

// Held reports whether the call has not started, because the turn that made it may still be
// taken back.
func (call *Call) Held() bool { return call.State == callHeld }

// Running reports whether the call has started and its result has not come.
func (call *Call) Running() bool { return call.State == callRunning }

// Announced reports whether the reply that made the call was lost with the connection or to a
// fault: the agent tells the result later.
func (call *Call) Announced() bool { return call.Due == dueNews }

// Action reports whether a flow of the dialogue made the call. The flow receives the
// result.
func (call *Call) Action() bool { return call.Origin == originFlow }

// Adopted reports whether an earlier conversation started the call.
func (call *Call) Adopted() bool { return call.Origin == originEarlier }

// Background reports whether no reply waits for the result of the call.
func (call *Call) Background() bool { return call.Due != dueReply }

// CodeForgotten is the error code of a call that cannot be made again because its secret
// arguments were not stored. The flow that made the call asks the user for them again.
const CodeForgotten = "SECRETS_FORGOTTEN"

// Forgotten reports whether the arguments contain [dialog.Hidden] in place of secret values.
// Such a call cannot be made again.
func (call *Call) Forgotten() bool {
	return len(call.Secrets) > 0 && strings.Contains(call.Arguments, dialog.Hidden)
}

// shown returns the arguments as the history keeps them, with the secrets hidden.
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
		panic(fmt.Sprintf("conv: marshal arguments of %s: %v", call.Name, err))
	}
	return string(b)
}

// calls is the list of the calls that have no result yet, in the order in which they
// were made.
type calls []Call

// find returns the index of the running call with this id, or -1. With an empty id it
// returns the index of the oldest running call of a delegated agent, if long is set, or
// else of a quick tool.
func (l calls) find(id string, long bool) int {
	for i := range l {
		call := &l[i]
		if call.Running() && (call.ID == id || id == "" && call.Long == long) {
			return i
		}
	}
	return -1
}

// task returns the index of the running delegated call with this id, or -1.
func (l calls) task(id string) int {
	return slices.IndexFunc(l, func(call Call) bool {
		return call.ID == id && call.Long && call.Running()
	})
}

// adopted reports whether one of the calls is the adopted task with this key.
func (l calls) adopted(key string) bool {
	return slices.ContainsFunc(l, func(call Call) bool { return call.Adopted() && call.Key == key })
}

// known reports whether one of the calls has this id.
func (l calls) known(id string) bool {
	return slices.ContainsFunc(l, func(call Call) bool { return call.ID == id })
}

// action reports whether a flow made one of the calls of a turn.
func (l calls) action(turn int) bool {
	return slices.ContainsFunc(l, func(call Call) bool { return call.Action() && call.Turn == turn })
}

// open returns how many quick tools and how many delegated agents the reply of a turn
// waits for.
func (l calls) open(turn int) (quick, long int) {
	for i := range l {
		call := &l[i]
		switch {
		case !call.Running() || call.Background() || call.Turn != turn:
		case call.Long:
			long++
		default:
			quick++
		}
	}
	return quick, long
}

// held reports whether a turn has calls that start only when its reply is released.
func (l calls) held(turn int) bool {
	for i := range l {
		if call := &l[i]; call.Held() && call.Turn == turn {
			return true
		}
	}
	return false
}

// leave lets the calls of a turn continue after its reply has ended.
func (l calls) leave(turn int) {
	for i := range l {
		if l[i].Turn == turn && l[i].Due == dueReply {
			l[i].Due = dueHistory
		}
	}
}

// announce marks the running calls of a turn so that their results are told later. The
// reply that waited for them is lost with the connection or to a fault. It reports whether
// the turn has running calls.
func (l calls) announce(turn int) bool {
	running := false
	for i := range l {
		call := &l[i]
		if call.Running() && call.Turn == turn {
			call.Due = dueNews
			running = true
		}
	}
	return running
}

// result is the outcome of a call.
type result struct {
	Text   string
	Failed bool
	// Forgotten says that the call could not be made because its secrets were not stored.
	Forgotten bool
}

// failedResult returns the outcome of a call that failed, in the JSON form that seed 001,
// section 6, gives the model. partial is the partial result, or empty.
func failedResult(code, message, partial string) result {
	answer := struct {
		Error   string `json:"error"`
		Code    string `json:"code,omitempty"`
		Partial string `json:"partial_result,omitempty"`
	}{"Tool failed: " + message, code, partial}
	b, err := json.Marshal(answer)
	if err != nil {
		panic(fmt.Sprintf("conv: marshal a failed result: %v", err))
	}
	return result{Text: string(b), Failed: true, Forgotten: code == CodeForgotten}
}
