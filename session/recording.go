package session

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/recording"
	"github.com/hocketvoice/hocket/port"
)

// Recording says where the sound of a spoken conversation is stored: both sides, in step. It
// needs [Options].Checkpoints with a Store, and [conv.PrivacyKeep]: in other conversations, by
// text and in virtual time nothing is recorded.
//
// What the user says when a secret slot is asked for, and each turn whose words a trace hides,
// is silence.
type Recording struct {
	// Journal stores the pieces. If it is nil, nothing is recorded.
	Journal port.Journal
	// Limit is how long a conversation is recorded from its beginning.
	Limit time.Duration
}

// The times of a recording. What is stored is some seconds behind, because sent audio may
// turn out to be unheard, and words to be a secret.
const (
	recordEvery   = time.Second
	recordBehind  = 3 * time.Second
	recordSecrets = 15 * time.Second // in place of recordBehind, for an agent with secret slots
	recordMost    = time.Minute      // what of a user's turn is older is silenced unseen
	recordPiece   = 2 * time.Second
	// recordBefore is how long before the detected onset the user may have begun to speak.
	recordBefore = time.Second
	// recordWaiting is the number of pieces that wait for a store that fails. The oldest of
	// more are dropped, and are silence.
	recordWaiting = 60
)

// tape records the sound of a call. Its methods may be called by any goroutine; a nil tape does
// nothing.
type tape struct {
	o       Recording
	keeper  *keeper
	now     func() time.Time
	rate    int
	start   time.Time
	limit   int  // number of the frame at which the recording ends
	secrets bool // the agent has secret slots

	mu     sync.Mutex // guards all below
	sound  *recording.Tape
	asked  bool         // a secret is asked for
	voice  bool         // the user is speaking
	open   bool         // the user's turn is open
	begun  int          // the frame at which the user's last turn began
	heard  []utterance  // the user's last ones
	hushed bool         // the user's open turn has a secret
	silent map[int]bool // turns of the agent that have a secret

	// Only run uses these fields.
	waiting [][]byte
	last    int // number of the last piece
}

// utterance is a stretch of the user's speech, and the frame at which its turn began.
type utterance struct{ number, begun int }

// utterances is how many are remembered, for words that come late.
const utterances = 16

// newTape returns nil if the conversation is not recorded.
func newTape(s *Session, rate int) *tape {
	o := s.o.Recording
	if o.Journal == nil || s.keeper == nil || !s.keeper.keep || s.work != nil {
		return nil
	}
	agent := s.conv.Options().Agent
	start := s.now()
	return &tape{
		o: o, keeper: s.keeper, now: s.now, rate: rate, start: start,
		limit:   int((o.Limit - start.Sub(s.keeper.started)) / audio.FrameDuration),
		secrets: agent != nil && agent.HasSecrets(), sound: recording.NewTape(rate),
		asked: s.conv.State().Expect.Secret, silent: make(map[int]bool),
	}
}

// frame returns the number of the frame at a time.
func (t *tape) frame(at time.Time) int { return int(at.Sub(t.start) / audio.FrameDuration) }

// frames returns how many frames a time has.
func frames(d time.Duration) int { return int(d / audio.FrameDuration) }

// person adds a frame of the person.
func (t *tape) person(pcm []int16) {
	t.add(func(now int) {
		n := t.sound.End()
		t.sound.Person(now, pcm)
		if t.asked || t.hushed {
			t.sound.HushPerson(n, t.sound.End())
		}
	})
}

// agent adds a frame that was sent to the person. turn is 0 if it contains no speech.
func (t *tape) agent(turn int, pcm []int16) {
	t.add(func(now int) {
		t.sound.Agent(now, turn, pcm)
		if t.silent[turn] {
			t.sound.HushAgent(turn)
		}
	})
}

