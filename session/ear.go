package session

import (
	"context"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// ear turns the person's frames into facts: it is a [media.Uplink], or the ear of a
// speech-to-speech service ([upstream]). Frame and Idle are called by one goroutine; the comments
// of media.Uplink say what each method does.
type ear interface {
	Frame(f audio.Frame, sent float64) error
	Idle() error
	Listen()
	Continue()
	Finalize()
	Expect(e dialog.Expectation)
	Answer(utterance int, c turn.Completeness)
	Score(pause int, score float64)
	Audible(on bool)
	Pause(on bool)
	Discard()
	Configure(t turn.Options, o turn.OnsetOptions) error
	Failed() bool
	Renew(ctx context.Context) error
	Reopen(ctx context.Context) error
	Close() error
}
