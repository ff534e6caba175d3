package conv

import (
	"fmt"

	"github.com/hocketvoice/hocket/conv/view"
)

// Views returns the state as each of the seeds names it.
func (s *State) Views() view.Views {
	return view.Views{
		AgentVoice:  agentVoiceOf(s.Phase),
		Amplifier:   s.amplifier(s.Phase),
		EasyTurn:    easyTurnOf(s.Phase),
		Interaction: s.interaction(s.Phase),
	}
}

func agentVoiceOf(p Phase) view.AgentVoice {
	switch p {
	case Idle:
		return view.AgentVoiceIdle
	case Preparing:
		return view.AgentVoicePreparing
	case ListeningReady, ListeningCapturing:
		return view.AgentVoiceListening
	case Understanding, Generating, ToolRunning:
		return view.AgentVoiceProcessing
	case Waiting, Delegated:
		return view.AgentVoiceWaitingForCopilot
	case Speaking:
		return view.AgentVoiceSpeaking
	case Interrupted:
		return view.AgentVoiceInterrupted
	case Suspended, Reconnecting:
		return view.AgentVoiceSuspended
	case Faulted:
		return view.AgentVoiceFaulted
	case Terminating:
		return view.AgentVoiceTerminating
	default:
		panic(fmt.Sprintf("conv: unexpected phase %v", p))
	}
}

func (s *State) amplifier(p Phase) view.Amplifier {
	switch p {
	case Idle, Terminating:
		return view.AmplifierNone
	case Preparing:
		switch {
		case s.Session.Alive():
			return view.AmplifierIdle
		case s.Session.Life == sessionOver:
			return view.AmplifierReconnecting
		default:
			return view.AmplifierNone
		}
	case ListeningReady:
		return view.AmplifierIdle
	case ListeningCapturing:
		return view.AmplifierListening
	case Understanding, Waiting, Generating:
		return view.AmplifierProcessing
	case ToolRunning:
		return view.AmplifierToolExecuting
	case Delegated:
		return view.AmplifierWaitingAmplifier
	case Speaking:
		return view.AmplifierSpeaking
	case Interrupted:
		if s.Floor.BrokeIn {
			return view.AmplifierListening
		}
		return view.AmplifierIdle
	case Suspended:
		return s.amplifier(s.Before)
	case Reconnecting:
		return view.AmplifierReconnecting
	case Faulted:
		return view.AmplifierError
	default:
		panic(fmt.Sprintf("conv: unexpected phase %v", p))
	}
}

func easyTurnOf(p Phase) view.EasyTurn {
	switch p {
	case Idle, Preparing, Suspended, Reconnecting, Faulted, Terminating:
		return view.EasyTurnIdle
	case ListeningReady, ListeningCapturing:
		return view.EasyTurnListening
	case Understanding, Waiting, Generating, ToolRunning, Delegated:
		return view.EasyTurnProcessing
	case Speaking:
		return view.EasyTurnSpeaking
	case Interrupted:
		return view.EasyTurnInterrupted
	default:
		panic(fmt.Sprintf("conv: unexpected phase %v", p))
	}
}

func (s *State) interaction(p Phase) view.Interaction {
	switch p {
	case Speaking:
		return view.InteractionSpeaking
	case Interrupted:
		return view.InteractionInterrupted
	case ListeningReady, ListeningCapturing, Understanding, Waiting, Generating, ToolRunning, Delegated:
		if s.Floor.Barged != 0 {
			return view.InteractionInterrupted
		}
		return view.InteractionIdle
	case Suspended:
		return s.interaction(s.Before)
	case Idle, Preparing, Reconnecting, Faulted, Terminating:
		return view.InteractionIdle
	default:
		panic(fmt.Sprintf("conv: unexpected phase %v", p))
	}
}
