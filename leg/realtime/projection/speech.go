package projection

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file handles the person's speech.

// spots records the positions in the sound at which the last utterances began or ended.
// The machine's steps follow later, when more sound may have been heard.
type spots struct {
	at   [32]spot
	next int
}

type spot struct{ utterance, ms int }

func (s *spots) note(utterance, ms int) {
	s.at[s.next] = spot{utterance, ms}
	s.next = (s.next + 1) % len(s.at)
}

// of returns the position of an utterance, or otherwise if it is not known.
func (s *spots) of(utterance, otherwise int) int {
	for i := range s.at {
		if s.at[i].utterance == utterance && utterance != 0 {
			return s.at[i].ms
		}
	}
	return otherwise
}

func (p *Projection) voiceNoted(in VoiceNoted) {
	if in.Ended {
		p.ends.note(in.Utterance, p.at.Heard)
	} else {
		p.starts.note(in.Utterance, p.at.Heard)
	}
}

// speech is the person's turn as seen by the client.
type speech struct {
	id          string // of its item
	startMS     int
	first, last int // the first and the last utterance
	text        string
	partial     string
	quiet       bool      // it was spoken over the agent's voice, and has ended
	stopped     bool      // the voice is silent
	wordsBy     time.Time // when to stop waiting for its words if the machine has no turn for them; zero before it is committed
}

// onsetTime is how long a voice must last before it is reported.
const onsetTime = 80 * time.Millisecond

// speechStarted handles the beginning of an utterance.
func (p *Projection) speechStarted(e conv.SpeechStarted) {
	if !p.Detects() {
		return
	}
	p.idleAt = time.Time{}
	if s := p.speech; s != nil && !s.quiet {
		s.last, s.stopped = e.Utterance, false // the same turn continues
		p.stopMS, p.stopAt = 0, time.Time{}
		return
	}
	p.commitSpeech()
	at := p.starts.of(e.Utterance, p.at.Heard)
	pad := 0
	if t := p.session.Input.TurnDetection; t.Type == wire.ServerVAD {
		pad = t.PrefixPaddingMS
	}
	s := &speech{
		id: p.newID("item"), startMS: max(0, at-int(onsetTime.Milliseconds())-pad), first: e.Utterance, last: e.Utterance,
	}
	p.speech = s
	p.send(wire.SpeechStarted{AudioStartMS: s.startMS, ItemID: s.id})
}

// slack is added to the configured silence, so that the end of the turn, which the
// uplink detects at the same moment, is handled first.
const slack = 60 * time.Millisecond

// speechStopped handles the end of an utterance. Words spoken over the agent's voice
// end no turn, since the person has none, but become an item as well.
func (p *Projection) speechStopped(e conv.SpeechStopped, st *conv.State) {
	s := p.speechOf(e.Utterance)
	if s == nil || e.Utterance != s.last || !p.Detects() {
		return
	}
	s.stopped = true
	switch t := p.session.Input.TurnDetection; {
	case s != p.speech:
	case t.Type == wire.SemanticVAD:
		p.stopAt = p.at.Now.Add(p.patience())
	default:
		rest := time.Duration(t.SilenceDurationMS)*time.Millisecond - p.o.Stopped
		p.stopMS = p.at.Heard + int((max(rest, 0) + slack).Milliseconds())
	}
	if st.User.Turn != 0 || !st.Audible() {
		return
	}
	if s.quiet = true; p.o.Deaf {
		p.overWritten(s)
	}
}

// endSpeech forgets the current turn.
func (p *Projection) endSpeech() { p.speech, p.stopMS, p.stopAt = nil, 0, time.Time{} }

// silencePassed commits the turn after the configured silence, even if the machine is
// still waiting for something.
func (p *Projection) silencePassed() {
	p.stopMS = 0
	p.commitSpeech()
}

// semantic reports whether the words decide when a turn ends.
func (p *Projection) semantic() bool {
	return p.Detects() && p.session.Input.TurnDetection.Type == wire.SemanticVAD
}

// patience returns the silence after which a turn ends in any case under semantic_vad.
func (p *Projection) patience() time.Duration {
	_, most := Patience(p.session.Input.TurnDetection.Eagerness)
	return most
}

