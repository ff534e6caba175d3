// Package convtest is the scenario language in which the behaviour of package
// conv is written down, and the checks that hold for every step of it. It is
// for tests alone.
//
// A scenario is a golden file of github.com/cockroachdb/datadriven: a comment
// says why, commands say what, the output below "----" is what the machine did.
// `go test ./conv -run Scenarios -rewrite` writes the output; every changed line
// of it wants an explanation.
//
// The commands:
//
//	new [key=value]...      a new conversation; also one option a line below it
//	reach PHASE             a new conversation with the same options, led to PHASE
//	begin                   user.start, session.ready, audio.ready
//	step                    events, one a line, see below
//	expect                  assertions, one a line, see below
//	history                 what was said and heard
//	timers                  the armed deadlines
//	recent                  the last transitions (at most 20)
//	snapshot                the snapshot as JSON
//
// An event line is "[when] type [field=value]...": when is "+500ms" after the
// event before, "@2s" since the beginning, or nothing for the same instant; a
// value may be quoted with " or '; a field without a value is true. The JSON
// lines of `hocket step` are accepted too. "wait 3s" only lets time pass. A
// deadline that lies before the next event fires first and is shown.
//
// Options are named by their JSON path ("limits.waiting=2s"); "barge_in=words"
// stands for the profile of replies, "barge_in=seeds" for the preset in all of them,
// "dead_air=off" for no check-ins.
//
// An assertion stands beside the golden output because a golden file is
// rewritten in one stroke, and what is promised must not be. The words:
//
//	phase PHASE                       the phase now
//	view NAME STATE                   a view's state now
//	path PHASE > PHASE ...            the phases since the last expect, in order
//	within TIME PHASE > PHASE         from entering the one to entering the other
//	leads EVENT > PHASE               an event entered the phase in its own step
//	entered PHASE on CAUSE turn N     the last entry of the phase
//	effect TYPE [=N] [field=value]... how many such effects since the last expect
//	                                  (without a number: at least one)
//	no TYPE [field=value]...          no such effect since the last expect
//	turn N KIND                       the last event of turn N is KIND
//	late N                            facts dropped since the last expect
//	said ROLE "TEXT"                  the last item of the role in the history
//	never "TEXT"                      no item of the history contains the text
//	calls N                           calls without a result
//	armed TIMER | idle TIMER          a deadline is armed, or is not
//	words "TEXT"                      the words of the user's open turn
//
// Every scenario is run again in other ways, and must come out the same: its
// trace is written by package journal and replayed; it is snapshotted and
// restored in its middle, and after each of its steps. Each step of each run is
// held against the invariants of [Checker].
package convtest
