package telnyx_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket"
	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/leg/telnyx"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/session"
)

// The checklist of seed 004 ("Testing Checklist"), from sound to sound: what a test wants to be
// heard is what the carrier has played. The voice is a tone for each word, so that what was played
// says which words it was.

// shop is an agent that follows the rules of seed 004: words stop it.
const shop = `
settings:
  greeting: "Welcome to the television shop of our beautiful city"
  barge_in: words
slots:
  resolution: {type: enum, values: [4K, 8K], prompt: "Which resolution would you like to have"}
flows:
  hello:
    trigger: {intents: ["hello"]}
    steps: [{step: a, type: say, message: "Good morning and how may anybody help you today"}]
  plans:
    trigger: {intents: ["what is on offer"]}
    steps: [{step: a, type: say, message: "Our offers this month include seventeen different televisions with remarkable pictures and also extraordinary loudspeakers"}]
  prices:
    trigger: {intents: ["compare the prices for me"]}
    steps: [{step: a, type: say, message: "Everything costs approximately nineteen hundred dollars without considerable discounts although negotiations remain possible"}]
  order:
    trigger: {intents: ["order a television"]}
    steps:
      - {step: which, type: collect, slot: resolution}
      - {step: done, type: say, message: "Splendid because your television arrives tomorrow"}
`

const (
	greeting = "Welcome to the television shop of our beautiful city"
	help     = "Good morning and how may anybody help you today"
	plans    = "Our offers this month include seventeen different televisions with remarkable pictures and also extraordinary loudspeakers"
	prices   = "Everything costs approximately nineteen hundred dollars without considerable discounts although negotiations remain possible"
	which    = "Which resolution would you like to have"
	splendid = "Splendid because your television arrives tomorrow"
)

// voice is the agent's, at the rate of the call.
var voice = &porttest.Synthesizer{SampleRate: 8000}

// talk is a call with the shop, in virtual time.
type talk struct {
	t     *testing.T
	call  *fake.TelnyxCall
	line  *fake.Call
	begun time.Time
	texts []string // what the caller is going to say
	turns chan session.Spoken
	ended chan error // has the end of the conversation
}

// hold holds a call in which the caller says the texts, when the test says so.
func hold(t *testing.T, texts []string, test func(*talk)) {
	t.Helper()
	holdWith(t, shop, fake.TelnyxOptions{}, texts, test)
}

// holdWith is like hold, with another agent and other rules of the account.
func holdWith(t *testing.T, file string, fo fake.TelnyxOptions, texts []string, test func(*talk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		agent, err := hocket.ParseAgent(hocket.File{Name: "shop.yaml", Data: []byte(file)})
		if err != nil {
			t.Fatal(err)
		}
		agent.Configure = func(o *session.Options) { o.Tools = moving{} }
		c := &talk{t: t, texts: texts, turns: make(chan session.Spoken, 100)}
		ended := make(chan error, 1)
		c.ended = ended
		var s *telnyx.Server
		server := nettest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.ServeHTTP(w, r) }))
		fo.Key, fo.Webhook, fo.Client, fo.Shuffle = "k", "https://voice.test/telnyx/voice", &http.Client{Transport: server.Transport()}, true
		fo.Deliver = func(string) fake.Delivery { return fake.Delivery{Again: 1} }
		account := fake.NewTelnyx(fo)
		if s, err = telnyx.New(telnyx.Options{
			Key: "k", PublicKey: account.PublicKey(), URL: "https://voice.test/telnyx", API: "http://api.test/v2",
			Client: &http.Client{Transport: nettest.Serve(t, account).Transport()},
			Start: func(ctx context.Context, _ telnyx.Incoming, leg telnyx.Leg) error {
				go func() {
					call := hocket.Call{
						Agent: agent, Leg: leg, Recognizer: &porttest.Recognizer{Texts: texts}, Synthesizer: voice, Detector: &porttest.Detector{SampleRate: 8000},
						Said: func(s session.Spoken) { c.turns <- s },
					}
					err := call.Run(ctx)
					ended <- errors.Join(err, leg.Close())
				}()
				return nil
			},
			Failed: func(err error) { t.Errorf("failed: %v", err) },
		}); err != nil {
			t.Fatal(err)
		}
		c.call = account.Ring("+15551234567", "+15557654321")
		if c.line, err = c.call.Stream(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.begun = time.Now()
		defer func() {
			c.call.HangUp()
			if err := <-ended; err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("the conversation ended with %v", err)
			}
			if err := errors.Join(s.Close(), account.Close()); err != nil {
				t.Error(err)
			}
		}()
		test(c)
	})
}

