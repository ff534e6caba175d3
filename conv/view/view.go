package view

import (
	"fmt"
	"slices"
)

// Views contains the state of a conversation as each of the seeds names it.
type Views struct {
	AgentVoice  AgentVoice  `json:"agent-voice"`
	Amplifier   Amplifier   `json:"amplifier"`
	EasyTurn    EasyTurn    `json:"easyturn"`
	Interaction Interaction `json:"interaction"`
}

// AgentVoice is the state of a conversation as seed 000 names it.
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

// Amplifier is the state of a conversation as seed 001 names it.
type Amplifier uint8

// The states of seed 001, section 2, and AmplifierNone for the time before the first session
// and after the conversation.
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

// EasyTurn is the state of a conversation as seed 002 names it (system state).
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

// Interaction is the state of a conversation as seed 004 names it.
type Interaction uint8

// The states of seed 004.
const (
	InteractionIdle Interaction = iota
	InteractionSpeaking
	InteractionInterrupted
)

var interactionNames = []string{"AGENT_IDLE", "AGENT_SPEAKING", "INTERRUPTED"}

// IsSpeaking returns the flag is_speaking of seed 004: whether the agent speaks.
func (v Interaction) IsSpeaking() bool { return v == InteractionSpeaking }

// Interrupted returns the flag interrupted of seed 004: whether the agent was interrupted.
func (v Interaction) Interrupted() bool { return v == InteractionInterrupted }

// String returns the name of the state in its seed.
func (v AgentVoice) String() string { return viewName(agentVoiceNames, int(v)) }

// String returns the name of the state in its seed.
func (v Amplifier) String() string { return viewName(amplifierNames, int(v)) }

// String returns the name of the state in its seed.
func (v EasyTurn) String() string { return viewName(easyTurnNames, int(v)) }

// String returns the name of the state in its seed.
func (v Interaction) String() string { return viewName(interactionNames, int(v)) }

// viewName returns the name of the state with the number i.
func viewName(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("state(%d)", i)
}

// MarshalText implements [encoding.TextMarshaler].
func (v AgentVoice) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalText implements [encoding.TextMarshaler].
func (v Amplifier) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalText implements [encoding.TextMarshaler].
func (v EasyTurn) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalText implements [encoding.TextMarshaler].
func (v Interaction) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *AgentVoice) UnmarshalText(b []byte) error { return readView(v, agentVoiceNames, b) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *Amplifier) UnmarshalText(b []byte) error { return readView(v, amplifierNames, b) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *EasyTurn) UnmarshalText(b []byte) error { return readView(v, easyTurnNames, b) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *Interaction) UnmarshalText(b []byte) error { return readView(v, interactionNames, b) }

// readView sets v to the state with the name b.
func readView[V ~uint8](v *V, names []string, b []byte) error {
	i := slices.Index(names, string(b))
	if i < 0 {
		return fmt.Errorf("unknown state %q: expected one of %v", b, names)
	}
	*v = V(i)
	return nil
}

// Name is the name of one of the four views, which are the fields of [Views].
type Name string

// The names of the views.
const (
	NameAgentVoice  Name = "agent-voice"
	NameAmplifier   Name = "amplifier"
	NameEasyTurn    Name = "easyturn"
	NameInteraction Name = "interaction"
)

// Names returns the names of the four views, in the order of the seeds.
func Names() []Name {
	return []Name{NameAgentVoice, NameAmplifier, NameEasyTurn, NameInteraction}
}

// States returns the names of all states of the view, in the order of the seed. An unknown view
// is an error. The caller must not change the result.
func (n Name) States() ([]string, error) {
	switch n {
	case NameAgentVoice:
		return agentVoiceNames, nil
	case NameAmplifier:
		return amplifierNames, nil
	case NameEasyTurn:
		return easyTurnNames, nil
	case NameInteraction:
		return interactionNames, nil
	default:
		return nil, fmt.Errorf("unknown view %q: expected one of %v", string(n), Names())
	}
}

// Of returns the name of the state that vs contains for the view n. It panics if n is not one of
// [Names].
func (n Name) Of(vs Views) string {
	switch n {
	case NameAgentVoice:
		return vs.AgentVoice.String()
	case NameAmplifier:
		return vs.Amplifier.String()
	case NameEasyTurn:
		return vs.EasyTurn.String()
	case NameInteraction:
		return vs.Interaction.String()
	default:
		panic(fmt.Sprintf("view: unexpected name %q", string(n)))
	}
}