// add calls put, with t locked and the number of the present frame, unless the tape has
// reached its limit.
func (t *tape) add(put func(now int)) {
	if t == nil {
		return
	}
	now := t.frame(t.now())
	t.mu.Lock()
	defer t.mu.Unlock()
	if now < t.limit {
		put(now)
	}
}

// unheard removes what was sent last and not heard.
func (t *tape) unheard(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sound.Cut(n)
}

// step follows a step of the machine, for secrets.
func (t *tape) step(now time.Time, c *conv.Conversation, shown conv.Shown) {
	if t == nil || !t.secrets {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := shown.Event.(type) {
	case conv.SpeechStarted:
		t.voice = true
		if !t.open {
			t.open, t.begun = true, t.frame(now.Add(-e.Lag-recordBefore))
		}
		t.heard = append(t.heard, utterance{e.Utterance, t.begun})
		t.heard = t.heard[max(0, len(t.heard)-utterances):]
	case conv.SpeechStopped:
		t.voice = false
	case conv.STTPartial:
		t.words(e.Utterance, e.Text)
	case conv.STTFinal:
		t.words(e.Utterance, e.Text)
	default:
	}
	st := c.State()
	if st.User.Turn == 0 && !t.voice {
		t.open, t.hushed = false, false
	}
	t.asked = st.Expect.Secret
	for _, e := range shown.Conversation.Last().Effects {
		if e, ok := e.(conv.Speak); ok && strings.Contains(e.Text, dialog.Hidden) {
			t.silent[e.Turn] = true
			t.sound.HushAgent(e.Turn)
		}
	}
}

// words silences the turn of an utterance whose words are hidden. The caller holds mu.
func (t *tape) words(number int, text string) {
	if !strings.Contains(text, dialog.Hidden) {
		return
	}
	from := 0 // all that is left, if the utterance is not known
	for _, u := range t.heard {
		if u.number == number {
			from = u.begun
		}
	}
	t.sound.HushPerson(from, t.sound.End())
	t.hushed = t.open
}

// cut returns the next piece to store, or nil. At the end of the call it is the rest.
func (t *tape) cut(end bool) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.frame(t.now())
	first, before := t.sound.First(), now-frames(recordBehind)
	if t.secrets {
		before = now - frames(recordSecrets)
		if most := now - frames(recordMost); t.open && t.begun < before {
			t.sound.HushPerson(t.begun, most)
			before = max(t.begun, most)
		}
	}
	if end {
		before = now + frames(recordPiece)
	} else if before-first < frames(recordPiece) {
		return nil
	}
	pairs := t.sound.Take(before)
	if pairs == nil {
		return nil
	}
	at := t.start.Add(time.Duration(first) * audio.FrameDuration)
	return recording.Piece{Start: at, Rate: t.rate, Pairs: pairs}.Marshal()
}

// run stores the recording until ctx ends, and then the rest of it.
func (t *tape) run(ctx context.Context) {
	ticker := time.NewTicker(recordEvery)
	defer ticker.Stop()
	for {
		end := false
		select {
		case <-ticker.C:
		case <-ctx.Done():
			end = true
		}
		if b := t.cut(end); b != nil {
			t.waiting = append(t.waiting, b)
			t.waiting = t.waiting[max(0, len(t.waiting)-recordWaiting):]
		}
		if err := t.flush(context.WithoutCancel(ctx)); end || errors.Is(err, port.ErrFenced) {
			return
		}
	}
}

// flush stores the pieces that wait, after the first checkpoint, so that nothing is stored of a
// conversation that is not. A failure of the store is told by its checkpoints.
func (t *tape) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, saveLimit)
	defer cancel()
	hold, ok := t.keeper.written()
	for ok && len(t.waiting) > 0 {
		number := int(hold.Token)*piecesPerClaim + t.last + 1
		if err := t.o.Journal.Append(ctx, hold, number, t.waiting[0]); err != nil {
			return err
		}
		t.last++
		t.waiting = t.waiting[1:]
	}
	return nil
}
