package explore

import (
	"fmt"

	"github.com/hocketvoice/hocket/conv"
)

// Follower is a machine that is fed with the steps of the conversation's: it goes along
// with the walk, checks its own promises, and may have inputs of its own. A state of the
// walk is then a state of both.
type Follower interface {
	// Clone returns a copy. What happens to one is not seen by the other.
	Clone() Follower
	// Step takes a step of the conversation, which is valid during the call. It returns
	// the facts that follow from it, which are stepped next, and the promise that is
	// broken.
	Step(Followed) (facts []conv.Event, err error)
	// Inputs is the number of the follower's own inputs. Input makes one of them happen,
	// as Step does; applies is false where it cannot happen now. InputName is for the
	// path of a [Violation].
	Inputs() int
	Input(i int, st *conv.State) (facts []conv.Event, applies bool, err error)
	InputName(i int) string
	// Canonical follows the conversation's state to its canonical form, in which it is
	// now: rename gives the canonical number of a turn. What has no influence on anything
	// to come is to be forgotten.
	Canonical(st *conv.State, rename func(turn int) int)
	// AppendKey writes what tells two followers of the same conversation apart. One that
	// writes nothing sees each step of each state of the conversation, with the past of
	// one way there.
	AppendKey(b []byte) []byte
}

// Followed is one step of the conversation.
type Followed struct {
	Event  conv.Event
	Output *conv.Output
	State  *conv.State
}

// mostFacts bounds the facts that follow from one another in one step of the walk.
const mostFacts = 16

// inputs are what may happen to the follower alone. Their labels lie behind those of the
// events.
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

// follow shows the follower the step that was made, and makes those that follow from it.
func (w *worker) follow(o open, ev conv.Event, mon monitor, label int32) {
	f := o.follower.Clone()
	facts, err := f.Step(Followed{Event: ev, Output: w.c.Last(), State: w.c.State()})
	if err != nil {
		w.report(o.index, label, "follower: "+category(err), err.Error())
		return
	}
	w.goOn(o, f, mon, label, facts)
}

// goOn steps the facts that follow from a step, and those that follow from them, and keeps
// the state that is reached.
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
		s := stepped{before: before, after: w.c.State(), event: ev, out: w.c.Last(), mon: mon}
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