// soundGoesOn restarts the wait for the end of a turn when sound arrives: a client may
// stop sending while the person speaks, and the turn must then end too.
func (p *Projection) soundGoesOn() {
	if s := p.speech; s != nil && !s.stopped && p.semantic() {
		p.stopAt = p.at.Now.Add(p.patience())
	}
}

// patiencePassed ends a turn that its words have not ended.
func (p *Projection) patiencePassed() {
	p.stopAt = time.Time{}
	if s := p.speech; s != nil && p.semantic() {
		p.commitSpeech()
		p.post(conv.TurnEnded{Utterance: s.last, Cause: "semantic"})
	}
}

// wordsPassed stops waiting for the words of speech for which the machine has no turn.
func (p *Projection) wordsPassed() {
	for _, s := range slices.Clone(p.written) {
		switch {
		case !p.passed(s.wordsBy):
		case p.userOpen:
			s.wordsBy = p.at.Now.Add(wordsTime) // the words arrive with the end of the turn
		default:
			p.overWritten(s)
		}
	}
}

// wordsTime limits the wait for the words of speech outside of a turn. It is a little
// longer than the uplink waits for the recognizer.
const wordsTime = 3 * time.Second

// overWritten completes a turn that was spoken over the agent's voice.
func (p *Projection) overWritten(s *speech) {
	if s == p.speech {
		p.commitSpeech()
	}
	p.written = slices.DeleteFunc(p.written, func(other *speech) bool { return other == s })
	p.speechWritten(s)
}

// speechOf returns the turn that an utterance belongs to, or nil.
func (p *Projection) speechOf(utterance int) *speech {
	if s := p.speech; s != nil && (utterance == 0 || utterance >= s.first) {
		return s
	}
	for _, s := range p.written {
		if utterance >= s.first && utterance <= s.last {
			return s
		}
	}
	return nil
}

func (p *Projection) speechFinal(e conv.STTFinal) {
	s := p.speechOf(e.Utterance)
	if s == nil {
		return
	}
	s.partial = ""
	if s.text != "" && e.Text != "" {
		s.text += " "
	}
	s.text += e.Text
	if s.quiet {
		p.overWritten(s)
	}
}

// commitSpeech ends the person's turn and adds its item.
func (p *Projection) commitSpeech() {
	s := p.speech
	if s == nil {
		return
	}
	p.endSpeech()
	s.wordsBy = p.at.Now.Add(wordsTime)
	end := max(p.ends.of(s.last, p.at.Heard), s.startMS)
	p.send(wire.SpeechStopped{AudioEndMS: end, ItemID: s.id})
	it := p.addSpoken(s.id, time.Duration(end-s.startMS)*time.Millisecond)
	it.spoken, it.waiting = true, true
	p.uncommitted = 0
	p.written = append(p.written, s)
}

// speechWritten completes a turn with the words known so far.
func (p *Projection) speechWritten(s *speech) {
	text := s.text
	if s.partial != "" {
		if text != "" {
			text += " "
		}
		text += s.partial
	}
	p.wordsKnown(s.id, text, "")
}

// wordsKnown sets the words of the person's item, or reports why they are unknown. It
// does nothing for an item that the client has deleted.
func (p *Projection) wordsKnown(id, text, failure string) {
	it := p.items.find(id)
	if it == nil {
		p.maybeCreate()
		return
	}
	it.waiting = false
	for i := range it.Content {
		if part := &it.Content[i]; part.Type == wire.InputAudio && part.Transcript == nil {
			part.Transcript = &text
		}
	}
	switch {
	case p.session.Input.Transcription == nil && p.session.Type != wire.TypeTranscription:
	case failure != "":
		p.send(wire.TranscriptionFailed{ItemID: it.ID, Code: "transcription_failed", Message: failure})
	default:
		if text != "" {
			p.send(wire.TranscriptionDelta{ItemID: it.ID, Delta: text})
		}
		p.send(wire.TranscriptionCompleted{ItemID: it.ID, Transcript: text, Seconds: it.length.Seconds()})
	}
	p.maybeCreate()
}
