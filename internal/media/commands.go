package media

import (
	"fmt"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// This file implements the requests to the uplink.

// command is a request from another goroutine.
type command struct {
	kind   commandKind
	expect dialog.Expectation
	on     bool
	heard  int // the utterance that the dialogue has read
	answer turn.Completeness
	pause  int // the number of the pause that a model has heard
	score  float64
	stream *stream
	end    turn.Endpointer
	policy turn.Policy
	onset  turn.OnsetOptions
}

type commandKind uint8

const (
	commandListen commandKind = iota
	commandContinue
	commandFinalize
	commandExpect
	commandAnswer
	commandScore
	commandAudible
	commandPause
	commandRelease
	commandReplace
	commandConfigure
	commandDiscard
)

func (u *Uplink) ask(c command) {
	u.mu.Lock()
	u.commands = append(u.commands, c)
	u.mu.Unlock()
}

// Listen begins a user turn. Words heard before do not belong to it.
func (u *Uplink) Listen() { u.ask(command{kind: commandListen}) }

// Continue begins a user turn to which the words heard so far belong, because the user
// has answered before the agent had finished.
func (u *Uplink) Continue() { u.ask(command{kind: commandContinue}) }

// Finalize requests the final transcript of what was heard.
func (u *Uplink) Finalize() { u.ask(command{kind: commandFinalize}) }

// Release ends the turn with push-to-talk.
func (u *Uplink) Release() { u.ask(command{kind: commandRelease}) }

// Expect sets what the agent expects to hear.
func (u *Uplink) Expect(e dialog.Expectation) { u.ask(command{kind: commandExpect, expect: e}) }

// Answer sets whether the words of the turn, up to those of an utterance, are a complete answer.
// It holds until the next call or the end of the turn.
func (u *Uplink) Answer(utterance int, c turn.Completeness) {
	u.ask(command{kind: commandAnswer, heard: utterance, answer: c})
}

// Score sets the probability that the speaker has finished, for a pause that
// [UplinkOptions.Ask] was called for. If the speaker has gone on, it does nothing.
func (u *Uplink) Score(pause int, score float64) {
	u.ask(command{kind: commandScore, pause: pause, score: score})
}

// Audible sets whether the agent can be heard.
func (u *Uplink) Audible(on bool) { u.ask(command{kind: commandAudible, on: on}) }

// Pause pauses or resumes the capture.
func (u *Uplink) Pause(on bool) { u.ask(command{kind: commandPause, on: on}) }

// Configure changes the end-of-turn policy and the detection of speech. The new policy
// ends a turn that has already begun. Configure returns an error if an option is
// invalid.
func (u *Uplink) Configure(t turn.Options, o turn.OnsetOptions) error {
	t.Auto.Language = u.o.Language
	end, err := turn.New(t)
	if err == nil {
		err = o.Validate()
	}
	if err != nil {
		return fmt.Errorf("uplink: %w", err)
	}
	u.ask(command{kind: commandConfigure, end: end, policy: t.Policy, onset: o})
	return nil
}

// Discard drops everything heard of the user's turn, including speech that continues.
// Nothing of it is reported any more.
func (u *Uplink) Discard() { u.ask(command{kind: commandDiscard}) }

// Idle is called instead of Frame if the leg's frames are its clock and none has
// arrived. It handles requests and the recognizer's results. Its error is like that of
// Frame.
func (u *Uplink) Idle() error {
	u.obey()
	if !u.paused {
		u.collect()
	}
	err := u.err
	u.err = nil
	return err
}

// obey handles the requests of other goroutines.
func (u *Uplink) obey() {
	u.mu.Lock()
	u.obeyed, u.commands = u.commands, u.obeyed[:0]
	u.mu.Unlock()
	for i := range u.obeyed {
		switch c := &u.obeyed[i]; c.kind {
		case commandListen:
			u.listen()
		case commandContinue:
			u.ended, u.spoken = false, true
			u.endpointer.Reset()
		case commandFinalize:
			u.conclude()
		case commandExpect:
			u.expect(c.expect)
		case commandAnswer:
			u.noteAnswer(c.heard, c.answer)
		case commandScore:
			u.pauses.take(c.pause, c.score)
		case commandAudible:
			u.setAudible(c.on)
		case commandPause:
			u.paused = c.on
		case commandRelease:
			u.release()
		case commandReplace:
			u.retire(u.next) // it was never used
			u.next, c.stream = c.stream, nil
		case commandConfigure:
			u.endpointer, u.o.Turn.Policy = c.end, c.policy
			u.endpointer.Expect(turn.AdjustmentFor(u.expected.Kind))
			_ = u.onset.Configure(c.onset) // was validated
		case commandDiscard:
			u.onset.Reset()
			u.listen()
		}
	}
	u.replace()
}

// expect passes on what the agent expects to hear.
func (u *Uplink) expect(e dialog.Expectation) {
	u.endpointer.Expect(turn.AdjustmentFor(e.Kind))
	u.expected = port.Expectation{Kind: e.Kind, Phrases: e.Phrases}
	if u.recognizer != nil {
		u.recognizer.Expect(u.expected)
	}
}

// noteAnswer notes whether the words up to those of an utterance are a complete answer, unless the
// turn is over.
func (u *Uplink) noteAnswer(heard int, c turn.Completeness) {
	if heard >= u.ours {
		u.answer = c
	}
}

// setAudible notes whether the agent can be heard.
func (u *Uplink) setAudible(on bool) {
	// What was said over the agent may be the user's turn now.
	u.spoken = u.spoken || u.audible && !on && u.text != ""
	u.audible = on
}

// release ends the turn if a button does so.
func (u *Uplink) release() {
	if m, ok := u.endpointer.(*turn.Manual); ok {
		m.Release()
	}
}

// conclude provides the requested final transcript.
func (u *Uplink) conclude() {
	switch {
	case u.open:
		u.finalize()
	case len(u.asked) > 0:
		// It was requested before and is on its way.
	default:
		u.o.Post(conv.STTFinal{Utterance: u.utterance}) // there are no more words
	}
}

// listen begins a turn, unless the user is speaking and the turn has therefore begun.
func (u *Uplink) listen() {
	u.ended, u.spoken = false, u.onset.Speaking()
	u.endpointer.Reset()
	if u.spoken {
		return
	}
	if u.open {
		u.open = false
		u.check(u.recognizer.Discard())
	}
	u.forget(u.utterance + 1)
}
