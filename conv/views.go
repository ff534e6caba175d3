package conv

import (
	"fmt"
	"slices"
)

// Views is what each seed sees of the machine: pure functions of the state, in
// each seed's own words (DESIGN section 3).
type Views struct {
	AgentVoice  AgentVoice  `json:"agent-voice"`
	Amplifier   Amplifier   `json:"amplifier"`
	EasyTurn    EasyTurn    `json:"easyturn"`
	Interaction Interaction `json:"interaction"`
}

// AgentVoice is the state of seed 000.
type AgentVoice uint8

// The states of seed 000, REQ-001.
const (
	AgentVoiceIdle AgentVoice = iota
	AgentVoicePreparing
	AgentVoiceListening
	AgentVoiceProcessing
	AgentVoiceWaitingForCopilot
	AgentVoiceSpeaking
	AgentVoiceInterrupted
	AgentVoiceSuspended
	AgentVoiceFaulted
	AgentVoiceTerminating
)

var agentVoiceNames = []string{
	"idle", "preparing", "listening", "processing", "waitingForCopilot", "speaking",
	"interrupted", "suspended", "faulted", "terminating",
}

// Amplifier is the state of seed 001.
type Amplifier uint8

// The states of seed 001, section 2; none stands before the first session and
// after the end.
const (
	AmplifierNone Amplifier = iota
	AmplifierIdle
	AmplifierListening
	AmplifierProcessing
	AmplifierSpeaking
	AmplifierToolExecuting
	AmplifierWaitingAmplifier
	AmplifierError
	AmplifierReconnecting
)

var amplifierNames = []string{
	"none", "idle", "listening", "processing", "speaking", "tool_executing",
	"waiting_amplifier", "error", "reconnecting",
}

// EasyTurn is the system state of seed 002.
type EasyTurn uint8

// The system states of seed 002.
const (
	EasyTurnIdle EasyTurn = iota
	EasyTurnListening
	EasyTurnProcessing
	EasyTurnSpeaking
	EasyTurnInterrupted
)

var easyTurnNames = []string{"IDLE", "LISTENING", "PROCESSING", "SPEAKING", "INTERRUPTED"}

// Interaction is the state of seed 004.
type Interaction uint8

// The states of seed 004.
const (
	InteractionIdle Interaction = iota
	InteractionSpeaking
	InteractionInterrupted
)

var interactionNames = []string{"AGENT_IDLE", "AGENT_SPEAKING", "INTERRUPTED"}

// IsSpeaking is seed 004's flag is_speaking, derived.
func (v Interaction) IsSpeaking() bool { return v == InteractionSpeaking }

// Interrupted is seed 004's flag interrupted, derived.
func (v Interaction) Interrupted() bool { return v == InteractionInterrupted }

// String is the state's name in the seed.
func (v AgentVoice) String() string { return viewName(agentVoiceNames, int(v)) }

// String is the state's name in the seed.
func (v Amplifier) String() string { return viewName(amplifierNames, int(v)) }

// String is the state's name in the seed.
func (v EasyTurn) String() string { return viewName(easyTurnNames, int(v)) }

// String is the state's name in the seed.
func (v Interaction) String() string { return viewName(interactionNames, int(v)) }

func viewName(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("state(%d)", i)
}

// MarshalText writes the state's name.
func (v AgentVoice) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalText writes the state's name.
func (v Amplifier) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalText writes the state's name.
func (v EasyTurn) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalText writes the state's name.
func (v Interaction) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a state's name.
func (v *AgentVoice) UnmarshalText(b []byte) error { return readView(v, agentVoiceNames, b) }

// UnmarshalText reads a state's name.
func (v *Amplifier) UnmarshalText(b []byte) error { return readView(v, amplifierNames, b) }

// UnmarshalText reads a state's name.
func (v *EasyTurn) UnmarshalText(b []byte) error { return readView(v, easyTurnNames, b) }

// UnmarshalText reads a state's name.
func (v *Interaction) UnmarshalText(b []byte) error { return readView(v, interactionNames, b) }

func readView[V ~uint8](v *V, names []string, b []byte) error {
	i := slices.Index(names, string(b))
	if i < 0 {
		return fmt.Errorf("unknown state %q: expected one of %v", b, names)
	}
	*v = V(i)
	return nil
}

// View names one of the four views.
type View string

// The views.
const (
	ViewAgentVoice  View = "agent-voice"
	ViewAmplifier   View = "amplifier"
	ViewEasyTurn    View = "easyturn"
	ViewInteraction View = "interaction"
)

