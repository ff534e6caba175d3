package conv

import "fmt"

// Phase is the first region of the machine: what the conversation is doing.
type Phase uint8

// The phases. In the name that [Phase.String] returns, the part before a dot is the state of
// which the phase is a part.
const (
	Idle               Phase = iota // no conversation is in progress
	Preparing                       // the session and the audio are being made ready
	ListeningReady                  // the microphone is open and nobody speaks
	ListeningCapturing              // the user has the floor: speaks, or is silent before the end of the turn
	Understanding                   // the user's turn has ended; its final transcript or its meaning is awaited
	Waiting                         // a request is sent and nothing has come back
	Generating                      // the reply arrives and none of its audio has played
	ToolRunning                     // a quick tool runs
	Delegated                       // a delegated agent works
	Speaking                        // the agent's audio plays
	Interrupted                     // the short pause after a barge-in
	Suspended                       // a planned pause; the machine returns to the phase before it
	Reconnecting                    // the connection or the session was lost and is being restored
	Faulted                         // something failed; the machine recovers or ends the conversation
	Terminating                     // everything is being released

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

// String returns the name of the phase in snapshots, traces and protocols, such as
// "processing.waiting".
func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return fmt.Sprintf("phase(%d)", uint8(p))
}

// Phases returns all phases, in the order of the constants.
func Phases() []Phase {
	all := make([]Phase, numPhases)
	for i := range all {
		all[i] = Phase(i)
	}
	return all
}

// ParsePhase returns the phase with the name that [Phase.String] returns. An unknown name is
// an error.
func ParsePhase(name string) (Phase, error) {
	for i, n := range phaseNames {
		if n == name {
			return Phase(i), nil
		}
	}
	return 0, fmt.Errorf("unknown phase %q", name)
}

// MarshalText implements [encoding.TextMarshaler]. It returns the name of the phase.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It reads the name of a phase.
func (p *Phase) UnmarshalText(b []byte) error {
	parsed, err := ParsePhase(string(b))
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}

// Listening reports whether the phase is ListeningReady or ListeningCapturing.
func (p Phase) Listening() bool { return p == ListeningReady || p == ListeningCapturing }

// Active reports whether the conversation is in progress and undisturbed: whether the phase is
// one of Preparing to Interrupted.
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

// successors is the graph of the phases, which agrees with the tables of all seeds. record
// panics on a transition outside the graph: it is a bug of the machine that package
// internal/explore should have found.
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
