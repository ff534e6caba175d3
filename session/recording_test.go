package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/recording"
	"github.com/hocketvoice/hocket/port"
)

// recorded is a plan whose call is recorded in a store.
func recorded(t *testing.T, p plan, store *history) plan {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if err := store.Beat(ctx, port.Node{ID: "a"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	held, err := store.Claim(ctx, "test", "a")
	if err != nil {
		t.Fatal(err)
	}
	parts := p.parts
	p.parts = func(o *Options) {
		if parts != nil {
			parts(o)
		}
		o.Checkpoints = Checkpoints{Store: store, Token: held.Token}
		if o.Recording.Journal == nil {
			o.Recording.Journal = store.Recordings()
		}
		if o.Recording.Limit == 0 {
			o.Recording.Limit = time.Hour
		}
	}
	return p
}

// sides are the frames of a recording in which the person, and the agent, is heard.
type sides struct{ person, agent []bool }

// played reads what a store has of the call's sound.
func played(t *testing.T, store *history) (s sides) {
	t.Helper()
	var began time.Time
	err := store.Recordings().Read(context.WithoutCancel(t.Context()), "test", func(_ int, b []byte) error {
		p, err := recording.ParsePiece(b)
		if err != nil {
			return err
		}
		if began.IsZero() {
			began = p.Start
		}
		for len(s.person) < int(p.Start.Sub(began)/audio.FrameDuration) {
			s.person, s.agent = append(s.person, false), append(s.agent, false)
		}
		for f := range slices.Chunk(p.Pairs, 2*audio.FrameSamples(p.Rate)) {
			var person, agent bool
			for i := 0; i < len(f); i += 2 {
				person, agent = person || f[i] != 0, agent || f[i+1] != 0
			}
			s.person, s.agent = append(s.person, person), append(s.agent, agent)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stretches are the lengths of what is heard, in frames; pauses of up to 3 frames are in them.
func stretches(side []bool) (list []int) {
	silent := 4
	for _, on := range side {
		switch {
		case on && silent > 3:
			list = append(list, 1)
			silent = 0
		case on:
			list[len(list)-1] += silent + 1
			silent = 0
		default:
			silent++
		}
	}
	return list
}

func count(side []bool) (n int) {
	for _, on := range side {
		if on {
			n++
		}
	}
	return n
}

var chat = plan{
	conv: conv.Options{Greeting: "Hello there, how can I help you today?"}, texts: []string{"tell me a story", "and another one"},
	lines:   []line{{answers, 1200 * ms}, {answers, 1600 * ms}},
	replies: []string{"Once upon a time there was a king who had three daughters.", "That is all I know."},
}

// TestRecording: both sides of a call are stored, in step and as they were heard, the end
// included.
func TestRecording(t *testing.T) {
	store := &history{}
	live(t, recorded(t, chat, store), func(c *call) {
		c.ok()
		got := played(t, store)
		if n := count(got.person); n != 60+80 {
			t.Errorf("the person is heard in %d frames %v, expected 140", n, stretches(got.person))
		}
		if got, want := stretches(got.agent), stretches(c.spoke); !slices.Equal(got, want) {
			t.Errorf("the agent is heard for %v frames, expected %v", got, want)
		}
		// Nobody speaks at the same time as the other: else the sides are not in step.
		for i := range got.person {
			if got.person[i] && got.agent[i] {
				t.Fatalf("both are heard in frame %d", i)
			}
		}
	})
}

// TestRecordingIsStoredDuringTheCall: a process that dies loses some seconds, not the call.
func TestRecordingIsStoredDuringTheCall(t *testing.T) {
	store := &history{}
	p := recorded(t, chat, store)
	most := 0
	p.each = func(_ *call, frame int) {
		if frame > 250 { // the first piece was stored
			most = max(most, frame-len(played(t, store).person))
		}
	}
	live(t, p, func(c *call) {
		c.ok()
		if limit := frames(recordBehind + recordPiece + recordEvery + 200*ms); most == 0 || most > limit {
			t.Errorf("up to %d frames were not stored, expected 1 to %d", most, limit)
		}
	})
}

// TestRecordingHasWhatWasHeard: what a carrier had buffered and dropped is not recorded.
func TestRecordingHasWhatWasHeard(t *testing.T) {
	store := &history{}
	p := chat
	p.ack = true // reports come 200 ms behind
	p.texts = []string{"stop it now please"}
	p.lines = []line{{over(25), 1200 * ms}}
	live(t, recorded(t, p, store), func(c *call) {
		if len(c.flushed) == 0 {
			t.Fatal("nobody has interrupted")
		}
		sent, kept := stretches(c.spoke), stretches(played(t, store).agent)
		if len(kept) == 0 || kept[0] > sent[0]-9 || kept[0] < sent[0]-11 {
			t.Errorf("the agent is heard for %v frames, %v were sent: expected 10 less in the first turn", kept, sent)
		}
	})
}

// TestRecordingHasNoSecret: what is said when a secret is asked for is silence, in all of its
// answers, and the rest of the call is heard.
func TestRecordingHasNoSecret(t *testing.T) {
	agent, files := safeAgent(t, safe)
	store, tool := &history{}, locksmith(false)
	p := thinking(plan{
		conv:  conv.Options{Agent: agent},
		texts: []string{"open the safe", "four seven one", "it is four seven one one", "Denver"},
		lines: []line{{answers, 1200 * ms}, {answers, 1500 * ms}, {answers, 2000 * ms}, {answers, 1400 * ms}},
	}, nil, tool)
	p.parts = func(o *Options) { o.AgentFiles, o.Tools = files, tool }
	live(t, recorded(t, p, store), func(c *call) {
		if len(tool.Calls()) != 1 {
			t.Fatalf("the tool was called %d times", len(tool.Calls()))
		}
		got := played(t, store)
		if list := stretches(got.person); !slices.Equal(list, []int{60, 70}) {
			t.Errorf("the person is heard for %v frames, expected 60 and 70", list)
		}
		if got, want := stretches(got.agent), stretches(c.spoke); !slices.Equal(got, want) {
			t.Errorf("the agent is heard for %v frames, expected %v", got, want)
		}
	})
}

// TestRecordingOfASecretNobodyAskedFor: words that a trace hides are silent from the beginning
// of their turn on.
func TestRecordingOfASecretNobodyAskedFor(t *testing.T) {
	agent, files := safeAgent(t, safe)
	store, tool := &history{}, locksmith(false)
	p := thinking(plan{
		conv:  conv.Options{Agent: agent},
		texts: []string{"open the safe the pin is four seven one one", "Denver"},
		lines: []line{{answers, 2600 * ms}, {answers, 1400 * ms}},
	}, nil, tool)
	p.parts = func(o *Options) { o.AgentFiles, o.Tools = files, tool }
	live(t, recorded(t, p, store), func(*call) {
		if len(tool.Calls()) != 1 {
			t.Skipf("the tool was called %d times", len(tool.Calls()))
		}
		if list := stretches(played(t, store).person); !slices.Equal(list, []int{70}) {
			t.Errorf("the person is heard for %v frames, expected 70", list)
		}
	})
}

// TestNotRecorded: nothing is stored where privacy forbids it, without a limit, and after it.
func TestNotRecorded(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"privacy none":    func(o *Options) { o.Conv.Privacy, o.Trace = conv.PrivacyNone, nil },
		"privacy session": func(o *Options) { o.Conv.Privacy = conv.PrivacySession },
		"no time":         func(o *Options) { o.Recording.Limit = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			store := &history{}
			p := chat
			p.parts = change
			live(t, recorded(t, p, store), func(c *call) {
				c.ok()
				if n := len(played(t, store).person); n > 0 {
					t.Errorf("%d frames are stored", n)
				}
			})
		})
	}
	store := &history{}
	p := chat
	p.parts = func(o *Options) { o.Recording.Limit = 3 * time.Second }
	live(t, recorded(t, p, store), func(*call) {
		if n := len(played(t, store).person); n != 150 {
			t.Errorf("%d frames are stored, expected 150", n)
		}
	})
}

// ill is a journal that fails for a while.
type ill struct {
	port.Journal
	mu    sync.Mutex
	fails int
	with  error
	asked int
}

func (j *ill) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked++
	if j.fails > 0 {
		j.fails--
		return j.with
	}
	return j.Journal.Append(ctx, h, number, records)
}

// TestRecordingWaitsForItsStore: a store that fails for some seconds loses nothing, and one in
// which another process has the conversation is not asked again.
func TestRecordingWaitsForItsStore(t *testing.T) {
	for name, fails := range map[string]error{"away": errors.New("away"), "fenced": port.ErrFenced} {
		t.Run(name, func(t *testing.T) {
			store := &history{}
			j := &ill{Journal: store.Recordings(), fails: 3, with: fails}
			p := chat
			p.parts = func(o *Options) { o.Recording.Journal = j }
			live(t, recorded(t, p, store), func(*call) {
				n := count(played(t, store).person)
				if name == "away" && n != 140 || name == "fenced" && (n != 0 || j.asked != 1) {
					t.Errorf("the person is heard in %d frames, the store was asked %d times", n, j.asked)
				}
			})
		})
	}
}
