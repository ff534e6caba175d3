package explore

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// newReport is a report without anything in it.
func newReport() *Report {
	r := &Report{}
	for _, p := range conv.Phases() {
		if !good(p) {
			r.Waits = append(r.Waits, Wait{Phase: p})
		}
	}
	return r
}

// addTo adds one configuration's results to the report.
func (x *explorer) addTo(r *Report, reached map[conv.View]map[Edge]bool, causes map[PhaseEdge]bool, pairs map[[2]int32]bool) {
	r.States += len(x.nodes)
	r.Steps += x.steps
	r.Late += x.late
	r.Configs = append(r.Configs, x.size())
	for v, view := range conv.AllViews() {
		if reached[view] == nil {
			reached[view] = make(map[Edge]bool)
		}
		for p := range x.views[v] {
			reached[view][Edge{viewName(v, p[0]), viewName(v, p[1])}] = true
		}
	}
	for e := range x.causes {
		causes[e] = true
	}
	for p := range x.pairs {
		pairs[p] = true
	}
	if x.cfg.Most == 0 { // of a walk that was cut short nobody knows
		x.liveness(r)
	}
	for _, check := range sortedKeys(x.violations) {
		r.Violations = append(r.Violations, x.violations[check])
	}
}

// finish compares what was reached with the tables.
func (r *Report) finish(reached map[conv.View]map[Edge]bool, causes map[PhaseEdge]bool, pairs map[[2]int32]bool) {
	for i, table := range Tables() {
		c := Coverage{View: table.View, Rows: len(allowed[i])}
		for e := range reached[table.View] {
			if allowed[i][e] {
				c.Reached = append(c.Reached, e)
			} else {
				c.Outside = append(c.Outside, e)
			}
		}
		for e := range allowed[i] {
			if !reached[table.View][e] {
				c.Missing = append(c.Missing, e)
				r.Violations = append(r.Violations, Violation{
					Check: "completeness " + string(table.View),
					What:  fmt.Sprintf("%s: the transition from %s to %s is never reached", table.View, e.From, e.To),
				})
			}
		}
		for _, list := range [][]Edge{c.Reached, c.Missing, c.Outside} {
			slices.SortFunc(list, func(a, b Edge) int {
				return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
			})
		}
		r.Views = append(r.Views, c)
	}
	taken := make(map[[2]conv.Phase]bool)
	for e := range causes {
		r.Phases = append(r.Phases, e)
		taken[[2]conv.Phase{e.From, e.To}] = true
	}
	slices.SortFunc(r.Phases, func(a, b PhaseEdge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Cause, b.Cause))
	})
	for _, from := range conv.Phases() {
		for _, to := range conv.Phases() {
			if from.CanFollow(to) && !taken[[2]conv.Phase{from, to}] {
				r.Violations = append(r.Violations, Violation{
					Check: "completeness phases",
					What:  fmt.Sprintf("the transition from %v to %v is never taken", from, to),
				})
			}
		}
	}
	r.Pairs = len(pairs)
	slices.SortStableFunc(r.Violations, func(a, b Violation) int { return cmp.Compare(a.Check, b.Check) })
}

func sortedKeys(m map[string]Violation) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// good reports whether the promise of liveness is kept in a phase: the agent
// speaks, or listens with a deadline armed or the microphone open, or the
// conversation has ended. That the deadlines are armed is checked at each step.
func good(p conv.Phase) bool {
	switch p {
	case conv.Idle, conv.ListeningReady, conv.ListeningCapturing, conv.Speaking:
		return true
	default:
		return false
	}
}