// wait lets time pass.
func (c *talk) wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// perWord is how long the fake recognizer hears sound before it knows a word.
const perWord = 200 * time.Millisecond

// say says the next text, and returns when its second word is known.
func (c *talk) say() (second time.Time) {
	c.t.Helper()
	words := len(strings.Fields(c.texts[0]))
	c.texts = c.texts[1:]
	begun := time.Now()
	pcm := make([]int16, audio.PosOf(perWord*time.Duration(words)+50*time.Millisecond, 8000))
	for i := range pcm {
		pcm[i] = int16(6000 * math.Sin(2*math.Pi*300*float64(i)/8000))
	}
	c.line.Say(pcm)
	return begun.Add(2 * perWord)
}

// heard is something that the carrier has played.
type heard struct {
	text  string        // the whole text of which it is the beginning
	whole bool          // all of it was played
	at    time.Time     // when it began
	until time.Time     // when it ended
	took  time.Duration // how much sound it was
}

// played returns what the carrier has played.
func (c *talk) played() (all []heard) {
	c.t.Helper()
	pcm := c.line.Played()
	const frame, gap = 160, 5 // frames of silence that are no pause within speech
	for from := 0; from+frame <= len(pcm); from += frame {
		if audio.Peak(pcm[from:from+frame]) == 0 {
			continue
		}
		// A frame that comes late leaves a frame of silence, which is no part of the speech.
		var said []int16
		begun, silent := from, 0
		for ; from+frame <= len(pcm) && silent < gap; from += frame {
			if silent++; audio.Peak(pcm[from:from+frame]) > 0 {
				said, silent = append(said, pcm[from:from+frame]...), 0
			}
		}
		h := heard{at: c.begun.Add(audio.Pos(begun).Duration(8000)), until: c.begun.Add(audio.Pos(from - silent*frame).Duration(8000)), took: audio.Pos(len(said)).Duration(8000)}
		for _, text := range []string{greeting, help, plans, prices, which, splendid, connecting, sorry} {
			if tone := sound(c.t, text); alike(said, tone) {
				h.text, h.whole = text, len(said) >= len(tone)
			}
		}
		all = append(all, h)
	}
	return all
}

