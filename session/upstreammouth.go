package session

import (
	"context"
	"errors"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/media"
	"github.com/hocketvoice/hocket/port"
)

// This file is the mouth of a speech-to-speech service: its sound waits here until the machine has
// handed the words to the voice.

// saying is what the service says to one request. The mutex of the [upstream] guards the fields
// that change.
type saying struct {
	id         string
	link       *link
	turn, part int
	request    int  // of the machine
	said       bool // the text is the machine's, and the service only speaks it

	words   string // that the machine has handed to the voice, before the sound is played
	chunks  [][]int16
	items   []sounding
	ended   bool
	err     error // why it has failed; nil if it is complete
	played  bool  // its sound goes to the playout
	at      time.Duration
	waiting bool          // play waits for sound
	wake    chan struct{} // holds a token when the wait is over
}

// sounding is an item of the service, and where its sound begins in the answer.
type sounding struct {
	id           string
	from, length time.Duration
	samples      audio.Pos
}

// awaited reports whether the service has not finished the answer, or its sound is not played yet.
func (a *saying) awaited() bool { return !a.ended || len(a.chunks) > 0 }

// unheard returns what the service must be told of its items if the user has heard the answer so
// far.
func (a *saying) unheard(heard time.Duration) (list undone) {
	for _, it := range a.items {
		if rest := max(heard-it.from, 0); rest < it.length {
			list = append(list, undo{stream: a.link.stream, item: it.id, heard: rest})
		}
	}
	return list
}

// hear adds sound.
func (a *saying) hear(s *Session, item string, pcm []int16) {
	rate := s.o.Upstream.Rate()
	if n := len(a.items); n == 0 || a.items[n-1].id != item {
		it := sounding{id: item}
		if n > 0 {
			it.from = a.items[n-1].from + a.items[n-1].length
		}
		a.items = append(a.items, it)
	}
	it := &a.items[len(a.items)-1]
	it.samples += audio.Pos(len(pcm))
	it.length = it.samples.Duration(rate)
	a.chunks = append(a.chunks, append([]int16(nil), pcm...))
	a.signal(s)
}

// end ends the answer. Sound that was not played is dropped if err is [media.ErrFlushed], and else
// is still played.
func (a *saying) end(s *Session, err error) {
	if !a.ended {
		a.ended, a.err = true, err
	}
	if errors.Is(err, media.ErrFlushed) {
		a.err, a.chunks = err, nil
	}
	a.signal(s)
}

// signal ends the wait for sound, if there is one.
func (a *saying) signal(s *Session) {
	if a.waiting {
		a.waiting = false
		s.busy(1)
		a.wake <- struct{}{} // never blocks: there is one waiter, and one token for it
	}
}

// sound returns the next sound of an answer. It waits for it, and returns nil at the end.
func (u *upstream) sound(ctx context.Context, a *saying) ([]int16, error) {
	for {
		u.mu.Lock()
		if len(a.chunks) > 0 {
			pcm := a.chunks[0]
			a.chunks = a.chunks[1:]
			u.mu.Unlock()
			return pcm, nil
		}
		if a.ended {
			err := a.err
			u.mu.Unlock()
			return nil, err
		}
		a.waiting = true
		u.s.busy(-1)
		u.mu.Unlock()
		select {
		case <-a.wake:
			continue
		case <-ctx.Done():
		}
		u.mu.Lock()
		if a.waiting {
			a.waiting = false
			u.s.busy(1)
		} else {
			<-a.wake // woken at the same moment
		}
		u.mu.Unlock()
		return nil, ctx.Err()
	}
}

// more adds words that the machine hands to the voice to an answer whose sound is played already.
// It returns false if it is not.
func (u *upstream) more(a *saying, down *media.Downlink, words string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !a.played {
		if a.words != "" {
			words = " " + words
		}
		first := a.words == ""
		a.words += words
		return !first
	}
	down.More(a.turn, a.part, words)
	return true
}

// play plays an answer of the service: it passes its sound to emit until the answer ends. begin is
// called with its words before.
func (u *upstream) play(ctx context.Context, a *saying, begin func(words string) time.Duration, emit func(port.Speech) error) error {
	u.mu.Lock()
	words := a.words
	u.mu.Unlock()
	at := begin(words)
	u.mu.Lock()
	rest := a.words[len(words):]
	a.played, a.at = true, at
	u.mu.Unlock()
	if rest != "" {
		u.s.sound.down.More(a.turn, a.part, rest)
	}
	for {
		pcm, err := u.sound(ctx, a)
		switch {
		case pcm != nil:
		case err == nil || errors.Is(err, media.ErrFlushed) || ctx.Err() != nil || a.said:
			return err
		default:
			return nil // the machine learns of the failure of an answer by itself
		}
		if err := emit(port.Speech{PCM: pcm}); err != nil {
			return err
		}
	}
}

// say has the service speak a text, and plays it.
func (u *upstream) say(ctx context.Context, a *saying, begin func(words string) time.Duration, emit func(port.Speech) error) error {
	if err := a.link.stream.Ask(port.UpstreamRequest{ID: a.id, Say: a.words}); err != nil {
		return err
	}
	err := u.play(ctx, a, begin, emit)
	if err != nil {
		u.mu.Lock()
		a.end(u.s, err)
		u.mu.Unlock()
		_ = a.link.stream.Cancel(a.id) // a stream that has ended has forgotten it
	}
	return err
}
