package media

import (
	"context"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// This file manages the recognizer's streams, its utterances and its failures.

// request is a request for a final transcript.
type request struct {
	utterance int
	at        audio.Pos
}

const (
	// finalPatience is how long a final transcript is awaited. The conversation does
	// not wait longer either. A later result of an engine that has lost one belongs to
	// the current speech.
	finalPatience = 2 * time.Second
	maxAsked      = 8 // stored requests
)

// stream is a stream of the recognizer with its number.
type stream struct {
	port.RecognizerStream
	number int
}

func (u *Uplink) openRecognizer(ctx context.Context) (*stream, error) {
	u.mu.Lock()
	u.opened++
	number := u.opened
	u.mu.Unlock()
	cfg := port.RecognizerConfig{Rate: recognizerRate, Language: u.o.Language}
	r, err := u.o.Recognizer.Open(ctx, cfg, func(t port.Transcript) { u.take(number, t) })
	if err != nil {
		return nil, fmt.Errorf("open the recognizer: %w", err)
	}
	return &stream{r, number}, nil
}

// Failed reports whether the recognizer has failed and was not replaced.
func (u *Uplink) Failed() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.failed
}

// Reopen replaces a failed recognizer by a new stream of the same engine, from the next
// frame on. It does nothing if the recognizer has not failed. It blocks until the
// engine has opened the stream, and must be called by one goroutine at a time.
func (u *Uplink) Reopen(ctx context.Context) error {
	failed := u.Failed()
	u.Tidy()
	if !failed {
		return nil
	}
	return u.Renew(ctx)
}

// Renew opens a new stream of the same engine, for engines that limit the duration of
// streams. The new stream replaces the current one when nothing is being recognized, so
// that no sound and no result is lost. Renew blocks until the engine has opened the
// stream, but does not wait for the replacement, which is reported by Retired. It must
// be called by one goroutine at a time.
func (u *Uplink) Renew(ctx context.Context) error {
	if u.o.Recognizer == nil {
		return nil
	}
	r, err := u.openRecognizer(ctx)
	if err != nil {
		return err
	}
	u.mu.Lock()
	shut := u.shut
	if !shut {
		u.failed = false
		u.commands = append(u.commands, command{kind: commandReplace, stream: r})
	}
	u.mu.Unlock()
	if shut {
		return r.Close()
	}
	return nil
}

// Tidy closes the streams that were replaced or have failed. It blocks like Renew.
func (u *Uplink) Tidy() {
	u.mu.Lock()
	old := u.retired
	u.retired = nil
	u.mu.Unlock()
	for _, r := range old {
		_ = r.Close() // the error does not matter
	}
}

// replace puts the new stream into use if nothing is being recognized.
func (u *Uplink) replace() {
	if u.next == nil || u.recognizer != nil && (u.open || len(u.asked) > 0 || u.onset.Speaking()) {
		return
	}
	old := u.recognizer
	u.recognizer, u.next = u.next, nil
	u.mu.Lock()
	u.serving = u.recognizer.number
	u.mu.Unlock()
	u.recognizer.Expect(u.expected)
	u.retire(old)
}

// retire marks a stream to be closed by Tidy.
func (u *Uplink) retire(r *stream) {
	if r == nil {
		return
	}
	u.mu.Lock()
	u.retired = append(u.retired, r)
	u.mu.Unlock()
	if u.o.Retired != nil {
		u.o.Retired()
	}
}

// take is the sink of a stream. It is safe for concurrent use. It ignores results of a
// replaced stream.
func (u *Uplink) take(number int, t port.Transcript) {
	u.mu.Lock()
	if number >= u.serving {
		u.results = append(u.results, t)
	}
	u.mu.Unlock()
}

// check records an error of the recognizer, which is then not used any more.
func (u *Uplink) check(err error) {
	if err == nil || u.recognizer == nil {
		return
	}
	u.err = fmt.Errorf("recognize: %w", err)
	u.open = false
	u.asked, u.overdue = u.asked[:0], 0
	u.mu.Lock()
	u.retired, u.failed = append(u.retired, u.recognizer), u.next == nil
	u.mu.Unlock()
	u.recognizer = nil
}

// give passes samples to the recognizer.
func (u *Uplink) give(pos audio.Pos, pcm []int16) {
	u.given = pos + audio.Pos(len(pcm))
	u.check(u.recognizer.Write(audio.Frame{Pos: pos, Rate: recognizerRate, PCM: pcm}))
}

// begin opens an utterance with the pre-roll, except for what was passed to the
// previous utterance.
func (u *Uplink) begin() {
	u.check(u.recognizer.Begin())
	if u.recognizer == nil {
		return
	}
	u.open = true
	pos := max(u.preRoll.Pos(), u.given)
	if u.roll == nil {
		u.roll = make([]int16, u.preRoll.Cap())
	}
	roll := u.roll[:u.preRoll.CopyAt(u.roll, pos)]
	frame := audio.FrameSamples(recognizerRate)
	// The pre-roll is passed in frames; the remainder comes first.
	for n := len(roll) % frame; u.open && len(roll) > 0; n = frame {
		if n == 0 {
			continue
		}
		u.give(pos, roll[:n])
		pos, roll = pos+audio.Pos(n), roll[n:]
	}
}

// maybeFinalize requests the words of an utterance that nothing else ends: a sound over
// the agent's voice, or one without words so far.
func (u *Uplink) maybeFinalize(a turn.Acoustic) {
	if !u.open || u.onset.Speaking() {
		return
	}
	if a.Silence >= u.o.EmptyAfter && (u.text == "" || u.audible) {
		u.finalize()
	}
}

// finalize ends the open utterance. The result belongs to the speech up to now,
// whenever it arrives.
func (u *Uplink) finalize() {
	u.open = false
	if len(u.asked) == maxAsked {
		u.asked = u.asked[:copy(u.asked, u.asked[1:])]
	}
	u.asked = append(u.asked, request{u.utterance, u.pos})
	u.check(u.recognizer.Finalize())
}
