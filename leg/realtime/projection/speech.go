package projection

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file: the person's speech.

// spots are the moments of the appended sound at which the last stretches of
// speech began, or their turns ended: the machine's steps come later, and the
// sound may have gone on.
type spots struct {
	at   [32]spot
	next int
}

type spot struct{ utterance, ms int }

func (s *spots) note(utterance, ms int) {
	s.at[s.next] = spot{utterance, ms}
	s.next = (s.next + 1) % len(s.at)
}

// of is the moment of a stretch of speech, or otherwise.
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

// speech is the person's turn as the client sees it.
type speech struct {
	id          string // of the item that it becomes
	startMS     int
	first, last int // stretches of speech
	text        string
	partial     string
	quiet       bool      // over the agent's voice, and over
	stopped     bool      // the voice is silent
	wordsBy     time.Time // when its words are not waited for any longer; zero: they come with the end of a turn
}

// onsetTime is how long a voice is heard before it counts as one.
const onsetTime = 80 * time.Millisecond

// speechStarted: a voice.
func (p *Projection) speechStarted(e conv.SpeechStarted) {
	if !p.Detects() {
		return
	}
	p.idleAt = time.Time{}
	if s := p.speech; s != nil && !s.quiet {
		s.last, s.stopped = e.Utterance, false // the same turn goes on
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

// slack lets the end of a turn come first, which the uplink finds at the same moment.
const slack = 60 * time.Millisecond

// speechStopped: the voice is silent, and is over when it stays so. Over the agent's voice
// no turn of the person's ends, for none is open; what was said is an item all the same.
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

// endSpeech forgets the voice that is heard.
func (p *Projection) endSpeech() { p.speech, p.stopMS, p.stopAt = nil, 0, time.Time{} }

// silencePassed: the voice has been silent for as long as was configured. That is told,
// whatever the machine still waits for.
func (p *Projection) silencePassed() {
	p.stopMS = 0
	p.commitSpeech()
}

// semantic reports whether the words decide when a turn has ended.
func (p *Projection) semantic() bool {
	return p.Detects() && p.session.Input.TurnDetection.Type == wire.SemanticVAD
}

// patience is how long a turn goes on without a voice where the words decide.
func (p *Projection) patience() time.Duration {
	_, most := Patience(p.session.Input.TurnDetection.Eagerness)
	return most
}

// soundGoesOn waits for the next sound of a voice: a client may stop to send in the midst
// of it, and what ends a turn by its words ends it then too.
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

// wordsPassed gives up the words of what was said when the machine has no turn for them.
func (p *Projection) wordsPassed() {
	for _, s := range slices.Clone(p.written) {
		switch {
		case !p.passed(s.wordsBy):
		case p.userOpen:
			s.wordsBy = p.at.Now.Add(wordsTime) // they come with its end
		default:
			p.overWritten(s)
		}
	}
}

// wordsTime is how long the words are waited for of what was said outside of a turn: a
// little longer than the uplink waits for the recognizer.
const wordsTime = 3 * time.Second

// overWritten tells the words of what was said over the agent's voice.
func (p *Projection) overWritten(s *speech) {
	if s == p.speech {
		p.commitSpeech()
	}
	p.written = slices.DeleteFunc(p.written, func(other *speech) bool { return other == s })
	p.speechWritten(s)
}

// speechOf is the turn that a stretch of speech belongs to.
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

// commitSpeech makes an item of the person's turn.
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

// speechWritten: all words of the turn are known that ever will be.
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

// wordsKnown tells what the person said in an item, or why nobody knows. An item that
// the client has deleted has no words any more.
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
