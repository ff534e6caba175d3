package session

import (
	"context"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// This file is the ear of a speech-to-speech service: the service gets all sound, and detects the
// voices.

// hearing is the state of the ear. The mutex of the [upstream] guards it.
type hearing struct {
	to        *audio.Resampler // nil: the service has the rate of the leg
	rate      int              // of the service
	pcm       []int16          // scratch of Frame
	recent    *audio.Ring      // the sound of the last moments
	stream    port.UpstreamStream
	fresh     bool      // the stream has got no sound yet
	written   audio.Pos // of the sound that the stream has got
	utterance int       // number of the last stretch of speech
	voice     int       // the stretch of speech that is heard now; 0: none
	owed      int       // a stretch of speech that has ended over the agent's audio; 0: none
	unwritten int       // stretches of speech whose words are awaited
	paused    bool
	audible   bool
}

// carried is how much of the last sound a new session gets.
const carried = 500 * time.Millisecond

func (h *hearing) open(leg, service, utterance int) (err error) {
	h.rate, h.utterance = service, utterance
	if h.to, err = resampler(leg, service); err != nil {
		return err
	}
	h.recent, err = audio.NewRing(audio.RingOptions{Capacity: int(audio.PosOf(carried, service))})
	if err != nil {
		return fmt.Errorf("the ear of the speech-to-speech service: %w", err)
	}
	return nil
}

// idle reports whether no voice is heard and no words are awaited.
func (h *hearing) idle() bool { return h.voice == 0 && h.unwritten == 0 }

// moved passes the sound from now on to another stream, which gets the last moments first, so that
// the beginning of a word is not lost.
func (h *hearing) moved(stream port.UpstreamStream) {
	h.stream, h.written, h.unwritten = stream, 0, 0
	h.fresh = h.voice == 0 // else the sound belongs to a turn that the new session does not know
}

// Frame passes the next 20 ms to the service.
func (u *upstream) Frame(f audio.Frame, _ float64) error {
	u.mu.Lock()
	h := &u.hearing
	if h.paused {
		u.mu.Unlock()
		return nil
	}
	pcm := f.PCM
	if h.to != nil {
		h.pcm = h.to.Append(h.pcm[:0], f.PCM)
		pcm = h.pcm
	}
	stream, at := h.stream, h.written
	if stream != nil && h.fresh {
		h.fresh = false
		last := make([]int16, h.recent.Len())
		pcm = append(last[:h.recent.CopyAt(last, h.recent.Pos())], pcm...)
		h.recent.Overwrite(pcm[len(last):])
	} else {
		h.recent.Overwrite(pcm)
	}
	h.written += audio.Pos(len(pcm))
	u.mu.Unlock()
	for step := audio.FrameSamples(h.rate); stream != nil && len(pcm) > 0; {
		n := min(step, len(pcm))
		// Outside of the mutex: a service in process may answer at once. One that has ended says
		// so by itself.
		_ = stream.Write(audio.Frame{Pos: at, Rate: h.rate, PCM: pcm[:n]})
		at, pcm = at+audio.Pos(n), pcm[n:]
	}
	return nil
}

// hear takes an event about the user's voice.
func (u *upstream) hear(l *link, e port.UpstreamEvent) {
	u.mu.Lock()
	h := &u.hearing
	var facts []conv.Event
	n, known := l.items[e.Item]
	switch {
	case l != u.link && !known:
		// The session is not in use yet, or not any more.
	case e.Kind == port.UpstreamVoice:
		h.utterance++
		n = h.utterance
		l.items[e.Item] = n
		h.voice, h.owed = n, 0
		h.unwritten++
		lag := max(h.written.Duration(h.rate)-e.At, 0)
		facts = append(facts, conv.SpeechStarted{Utterance: n, Source: conv.SourceVAD, Lag: lag})
	case e.Kind == port.UpstreamSilence && known:
		if h.voice == n {
			h.voice = 0
		}
		lag := max(h.written.Duration(h.rate)-e.At, 0)
		facts = append(facts, conv.SpeechStopped{Utterance: n, Source: conv.SourceVAD, Lag: lag})
		if h.audible {
			h.owed = n // what is said over the agent's audio is an interruption or is ignored
		} else {
			facts = append(facts, conv.TurnEnded{Utterance: n, Cause: conv.EndSilence})
		}
	case e.Kind == port.UpstreamHearing && known && e.Text != "":
		facts = append(facts, conv.STTPartial{Utterance: n, Text: e.Text, Confidence: 1})
	case e.Kind == port.UpstreamHeard && known:
		delete(l.items, e.Item)
		h.unwritten = max(h.unwritten-1, 0)
		facts = append(facts, conv.STTFinal{Utterance: n, Text: e.Text, Confidence: 1, Stability: 1})
	}
	u.mu.Unlock()
	if len(facts) > 0 {
		u.post(facts...)
	}
}

// Finalize ends the user's turn. Without a stretch of speech whose words are awaited, there are no
// more words.
func (u *upstream) Finalize() {
	u.mu.Lock()
	h := &u.hearing
	none := h.unwritten == 0 || h.stream == nil
	stream, n := h.stream, h.utterance
	u.mu.Unlock()
	if none {
		u.s.postFact(conv.STTFinal{Utterance: n})
		return
	}
	_ = stream.Commit() // a stream that has ended says so by itself
}

// Audible notes whether the agent is heard. A voice that has ended over its audio, and has
// interrupted it, has ended its turn.
func (u *upstream) Audible(on bool) {
	u.mu.Lock()
	h := &u.hearing
	h.audible = on
	var n int
	if !on {
		n, h.owed = h.owed, 0
	}
	u.mu.Unlock()
	if n != 0 {
		u.s.loop.Post(conv.TurnEnded{Utterance: n, Cause: conv.EndSilence})
	}
}

// Pause stops or starts the capture.
func (u *upstream) Pause(on bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.hearing.paused = on
}

// Discard drops what was said of the user's turn.
func (u *upstream) Discard() {
	u.mu.Lock()
	stream := u.hearing.stream
	u.mu.Unlock()
	if stream != nil {
		_ = stream.Discard() // a stream that has ended says so by itself
	}
}

// The service needs none of the following: it hears all sound, has its own rules for the end of
// a turn, and reports its end by itself.

// Idle does nothing.
func (*upstream) Idle() error { return nil }

// Listen does nothing.
func (*upstream) Listen() {}

// Continue does nothing.
func (*upstream) Continue() {}

// Expect does nothing.
func (*upstream) Expect(dialog.Expectation) {}

// Answer does nothing.
func (*upstream) Answer(int, turn.Completeness) {}

// Score does nothing.
func (*upstream) Score(int, float64) {}

// Configure does nothing.
func (*upstream) Configure(turn.Options, turn.OnsetOptions) error { return nil }

// Failed returns false.
func (*upstream) Failed() bool { return false }

// Renew does nothing.
func (*upstream) Renew(context.Context) error { return nil }

// Reopen does nothing.
func (*upstream) Reopen(context.Context) error { return nil }

// Close ends the sessions.
func (u *upstream) Close() error { return u.close() }
