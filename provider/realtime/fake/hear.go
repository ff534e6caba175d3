package fake

import (
	"context"
	"time"

	"github.com/hocketvoice/hocket/audio"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// vad detects the user's turns in the sound that is appended.
type vad struct {
	at    time.Duration // the sound so far
	loud  time.Duration // how long the voice has been heard without a pause
	quiet time.Duration // how long it has been silent
	item  string        // of the turn; empty: no voice is heard
}

const (
	minLoud   = 40 * time.Millisecond
	threshold = 0.01 // root mean square
)

// hear takes sound of the user.
func (se *session) hear(ctx context.Context, b []byte) *wire.Error {
	se.mu.Lock()
	format, turn := se.state.Input.Format, se.state.Input.TurnDetection
	se.buffer += len(b)
	se.mu.Unlock()
	var pcm []int16
	switch format.Type {
	case wire.PCMU:
		pcm = audio.MuLaw.AppendDecode(nil, b)
	case wire.PCMA:
		pcm = audio.ALaw.AppendDecode(nil, b)
	default:
		for ; len(b) > 1; b = b[2:] {
			pcm = append(pcm, int16(uint16(b[0])|uint16(b[1])<<8))
		}
	}
	step := format.SampleRate() / 50 // 20 ms
	for ; len(pcm) > 0; pcm = pcm[min(step, len(pcm)):] {
		if bad := se.frame(ctx, pcm[:min(step, len(pcm))], format.SampleRate(), turn); bad != nil {
			return bad
		}
	}
	return nil
}

func (se *session) frame(ctx context.Context, pcm []int16, rate int, turn *wire.TurnDetection) *wire.Error {
	took := audio.Pos(len(pcm)).Duration(rate)
	se.mu.Lock()
	v := &se.vad
	v.at += took
	if audio.RMS(pcm) > threshold {
		v.loud, v.quiet = v.loud+took, 0
	} else {
		v.loud, v.quiet = 0, v.quiet+took
	}
	silence, lead := 500*time.Millisecond, 300*time.Millisecond
	if turn != nil && turn.Type == wire.ServerVAD {
		silence = time.Duration(turn.SilenceDurationMS) * time.Millisecond
		lead = time.Duration(turn.PrefixPaddingMS) * time.Millisecond
	}
	began := turn != nil && v.item == "" && v.loud >= minLoud
	ended := turn != nil && v.item != "" && v.quiet >= silence
	at, item := v.at, v.item
	start := max(0, at-v.loud-lead)
	se.mu.Unlock()
	switch {
	case began:
		item = se.id("item")
		se.mu.Lock()
		se.vad.item = item
		active := se.active
		se.mu.Unlock()
		se.tell(ctx, wire.SpeechStarted{AudioStartMS: int(start.Milliseconds()), ItemID: item})
		if active != nil && (turn.InterruptResponse || se.server.Rude) {
			active.stop("turn_detected")
		}
	case ended:
		se.mu.Lock()
		se.vad.item = ""
		se.mu.Unlock()
		se.tell(ctx, wire.SpeechStopped{AudioEndMS: int(at.Milliseconds()), ItemID: item})
		if bad := se.commit(ctx, item); bad != nil {
			return bad
		}
		if turn.CreateResponse || se.server.Rude {
			_ = se.respond(ctx, wire.CreateParams{}) // the vendor gives no error if an answer is active
		}
	}
	return nil
}

// commit makes the sound so far an item. The caller is the detector if item is not empty.
func (se *session) commit(ctx context.Context, item string) *wire.Error {
	se.mu.Lock()
	format, transcribes := se.state.Input.Format, se.state.Input.Transcription != nil
	perMS := format.SampleRate() / 1000
	if format.Type == wire.PCM {
		perMS *= 2
	}
	ms := se.buffer / perMS
	se.mu.Unlock()
	if ms < 100 {
		return wire.Invalid(wire.CodeCommitEmpty, "", "Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has %d.00ms of audio.", ms)
	}
	if item == "" {
		item = se.id("item")
	}
	se.mu.Lock()
	se.buffer = 0
	var previous *string
	if n := len(se.items); n > 0 {
		id := se.items[n-1].ID
		previous = &id
	}
	se.mu.Unlock()
	se.tell(ctx, wire.AudioCommitted{PreviousItemID: previous, ItemID: item})
	it := wire.Item{ID: item, Type: wire.Message, Status: wire.Completed, Role: "user", Content: []wire.Content{{Type: wire.InputAudio}}}
	se.add(ctx, it, true)
	words := se.server.turn()
	if !transcribes {
		return nil
	}
	se.work.Go(func() {
		if !sleep(ctx, se.server.Late) {
			return
		}
		if words == "!" { // the test wants it to fail
			se.tell(ctx, wire.TranscriptionFailed{ItemID: item, Code: "audio_unintelligible", Message: "The audio could not be transcribed."})
			return
		}
		for piece := range pieces(words, 12) {
			se.tell(ctx, wire.TranscriptionDelta{ItemID: item, Delta: piece})
		}
		if it, ok := se.find(item); ok {
			it = it.Clone()
			it.Content[0].Transcript = &words
			se.set(it)
		}
		se.tell(ctx, wire.TranscriptionCompleted{ItemID: item, Transcript: words, Seconds: float64(ms) / 1000})
	})
	return nil
}
