// Package convtest provides the scenario language for tests of package conv, and
// checks of invariants that hold for every step. It is for tests only.
//
// A scenario is a golden file of github.com/cockroachdb/datadriven: a comment gives
// the reason, commands the input, and the text below "----" is the machine's
// output. `go test ./conv -run Scenarios -rewrite` rewrites the output; every
// changed line must be justified.
//
// The commands:
//
//	new [key=value]...      a new conversation; further options one per line below it
//	reach PHASE             a new conversation with the same options, led to PHASE
//	begin                   user.start, session.ready, audio.ready
//	step                    events, one per line, see below
//	expect                  assertions, one per line, see below
//	history                 what was said and heard
//	timers                  the armed deadlines
//	recent                  the last transitions (at most 20)
//	snapshot                the snapshot as JSON
//
// An event line is "[when] type [field=value]...": when is "+500ms" after the
// previous event, "@2s" since the beginning, or absent for the same instant; a
// value may be quoted with " or '; a field without a value is true. The JSON lines
// of `hocket step` are accepted too. "wait 3s" only lets time pass. A deadline
// before the next event fires first and is shown.
//
// Options are named by their JSON path ("limits.waiting=2s"); "barge_in=words" sets
// the profile of replies, "barge_in=seeds" the preset in all of them,
// "dead_air=off" disables check-ins.
//
// Assertions are separate from the golden output because a golden file is rewritten
// as a whole, and invariants must not change with it:
//
//	phase PHASE                       the current phase
//	view NAME STATE                   a view's current state
//	path PHASE > PHASE ...            the phases since the last expect, in order
//	within TIME PHASE > PHASE         from entering the one to entering the other
//	leads EVENT > PHASE               an event entered the phase in its own step
//	entered PHASE on CAUSE turn N     the last entry of the phase
//	effect TYPE [=N] [field=value]... number of such effects since the last expect
//	                                  (without a number: at least one)
//	no TYPE [field=value]...          no such effect since the last expect
//	turn N KIND                       the last event of turn N is KIND
//	late N                            number of events dropped since the last expect
//	said ROLE "TEXT"                  the last item of the role in the history
//	never "TEXT"                      no item of the history contains the text
//	calls N                           calls without a result
//	armed TIMER | idle TIMER          a deadline is armed, or is not
//	context JSON                      the context that was set
//	words "TEXT"                      the words of the user's open turn
//
// Every scenario is also run in other ways that must give the same result: its
// trace is written by package journal and replayed; it is snapshotted and restored
// in the middle, and after each step. Each step of each run is checked against the
// invariants of [Checker].
package convtest