// liveness finds, over all states, the longest time until a good one when
// nothing happens but deadlines, in whatever order they pass. A cycle among
// states that are not good is a violation.
func (x *explorer) liveness(r *Report) {
	next := make(map[int32][]int32)
	for _, e := range x.edges {
		if !good(x.phases[e.from]) {
			next[e.from] = append(next[e.from], e.to)
		}
	}
	const unknown, active = -1, -2
	longest := make([]time.Duration, len(x.nodes))
	for i := range longest {
		longest[i] = unknown
		if good(x.phases[i]) {
			longest[i] = 0
		}
	}
	type frame struct {
		node int32
		next int
	}
	for root := range x.nodes {
		if longest[root] != unknown {
			continue
		}
		stack := []frame{{node: int32(root)}}
		longest[root] = active
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next < len(next[top.node]) {
				to := next[top.node][top.next]
				top.next++
				switch longest[to] {
				case active:
					x.violate(broken{to, noLabel, "liveness", fmt.Sprintf("%v is never left for good: deadlines lead back to it", x.phases[to])})
				case unknown:
					longest[to] = active
					stack = append(stack, frame{node: to})
				}
				continue
			}
			var worst time.Duration
			for _, to := range next[top.node] {
				worst = max(worst, longest[to])
			}
			if len(next[top.node]) == 0 {
				x.violate(broken{top.node, noLabel, "liveness", fmt.Sprintf("%v is never left", x.phases[top.node])})
			}
			longest[top.node] = worst + x.waits[top.node]
			stack = stack[:len(stack)-1]
		}
		if longest[root] > r.Liveness {
			r.Liveness, r.LivePhase = longest[root], x.phases[root]
		}
	}
	for i := range r.Waits {
		w := &r.Waits[i]
		for node, p := range x.phases {
			if p == w.Phase {
				w.Longest = max(w.Longest, longest[node])
			}
		}
	}
}

// shortestWait is the longest time until some armed deadline passes: the least
// of their full lengths.
func shortestWait(st *conv.State, o *conv.Options) time.Duration {
	shortest := time.Duration(1<<63 - 1)
	for t := range st.Timers {
		if !st.Timers[t].IsZero() {
			shortest = min(shortest, fullLength(conv.Timer(t), o))
		}
	}
	return shortest
}

// fullLength is the longest time for which a timer is ever armed.
func fullLength(t conv.Timer, o *conv.Options) time.Duration {
	l := &o.Limits
	switch t {
	case conv.TimerStart:
		return l.Start
	case conv.TimerListening:
		return l.Listening
	case conv.TimerEndpoint:
		return max(l.NoEndpoint, l.NoTranscript)
	case conv.TimerFinal:
		return max(l.FinalWords, l.FinalNoWords)
	case conv.TimerTry:
		return max(l.Waiting, slices.Max(o.Retry.Backoff))
	case conv.TimerProcessing:
		return l.Processing
	case conv.TimerTool:
		return l.Tool
	case conv.TimerTask:
		return l.Task
	case conv.TimerFeedback:
		return l.Feedback[len(l.Feedback)-1].After
	case conv.TimerHeartbeat:
		return l.Heartbeat
	case conv.TimerSpeaking:
		return l.Speaking
	case conv.TimerPlayout:
		return l.PlayoutStall
	case conv.TimerInterrupted:
		return l.Interrupted
	case conv.TimerBarge:
		return max(o.BargeIn.Reply.ResumeAfter, o.BargeIn.Reply.MaxFiltered, o.BargeIn.Greeting.ResumeAfter)
	case conv.TimerSuspended:
		return l.Suspended
	case conv.TimerGrace:
		return l.Grace
	case conv.TimerReconnect:
		return slices.Max(o.Retry.Reconnect)
	case conv.TimerReconnectLimit:
		return l.Reconnect
	case conv.TimerFault:
		return l.Error
	case conv.TimerBreaker:
		return l.BreakerCooldown
	case conv.TimerForget:
		return l.BreakerWindow
	case conv.TimerWarning, conv.TimerSession:
		return l.Session
	case conv.TimerRelease:
		return l.Release
	case conv.TimerInactivity, conv.TimerDeadAir:
		return l.Inactivity
	default:
		panic(fmt.Sprintf("explore: unexpected timer %v", t))
	}
}
