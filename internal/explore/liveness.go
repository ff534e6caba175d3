package explore

import (
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/timers"
)

// good reports whether a phase may last: the agent speaks, or listens with a deadline
// armed or the microphone open, or the conversation has ended. Each step checks that
// the deadlines are armed.
func good(p conv.Phase) bool {
	switch p {
	case conv.Idle, conv.ListeningReady, conv.ListeningCapturing, conv.Speaking:
		return true
	default:
		return false
	}
}

// waiting returns the phases that are not good.
func waiting() []Wait {
	var list []Wait
	for _, p := range conv.Phases() {
		if !good(p) {
			list = append(list, Wait{Phase: p})
		}
	}
	return list
}

// limit returns how long a phase may last if only deadlines pass, or 0 if it waits for
// nothing.
func limit(p conv.Phase, o *conv.Options) time.Duration {
	l := &o.Limits
	switch p {
	case conv.Preparing:
		return l.Start
	case conv.Understanding, conv.Waiting:
		return l.Processing
	case conv.Generating:
		return l.Processing
	case conv.ToolRunning:
		return l.Tool
	case conv.Delegated:
		return 2 * l.Task // two calls count one after the other; see liveness
	case conv.Interrupted:
		return l.Interrupted
	case conv.Suspended:
		return l.Suspended
	case conv.Reconnecting:
		return l.Reconnect
	case conv.Faulted:
		return max(l.Error, l.BreakerCooldown)
	case conv.Terminating:
		return l.Release
	default:
		return 0
	}
}

// way is the time needed from a state if the deadline of a given timer, which is armed
// there, is followed until it passes or is armed again, and the time from there on.
type way struct {
	timer         timers.Timer
	stay, longest time.Duration // in addition to the timer's own time; see [Wait]
}

// liveness computes, over all states, the longest time until a good state and until the
// phase is left, if only deadlines pass, in any order. A cycle of states that are not
// good is a violation, and so is a phase that lasts longer than its limit.
//
// For each deadline it is known which timers remain armed unchanged. A timer that
// remains armed limits the total time, however many other deadlines pass. Of several
// calls only the earliest deadline is armed; those of the others count from the
// beginning.
func (x *explorer) liveness() {
	next := make(map[int32][]edge)
	for _, e := range x.edges {
		if !good(x.phases[e.from]) {
			next[e.from] = append(next[e.from], e)
		}
	}
	const unknown, active = -1, -2
	l := lives{
		phases: x.phases, opts: &x.opts, ways: make(map[int32][]way),
		longest: make([]time.Duration, len(x.nodes)), stays: make([]time.Duration, len(x.nodes)),
	}
	for i := range l.longest {
		l.longest[i] = unknown
		if good(x.phases[i]) {
			l.longest[i] = 0
		}
	}
	type frame struct {
		node int32
		next int
	}
	for root := range x.nodes {
		if l.longest[root] != unknown {
			continue
		}
		stack := []frame{{node: int32(root)}}
		l.longest[root] = active
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(next[top.node]) {
				if !l.settle(top.node, next[top.node]) {
					x.violate(broken{top.node, noLabel, "liveness", fmt.Sprintf("%v is never left", x.phases[top.node])})
				}
				stack = stack[:len(stack)-1]
				continue
			}
			to := next[top.node][top.next].to
			top.next++
			switch {
			case to == top.node: // it only notifies, or arms a timer again
			case l.longest[to] == active:
				x.violate(broken{to, noLabel, "liveness", fmt.Sprintf("%v is never left for good: deadlines lead back to it", x.phases[to])})
			case l.longest[to] == unknown:
				l.longest[to] = active
				stack = append(stack, frame{node: to})
			}
		}
	}
	x.lives = l.waits()
	for i, w := range x.lives {
		if w.Stay > w.Limit {
			x.violate(broken{l.worst[i], noLabel, "limit of " + w.Phase.String(), fmt.Sprintf("%v may last %v: expected at most %v", w.Phase, w.Stay, w.Limit)})
		}
	}
}

// lives contains the times from each state.
type lives struct {
	phases         []conv.Phase
	opts           *conv.Options
	longest, stays []time.Duration
	ways           map[int32][]way
	worst          []int32 // for each of waits, the state in which its phase lasts longest
}