// AllViews are the views in their fixed order.
func AllViews() []View {
	return []View{ViewAgentVoice, ViewAmplifier, ViewEasyTurn, ViewInteraction}
}

// States are the view's states in the seed's order.
func (v View) States() ([]string, error) {
	switch v {
	case ViewAgentVoice:
		return agentVoiceNames, nil
	case ViewAmplifier:
		return amplifierNames, nil
	case ViewEasyTurn:
		return easyTurnNames, nil
	case ViewInteraction:
		return interactionNames, nil
	default:
		return nil, fmt.Errorf("unknown view %q: expected one of %v", string(v), AllViews())
	}
}

// Of is the view's state in vs, by name.
func (v View) Of(vs Views) string {
	switch v {
	case ViewAgentVoice:
		return vs.AgentVoice.String()
	case ViewAmplifier:
		return vs.Amplifier.String()
	case ViewEasyTurn:
		return vs.EasyTurn.String()
	case ViewInteraction:
		return vs.Interaction.String()
	default:
		panic(fmt.Sprintf("conv: unexpected view %q", string(v)))
	}
}

// Views computes all views of the state.
func (s *State) Views() Views {
	return Views{
		AgentVoice:  agentVoiceOf(s.Phase),
		Amplifier:   s.amplifier(s.Phase),
		EasyTurn:    easyTurnOf(s.Phase),
		Interaction: s.interaction(s.Phase),
	}
}

func agentVoiceOf(p Phase) AgentVoice {
	switch p {
	case Idle:
		return AgentVoiceIdle
	case Preparing:
		return AgentVoicePreparing
	case ListeningReady, ListeningCapturing:
		return AgentVoiceListening
	case Understanding, Generating, ToolRunning:
		return AgentVoiceProcessing
	case Waiting, Delegated:
		return AgentVoiceWaitingForCopilot
	case Speaking:
		return AgentVoiceSpeaking
	case Interrupted:
		return AgentVoiceInterrupted
	case Suspended, Reconnecting:
		return AgentVoiceSuspended
	case Faulted:
		return AgentVoiceFaulted
	case Terminating:
		return AgentVoiceTerminating
	default:
		panic(fmt.Sprintf("conv: unexpected phase %v", p))
	}
}

func (s *State) amplifier(p Phase) Amplifier {
	switch p {
	case Idle, Terminating:
		return AmplifierNone
	case Preparing:
		switch {
		case s.Session.Alive():
			return AmplifierIdle
		case s.Session.Life == SessionOver:
			return AmplifierReconnecting
		default:
			return AmplifierNone
		}
	case ListeningReady:
		return AmplifierIdle
	case ListeningCapturing:
		return AmplifierListening
	case Understanding, Waiting, Generating:
		return AmplifierProcessing
	case ToolRunning:
		return AmplifierToolExecuting
	case Delegated:
		return AmplifierWaitingAmplifier
	case Speaking:
		return AmplifierSpeaking
	case Interrupted:
		if s.Floor.BrokeIn {
			return AmplifierListening
		}
		return AmplifierIdle
	case Suspended:
		return s.amplifier(s.Before)
	case Reconnecting:
		return AmplifierReconnecting
	case Faulted:
		return AmplifierError
	default:
		panic(fmt.Sprintf("conv: unexpected phase %v", p))
	}
}

func easyTurnOf(p Phase) EasyTurn {
	switch p {
	case Idle, Preparing, Suspended, Reconnecting, Faulted, Terminating:
		return EasyTurnIdle
	case ListeningReady, ListeningCapturing:
		return EasyTurnListening
	case Understanding, Waiting, Generating, ToolRunning, Delegated:
		return EasyTurnProcessing
	case Speaking:
		return EasyTurnSpeaking
	case Interrupted:
		return EasyTurnInterrupted
	default:
		panic(fmt.Sprintf("conv: unexpected phase %v", p))
	}
}

func (s *State) interaction(p Phase) Interaction {
	switch p {
	case Speaking:
		return InteractionSpeaking
	case Interrupted:
		return InteractionInterrupted
	case ListeningReady, ListeningCapturing, Understanding, Waiting, Generating, ToolRunning, Delegated:
		if s.Floor.Barged != 0 {
			return InteractionInterrupted
		}
		return InteractionIdle
	case Suspended:
		return s.interaction(s.Before)
	case Idle, Preparing, Reconnecting, Faulted, Terminating:
		return InteractionIdle
	default:
		panic(fmt.Sprintf("conv: unexpected phase %v", p))
	}
}
