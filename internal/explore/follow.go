package explore

import (
	"fmt"

	"github.com/hocketvoice/hocket/conv"
)

// Follower is a second machine that receives the steps of the conversation, checks its
// own properties, and may have inputs of its own. The states of the exploration are
// then pairs of states.
type Follower interface {
	// Clone returns an independent copy.
	Clone() Follower
	// Step handles a step of the conversation, which is only valid during the call. It
	// returns the events that result from it, which are stepped next, or an error that
	// describes a violation.
	Step(Followed) (facts []conv.Event, err error)
	// Inputs returns the number of the follower's inputs. Input makes one of them
	// happen and returns the same as Step; applies is false if it cannot happen now.
	// InputName returns its name for the path of a [Violation].
	Inputs() int
	Input(i int, st *conv.State) (facts []conv.Event, applies bool, err error)
	InputName(i int) string
	// Canonical converts the follower's state to canonical form. The conversation's
	// state st already has this form; rename maps turn numbers to canonical ones.
	// Canonical must remove what has no influence on the future.
	Canonical(st *conv.State, rename func(turn int) int)
	// AppendKey appends a key that distinguishes followers of the same conversation
	// state. A follower that appends nothing receives each step from each state of the
	// conversation, but only with the history of one path to it.
	AppendKey(b []byte) []byte
}

// Followed is a step of the conversation.
type Followed struct {
	Event  conv.Event
	Output *conv.Output
	State  *conv.State
}

// mostFacts limits the number of consecutive events that result from one step.
const mostFacts = 16

// inputs makes the follower's inputs happen. Their labels follow those of the events.
func (w *worker) inputs(o open) {
	if o.follower == nil {
		return
	}
	for i := range o.follower.Inputs() {
		w.input(o, i, int32(len(w.x.events)+i))
	}
}

func (w *worker) input(o open, i int, label int32) {
	defer w.recovered(o, label)
	w.c.Become(o.state)
	f := o.follower.Clone()
	facts, applies, err := f.Input(i, w.c.State())
	if !applies {
		return
	}
	w.steps++
	if err != nil {
		w.report(o.index, label, "follower: "+category(err), err.Error())
		return
	}
	w.goOn(o, f, o.mon, label, facts)
}

// follow passes a step to the follower and makes the resulting steps.
func (w *worker) follow(o open, ev conv.Event, mon monitor, label int32) {
	f := o.follower.Clone()
	facts, err := f.Step(Followed{Event: ev, Output: w.c.Last(), State: w.c.State()})
	if err != nil {
		w.report(o.index, label, "follower: "+category(err), err.Error())
		return
	}
	w.goOn(o, f, mon, label, facts)
}

// goOn steps the resulting events, and those that result from them, and adds the
// reached state.
func (w *worker) goOn(o open, f Follower, mon monitor, label int32, facts []conv.Event) {
	for n := 0; len(facts) > 0; n++ {
		if n == mostFacts {
			w.report(o.index, label, "follower: facts without end", fmt.Sprintf("%s still follows from it after %d others", conv.EventType(facts[0]), n))
			return
		}
		before := w.c.Fork().State()
		ev := facts[0]
		w.c.Step(epoch, ev)
		w.steps++
		s := w.stepped(before, ev, mon)
		var err error
		if mon, err = s.check(); err != nil {
			w.report(o.index, label, "invariant: "+category(err), err.Error())
			return
		}
		more, err := f.Step(Followed{Event: ev, Output: w.c.Last(), State: w.c.State()})
		if err != nil {
			w.report(o.index, label, "follower: "+category(err), fmt.Sprintf("%v, behind %s", err, conv.EventType(ev)))
			return
		}
		facts = append(facts[1:len(facts):len(facts)], more...)
	}
	w.keep(o, label, mon, f)
}