// settle computes the times from a state for whose successors they are known. It
// reports whether there is a way at all.
func (l *lives) settle(node int32, edges []edge) bool {
	const never = time.Duration(1<<63 - 1)
	longest, stay := never, never
	for _, e := range edges {
		if slices.ContainsFunc(l.ways[node], func(w way) bool { return w.timer == e.timer }) {
			continue // the deadlines of two calls: the first was considered
		}
		w, ok := l.way(node, e.timer, edges)
		if !ok {
			continue
		}
		l.ways[node] = append(l.ways[node], w)
		full := fullLength(w.timer, l.opts)
		longest, stay = min(longest, full+w.longest), min(stay, full+w.stay)
	}
	if longest == never {
		longest, stay = 0, 0
	}
	l.longest[node], l.stays[node] = longest, stay
	return len(l.ways[node]) > 0
}

// way returns the way from a state along a timer. It returns false if the timer's
// deadline changes nothing or can be postponed forever.
func (l *lives) way(node int32, t timers.Timer, edges []edge) (way, bool) {
	w := way{timer: t}
	for _, e := range edges {
		stay, longest := l.stays[e.to], max(0, l.longest[e.to])
		switch goesOn := e.timer != t && e.kept.has(t); {
		case e.to == node && goesOn:
			continue
		case e.to == node:
			return w, false
		case goesOn && !good(l.phases[e.to]):
			i := slices.IndexFunc(l.ways[e.to], func(w way) bool { return w.timer == t })
			if i < 0 {
				return w, false
			}
			stay, longest = l.ways[e.to][i].stay, l.ways[e.to][i].longest
		}
		w.longest = max(w.longest, longest)
		if !e.left {
			w.stay = max(w.stay, stay)
		}
	}
	return w, true
}

// waits returns the longest times of each phase.
func (l *lives) waits() []Wait {
	list := waiting()
	l.worst = make([]int32, len(list))
	for i := range list {
		w := &list[i]
		w.Limit = limit(w.Phase, l.opts)
		for node, p := range l.phases {
			if p != w.Phase {
				continue
			}
			w.Longest = max(w.Longest, l.longest[node])
			if l.stays[node] > w.Stay {
				w.Stay, l.worst[i] = l.stays[node], int32(node)
			}
		}
	}
	return list
}

// fullLength returns the longest time for which a timer is armed.
func fullLength(t timers.Timer, o *conv.Options) time.Duration {
	l := &o.Limits
	switch t {
	case timers.Start:
		return l.Start
	case timers.Listening:
		return l.Listening
	case timers.Endpoint:
		return max(l.NoEndpoint, l.NoTranscript)
	case timers.Final:
		return max(l.FinalWords, l.FinalNoWords)
	case timers.AfterYes:
		return time.Second
	case timers.Try:
		return max(l.Waiting, slices.Max(o.Retry.Backoff))
	case timers.Processing:
		return l.Processing
	case timers.Tool:
		return l.Tool
	case timers.Task:
		return l.Task
	case timers.Feedback:
		return l.Feedback[len(l.Feedback)-1].After
	case timers.Heartbeat:
		return l.Heartbeat
	case timers.Speaking:
		return l.Speaking
	case timers.Playout:
		return l.PlayoutStall
	case timers.Interrupted:
		return l.Interrupted
	case timers.Barge:
		return max(o.BargeIn.Reply.ResumeAfter, o.BargeIn.Reply.MaxFiltered, o.BargeIn.Greeting.ResumeAfter)
	case timers.Suspended:
		return l.Suspended
	case timers.Grace:
		return l.Grace
	case timers.Reconnect:
		return slices.Max(o.Retry.Reconnect)
	case timers.ReconnectLimit:
		return l.Reconnect
	case timers.Fault:
		return l.Error
	case timers.Breaker:
		return l.BreakerCooldown
	case timers.Forget:
		return l.BreakerWindow
	case timers.Warning, timers.Session:
		return l.Session
	case timers.Release:
		return l.Release
	case timers.Inactivity, timers.DeadAir:
		return l.Inactivity
	default:
		panic(fmt.Sprintf("explore: unexpected timer %v", t))
	}
}
