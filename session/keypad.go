package session

import (
	"context"
	"sync/atomic"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// This file turns the keys of a telephone into what the person says by them.

// keypad reads the keys of a leg. A nil *keypad belongs to a leg without keys.
type keypad struct {
	leg     port.KeyReader
	post    func(...conv.Event)
	pressed chan byte
	digits  atomic.Int32 // of the expected answer; 0: unknown
	pad     turn.Keypad  // only the goroutine that calls frame uses it
}

func newKeypad(leg port.Leg, post func(...conv.Event)) *keypad {
	r, ok := leg.(port.KeyReader)
	if !ok {
		return nil
	}
	return &keypad{leg: r, post: post, pressed: make(chan byte, 64), pad: turn.NewKeypad(turn.KeypadOptions{})}
}

// run reads keys until ctx or the leg ends. The end of the leg is reported by Read.
func (k *keypad) run(ctx context.Context) {
	for {
		key, err := k.leg.ReadKey(ctx)
		if err != nil {
			return
		}
		select {
		case k.pressed <- key:
		case <-ctx.Done():
			return
		}
	}
}

// expect notes how many digits the answer has that the agent waits for.
func (k *keypad) expect(digits int) {
	if k != nil {
		k.digits.Store(int32(digits))
	}
}

// frame passes on what was pressed, with each frame of the person's sound: the sound's clock is
// the one by which a line ends.
func (k *keypad) frame() {
	if k == nil {
		return
	}
	k.say(k.pad.Elapse(audio.FrameDuration))
	for {
		select {
		case key := <-k.pressed:
			k.pad.Expect(int(k.digits.Load()))
			line := k.pad.Press(key)
			k.post(conv.UserKey{})
			k.say(line)
		default:
			return
		}
	}
}

func (k *keypad) say(line string) {
	if line != "" {
		k.post(conv.UserText{Text: line})
	}
}
