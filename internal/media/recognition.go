package media

import (
	"context"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// This file: the recognizer's stream, its utterances and its failures.

// request is a final transcript that was asked for.
type request struct {
	utterance int
	at        audio.Pos
}

const (
	// finalPatience is how long a final is awaited; the conversation waits no
	// longer either. What an engine that lost one says then is about what is being
	// said.
	finalPatience = 2 * time.Second
	maxAsked      = 8 // requests that are remembered
)

// stream is one of the recognizer's, by its number.
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

// Reopen replaces a recognizer that has failed with a new stream of the same
// engine, from the next frame on. It waits for the engine and may be called
// from any goroutine, by one at a time. Where nothing has failed it does
// nothing.
func (u *Uplink) Reopen(ctx context.Context) error {
	failed := u.Failed()
	u.Tidy()
	if !failed {
		return nil
	}
	return u.Renew(ctx)
}

// Renew opens a new stream of the same engine, whose streams live only so long. It
// takes the place of the one at hand in a moment when nothing is being recognized: no
// sound and no result is lost between the two. Renew waits for the engine and may be
// called from any goroutine, by one at a time; it does not wait for that moment, behind
// which the owner is told to [Uplink.Tidy] up.
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

// Tidy closes the streams that others have replaced, or that have failed. It waits for
// the engine, as Renew does.
func (u *Uplink) Tidy() {
	u.mu.Lock()
	old := u.retired
	u.retired = nil
	u.mu.Unlock()
	for _, r := range old {
		_ = r.Close() // nothing is expected of it any more
	}
}

// replace puts the stream in its place that waits for a moment in which nothing is
// being recognized.
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

// retire leaves a stream to be closed.
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

// take is a stream's sink. It may be called from any goroutine. What comes of one that
// was replaced is nothing that was waited for.
func (u *Uplink) take(number int, t port.Transcript) {
	u.mu.Lock()
	if number >= u.serving {
		u.results = append(u.results, t)
	}
	u.mu.Unlock()
}

// check notes the recognizer's failure and goes on without it.
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

// give hands samples to the recognizer.
func (u *Uplink) give(pos audio.Pos, pcm []int16) {
	u.given = pos + audio.Pos(len(pcm))
	u.check(u.recognizer.Write(audio.Frame{Pos: pos, Rate: recognizerRate, PCM: pcm}))
}

// begin opens an utterance with what was heard just before and has not been
// given to the utterance before it.
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
	// The pre-roll goes in frames like all else; a remainder comes first.
	for n := len(roll) % frame; u.open && len(roll) > 0; n = frame {
		if n == 0 {
			continue
		}
		u.give(pos, roll[:n])
		pos, roll = pos+audio.Pos(n), roll[n:]
	}
}

// maybeFinalize asks for the words of an utterance that nobody else will end: a
// sound over the agent's voice, or one that has shown no words.
func (u *Uplink) maybeFinalize(a turn.Acoustic) {
	if !u.open || u.onset.Speaking() {
		return
	}
	if a.Silence >= u.o.EmptyAfter && (u.text == "" || u.audible) {
		u.finalize()
	}
}

// finalize closes the open utterance. Its final is answered to the stretch of
// speech that was the last by now, whenever it comes.
func (u *Uplink) finalize() {
	u.open = false
	if len(u.asked) == maxAsked {
		u.asked = u.asked[:copy(u.asked, u.asked[1:])]
	}
	u.asked = append(u.asked, request{u.utterance, u.pos})
	u.check(u.recognizer.Finalize())
}