// sound returns the voice's sound of a text.
func sound(t *testing.T, text string) (pcm []int16) {
	t.Helper()
	err := voice.Speak(t.Context(), port.Utterance{Text: text}, func(s port.Speech) error {
		pcm = append(pcm, s.PCM...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// alike reports whether sound is the beginning of a text's, but for what G.711 changes.
func alike(pcm, tone []int16) bool {
	if len(pcm) > len(tone)+160 || len(pcm) < 800 {
		return false
	}
	var cross, a, b float64
	for i := range min(len(pcm), len(tone)) {
		x, y := float64(pcm[i]), float64(tone[i])
		cross, a, b = cross+x*y, a+x*x, b+y*y
	}
	return cross > 0.98*math.Sqrt(a*b)
}

// want checks what the carrier has played.
func (c *talk) want(texts ...string) []heard {
	c.t.Helper()
	all := c.played()
	var got []string
	for _, h := range all {
		switch {
		case h.whole:
			got = append(got, h.text)
		case h.text == "":
			got = append(got, "?")
		default:
			got = append(got, h.text+"...")
		}
	}
	if !slices.Equal(got, texts) {
		c.t.Fatalf("the carrier has played\n%q\nexpected\n%q", got, texts)
	}
	return all
}

// stopped checks that the agent was stopped by words, at once, and that what counts as heard is what
// the carrier has played.
func (c *talk) stopped(h heard, second time.Time) {
	c.t.Helper()
	if late := h.until.Sub(second); late < 0 || late > 200*time.Millisecond {
		c.t.Errorf("%q was played until %v after the second word, expected at most 200 ms", h.text, late)
	}
	for {
		select {
		case s := <-c.turns:
			if s.Role != conv.RoleAgent || s.Outcome != conv.TurnInterrupted {
				continue
			}
			if s.Heard > h.took || h.took-s.Heard > 200*time.Millisecond {
				c.t.Errorf("of %q %v count as heard, %v were played", h.text, s.Heard, h.took)
			}
			if s.Text+" "+s.Unheard != h.text && s.Text+s.Unheard != h.text {
				c.t.Errorf("the history has %q and %q, expected %q", s.Text, s.Unheard, h.text)
			}
			return
		default:
			c.t.Errorf("the history does not say that %q was interrupted", h.text)
			return
		}
	}
}

// TestSeed004Greeting: the call starts, the agent greets, the user says "Hello", the agent responds.
func TestSeed004Greeting(t *testing.T) {
	hold(t, []string{"hello"}, func(c *talk) {
		c.wait(4 * time.Second)
		c.want(greeting)
		c.say()
		c.wait(6 * time.Second)
		c.want(greeting, help)
	})
}

// TestSeed004Interrupted: the user interrupts in mid-sentence, the agent stops at once; the user
// goes on, and the agent responds to the whole thought. The cycle repeats.
func TestSeed004Interrupted(t *testing.T) {
	hold(t, []string{"what is on offer", "compare the prices for me", "what is on offer", "order a television"}, func(c *talk) {
		c.wait(4 * time.Second)
		c.say()
		c.wait(4 * time.Second) // in the middle of the plans
		first := c.say()
		c.wait(4 * time.Second)
		second := c.say()
		c.wait(4 * time.Second)
		third := c.say()
		c.wait(6 * time.Second)
		all := c.want(greeting, plans+"...", prices+"...", plans+"...", which)
		c.stopped(all[1], first)
		c.stopped(all[2], second)
		c.stopped(all[3], third)
		if n := c.line.Clears(); n != 3 {
			t.Errorf("the carrier's buffer was emptied %d times, expected 3", n)
		}
	})
}

// TestSeed004ShortPhrases: fillers and single words while the agent speaks are not processed.
func TestSeed004ShortPhrases(t *testing.T) {
	hold(t, []string{"what is on offer", "um", "okay", "hello", "hello"}, func(c *talk) {
		c.wait(4 * time.Second)
		c.say()
		c.wait(2 * time.Second)
		for range 3 { // while the agent speaks
			c.say()
			c.wait(1500 * time.Millisecond)
		}
		c.wait(4 * time.Second)
		c.want(greeting, plans)
		if n := c.line.Clears(); n != 0 {
			t.Errorf("the carrier's buffer was emptied %d times", n)
		}
		c.say() // while it does not
		c.wait(5 * time.Second)
		c.want(greeting, plans, help)
	})
}

// TestSeed004Numbers: "4K" is an answer when the agent is not speaking, and when it has asked.
func TestSeed004Numbers(t *testing.T) {
	hold(t, []string{"order a television", "4K"}, func(c *talk) {
		c.wait(4 * time.Second)
		c.say()
		c.wait(5 * time.Second)
		c.want(greeting, which)
		c.say()
		c.wait(6 * time.Second)
		c.want(greeting, which, splendid)
	})
}

// TestSeed004DeadAir: silence is broken by check-ins, and ends the call, which is hung up.
func TestSeed004DeadAir(t *testing.T) {
	hold(t, nil, func(c *talk) {
		c.wait(15 * time.Second)
		if all := c.played(); len(all) != 2 || all[0].text != greeting {
			t.Errorf("after a silence the carrier has played %+v, expected a check-in", all)
		}
		c.wait(30 * time.Second)
		if cause, by := c.call.Cause(); cause != "normal_clearing" || by != "callee" {
			t.Errorf("the call is over with %q of %q, expected that the agent hangs up", cause, by)
		}
		all := c.played()
		if len(all) < 4 {
			t.Fatalf("the carrier has played %+v, expected a greeting, two check-ins and a goodbye", all)
		}
		for i := 2; i < len(all); i++ {
			if pause := all[i].at.Sub(all[i-1].until); i < 4 && (pause < 9*time.Second || pause > 11*time.Second) {
				t.Errorf("the %d. utterance came after %v of silence, expected 10 s", i+1, pause)
			}
		}
	})
}
