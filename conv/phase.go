package conv

import "fmt"

// Phase is the first region of the machine: what the conversation is doing.
type Phase uint8

// The phases. A dotted name in [Phase.String] is a sub-phase of the state
// before the dot.
const (
	// Idle: there is no conversation.
	Idle Phase = iota
	// Preparing: the session lives or is being made, the audio is being primed.
	Preparing
	// ListeningReady: the microphone is open and nobody speaks.
	ListeningReady
	// ListeningCapturing: the user has the floor, speaking or paused before the
	// end of the turn.
	ListeningCapturing
	// Understanding: the user's turn has ended; the final transcript and what it
	// asks for are being worked out.
	Understanding
	// Waiting: a request is out and nothing has come back.
	Waiting
	// Generating: the reply is arriving, no audio of it has played yet.
	Generating
	// ToolRunning: a quick tool runs.
	ToolRunning
	// Delegated: a long-running agent works.
	Delegated
	// Speaking: the agent's audio plays.
	Speaking
	// Interrupted: the short pause after a barge-in.
	Interrupted
	// Suspended: a planned pause; the phase before is remembered.
	Suspended
	// Reconnecting: the connection or the session was lost; the context is kept.
	Reconnecting
	// Faulted: something failed; recovery or the end follows.
	Faulted
	// Terminating: everything is being released.
	Terminating

	numPhases = iota
)

var phaseNames = [numPhases]string{
	Idle:               "idle",
	Preparing:          "preparing",
	ListeningReady:     "listening.ready",
	ListeningCapturing: "listening.capturing",
	Understanding:      "processing.understanding",
	Waiting:            "processing.waiting",
	Generating:         "processing.generating",
	ToolRunning:        "processing.tool",
	Delegated:          "processing.delegated",
	Speaking:           "speaking",
	Interrupted:        "interrupted",
	Suspended:          "suspended",
	Reconnecting:       "reconnecting",
	Faulted:            "faulted",
	Terminating:        "terminating",
}

// String is the phase's name on every wire: "processing.waiting".
func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return fmt.Sprintf("phase(%d)", uint8(p))
}

// Phases returns every phase in its fixed order.
func Phases() []Phase {
	all := make([]Phase, numPhases)
	for i := range all {
		all[i] = Phase(i)
	}
	return all
}

// ParsePhase is the inverse of [Phase.String].
func ParsePhase(name string) (Phase, error) {
	for i, n := range phaseNames {
		if n == name {
			return Phase(i), nil
		}
	}
	return 0, fmt.Errorf("unknown phase %q", name)
}

// MarshalText writes the phase's name.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a phase's name.
func (p *Phase) UnmarshalText(b []byte) error {
	parsed, err := ParsePhase(string(b))
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}

// Listening reports whether the microphone is open and the agent is silent.
func (p Phase) Listening() bool { return p == ListeningReady || p == ListeningCapturing }

// Active reports whether the conversation is going on and undisturbed: from
// preparing to interrupted.
func (p Phase) Active() bool { return p >= Preparing && p <= Interrupted }

type phaseSet uint16

func setOf(phases ...Phase) phaseSet {
	var s phaseSet
	for _, p := range phases {
		s |= 1 << p
	}
	return s
}

func (s phaseSet) has(p Phase) bool { return s&(1<<p) != 0 }

// successors is the one phase graph that fits all the seeds' tables. A step
// that leaves it is a bug of the machine, which package internal/explore would
// have found; becomePhase panics on it.
var successors = func() [numPhases]phaseSet {
	disturbed := setOf(Suspended, Reconnecting, Faulted, Terminating)
	listening := setOf(ListeningReady, ListeningCapturing)
	processing := setOf(Understanding, Waiting, Generating, ToolRunning, Delegated)
	active := setOf(Preparing, Speaking, Interrupted) | listening | processing
	return [numPhases]phaseSet{
		Idle:               setOf(Preparing),
		Preparing:          setOf(ListeningReady) | disturbed,
		ListeningReady:     setOf(ListeningCapturing, Understanding, Generating) | disturbed,
		ListeningCapturing: setOf(Understanding) | disturbed,
		Understanding:      setOf(Waiting, Generating, ToolRunning, Speaking) | listening | disturbed,
		Waiting:            setOf(Generating, ToolRunning, Speaking) | listening | disturbed,
		Generating:         setOf(Speaking, ToolRunning) | listening | disturbed,
		ToolRunning:        setOf(Understanding, Delegated) | disturbed,
		Delegated:          setOf(Understanding, ListeningReady) | disturbed,
		Speaking:           setOf(ListeningReady, Interrupted, ToolRunning) | disturbed,
		Interrupted:        listening | disturbed,
		Suspended:          active | setOf(Reconnecting, Faulted, Terminating),
		Reconnecting:       setOf(ListeningReady, Faulted, Terminating),
		Faulted:            setOf(Preparing, Reconnecting, Terminating),
		Terminating:        setOf(Idle),
	}
}()

// CanFollow reports whether the phase graph has an edge from p to next.
func (p Phase) CanFollow(next Phase) bool {
	return int(p) < numPhases && successors[p].has(next)
}
