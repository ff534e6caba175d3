package convtest

import (
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/conv"
)

// Beginning returns the script that leads a new conversation to listening.
func Beginning() []string {
	return []string{"user.start", "session.ready id=s1", "audio.ready"}
}

// Way returns a script that leads a new conversation, with any end-of-turn policy,
// to the phase. The greeting must be empty.
func Way(p conv.Phase) []string {
	then := func(way []string, lines ...string) []string { return slices.Concat(way, lines) }
	capturing := then(Beginning(), "+1s speech.started source=push_to_talk")
	understanding := then(capturing, `+900ms stt.partial text="book a flight"`, "turn.ended cause=manual")
	asked := then(understanding, `+100ms stt.final text="book a flight" confidence=0.9`)
	waiting := then(asked, "reply.requested")
	generating := then(waiting, `+200ms reply.delta text="Where to? I can book any train. "`)
	speaking := then(generating, "+100ms playout.started")
	switch p {
	case conv.Idle:
		return nil
	case conv.Preparing:
		return Beginning()[:2]
	case conv.ListeningReady:
		return Beginning()
	case conv.ListeningCapturing:
		return capturing
	case conv.Understanding:
		return understanding
	case conv.Waiting:
		return waiting
	case conv.Generating:
		return generating
	case conv.ToolRunning:
		return then(waiting, "+200ms tool.called id=a name=search")
	case conv.Delegated:
		return then(waiting, "+200ms tool.called id=c name=research long")
	case conv.Speaking:
		return speaking
	case conv.Interrupted:
		return then(speaking, "+300ms user.interrupt source=vad")
	case conv.Suspended:
		return then(Beginning(), "+1s session.renewal")
	case conv.Reconnecting:
		return then(Beginning(), "+1s connection.lost")
	case conv.Faulted:
		return then(Beginning(), "+1s fault code=UNKNOWN")
	case conv.Terminating:
		return then(Beginning(), "+1s user.stop")
	default:
		panic(fmt.Sprintf("convtest: unexpected phase %v", p))
	}
}

// Reach returns a run that is in the phase.
func Reach(p conv.Phase, o conv.Options, seen *Coverage) (*Run, error) {
	r, err := NewRun(o, nil, seen)
	if err != nil {
		return nil, err
	}
	for _, text := range Way(p) {
		l, err := ParseLine(text)
		if err == nil {
			_, err = r.Do(l)
		}
		if err != nil {
			return nil, fmt.Errorf("way to %v: %s: %w", p, text, err)
		}
	}
	if got := r.Conv.Phase(); got != p {
		return nil, fmt.Errorf("the way to %v leads to %v", p, got)
	}
	return r, nil
}
