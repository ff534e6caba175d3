package app

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/detector/energy"
	"github.com/hocketvoice/hocket/internal/chain"
	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/cartesia"
	cartesiafake "github.com/hocketvoice/hocket/provider/cartesia/fake"
	"github.com/hocketvoice/hocket/provider/deepgram"
	deepgramfake "github.com/hocketvoice/hocket/provider/deepgram/fake"
	"github.com/hocketvoice/hocket/provider/elevenlabs"
	elevenlabsfake "github.com/hocketvoice/hocket/provider/elevenlabs/fake"
	"github.com/hocketvoice/hocket/provider/soniox"
	soniofake "github.com/hocketvoice/hocket/provider/soniox/fake"
	"github.com/hocketvoice/hocket/session"
)

// hostedEar is a recognizer of a vendor with its fake.
type hostedEar struct {
	fake func(engine port.Recognizer) fakes.Service
	open func(http.RoundTripper) (hostedRecognizer, error) // the transport reaches the fake
}

// hostedMouth is a synthesizer of a vendor with its fake.
type hostedMouth struct {
	fake func(mouth fakes.Mouth) fakes.Service
	open func(http.RoundTripper) (hostedSynthesizer, error)
}

// hostedPair is a recognizer and a synthesizer.
type hostedPair struct {
	name  string
	ear   hostedEar
	mouth hostedMouth
}

func hostedPairs() []hostedPair {
	return []hostedPair{
		{"cartesia", novaEar(), cartesiaMouth()},
		{"deepgram", novaEar(), auraMouth()},
		{"deepgram flux", fluxEar(), auraMouth()},
		{"elevenlabs", novaEar(), elevenlabsMouth()},
		{"soniox", sonioxEar(), sonioxMouth()},
	}
}

func deepgramOptions(model string, t http.RoundTripper) deepgram.Options {
	return deepgram.Options{Model: model, URL: "ws://deepgram.test/", KeyEnv: "KEY", Getenv: porttest.HostedEnv, Transport: t}
}

func novaEar() hostedEar {
	return hostedEar{
		func(engine port.Recognizer) fakes.Service {
			return &deepgramfake.Nova{Key: porttest.HostedKey, Engine: engine}
		},
		func(t http.RoundTripper) (hostedRecognizer, error) {
			return deepgram.NewRecognizer(deepgramOptions("", t))
		},
	}
}

func fluxEar() hostedEar {
	return hostedEar{
		func(engine port.Recognizer) fakes.Service {
			return &deepgramfake.Flux{Key: porttest.HostedKey, Engine: engine}
		},
		func(t http.RoundTripper) (hostedRecognizer, error) {
			return deepgram.NewRecognizer(deepgramOptions("flux-general-en", t))
		},
	}
}

func auraMouth() hostedMouth {
	return hostedMouth{
		func(m fakes.Mouth) fakes.Service { return &deepgramfake.Synthesizer{Key: porttest.HostedKey, Mouth: m} },
		func(t http.RoundTripper) (hostedSynthesizer, error) {
			return deepgram.NewSynthesizer(deepgramOptions("", t))
		},
	}
}

func cartesiaMouth() hostedMouth {
	return hostedMouth{
		func(m fakes.Mouth) fakes.Service { return &cartesiafake.Synthesizer{Key: porttest.HostedKey, Mouth: m} },
		func(t http.RoundTripper) (hostedSynthesizer, error) {
			return cartesia.NewSynthesizer(cartesia.Options{URL: "ws://cartesia.test/tts/websocket", KeyEnv: "KEY", Getenv: porttest.HostedEnv, Transport: t})
		},
	}
}

func elevenlabsMouth() hostedMouth {
	return hostedMouth{
		func(m fakes.Mouth) fakes.Service {
			return &elevenlabsfake.Synthesizer{Key: porttest.HostedKey, Mouth: m}
		},
		func(t http.RoundTripper) (hostedSynthesizer, error) {
			return elevenlabs.NewSynthesizer(elevenlabs.Options{URL: "ws://elevenlabs.test/v1/text-to-speech", KeyEnv: "KEY", Getenv: porttest.HostedEnv, Transport: t})
		},
	}
}

func sonioxEar() hostedEar {
	return hostedEar{
		func(engine port.Recognizer) fakes.Service {
			return &soniofake.Recognizer{Key: porttest.HostedKey, Engine: engine}
		},
		func(t http.RoundTripper) (hostedRecognizer, error) {
			return soniox.NewRecognizer(soniox.Options{URL: "ws://stt.test/", KeyEnv: "KEY", Getenv: porttest.HostedEnv, Transport: t})
		},
	}
}

func sonioxMouth() hostedMouth {
	return hostedMouth{
		func(m fakes.Mouth) fakes.Service { return &soniofake.Synthesizer{Key: porttest.HostedKey, Mouth: m} },
		func(t http.RoundTripper) (hostedSynthesizer, error) {
			return soniox.NewSynthesizer(soniox.Options{URL: "ws://tts.test/", KeyEnv: "KEY", Getenv: porttest.HostedEnv, Transport: t})
		},
	}
}

// hostedCall is a call over a pair of fakes, in the virtual time of a bubble.
type hostedCall struct {
	t          *testing.T
	ears       *nettest.Memory
	mouth      *nettest.Memory
	earServer  *fakes.Server
	voiceRules *fakes.Server
	switches   []string
	mu         sync.Mutex // guards switches
}

// visit is what the caller of the example clinic says, as the recognizer's engine has it.
var visit = []string{
	"i need an appointment", "the skin doctor", "next monday", "half past three", "robert miller", "the third of may nineteen eighty",
	"actually make it four o'clock", "yes",
}

// hold holds the call. cut may cut connections at a step.
func (c *hostedCall) hold(pair hostedPair, spare port.Synthesizer, again int, cut func(c *hostedCall, s session.Step)) (said string) {
	t := c.t
	// Over another connection the caller's sound is sent again, and the engine takes it for
	// another utterance.
	texts := slices.Clone(visit)
	if again > 0 {
		texts = slices.Insert(texts, again, visit[again])
	}
	engine := &porttest.Recognizer{Texts: texts, PerWord: 150 * time.Millisecond}
	ear, mouth := pair.ear.fake(engine), pair.mouth.fake(fakes.Mouth{Engine: &porttest.Synthesizer{}, Speed: 3})
	c.earServer, c.voiceRules = ear.Behind(), mouth.Behind()
	c.ears, c.mouth = nettest.Serve(t, ear), nettest.Serve(t, mouth)
	hear, err1 := pair.ear.open(c.ears.Transport())
	speak, err2 := pair.mouth.open(c.mouth.Transport())
	detector, err3 := energy.New(energy.Options{})
	agent, err4 := settings.LoadAgent("../../examples/clinic")
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		t.Fatal(err1, err2, err3, err4)
	}
	speech := &Speech{Recognizer: hear, Synthesizer: speak, Detector: detector, Hosted: true, close: []func() error{hear.Close, speak.Close}}
	if spare != nil {
		speech.Synthesizer = chain.NewSynthesizer([]chain.Voice{{Name: pair.name, Synthesizer: speak}, {Name: "spare", Synthesizer: spare}}, func(w chain.Switch) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.switches = append(c.switches, w.From+">"+w.To)
		})
	}
	var lines []file.Utterance
	for i := range visit {
		u := file.Utterance{PCM: porttest.Tone(callRate, 1500*time.Millisecond)}
		if i == 2 {
			u.BargeIn = 700 * time.Millisecond
		}
		lines = append(lines, u)
	}
	leg, err := file.New(file.Options{Rate: callRate, Utterances: lines, Realtime: true})
	if err != nil {
		t.Fatal(err)
	}
	defer leg.Close()
	opts, err := optionsOf(agent, nil)
	if err != nil {
		t.Fatal(err)
	}
	var words dialogue
	_, err = runCall(t.Context(), CallOptions{Realtime: true, Watch: func(s session.Step) {
		words.watch(s)
		if cut != nil {
			cut(c, s)
		}
	}}, prepared{agent, opts, speech}, "file", leg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := speech.Close(); err != nil {
		t.Error(err)
	}
	said, _ = words.said()
	return said
}

// dialogue collects what both sides have said.
type dialogue struct {
	items map[string]conv.Item // the last form of each
	order []string
}

func (d *dialogue) watch(s session.Step) {
	if d.items == nil {
		d.items = make(map[string]conv.Item)
	}
	for _, it := range s.State.History {
		id := fmt.Sprint(it.Turn, it.Role, it.Part, it.CallID)
		if _, ok := d.items[id]; !ok {
			d.order = append(d.order, id)
		}
		d.items[id] = it
	}
}

// said returns the words of both sides, with the agent's full text, and the agent's texts that
// were cut off.
func (d *dialogue) said() (meant, unheard string) {
	var said, cut strings.Builder
	for _, id := range d.order {
		it := d.items[id]
		switch it.Role {
		case conv.RoleTool:
			continue
		case conv.RoleAgent:
			full := it.Text
			if it.Full != "" {
				full = it.Full
			}
			fmt.Fprintf(&said, "agent: %s\n", full)
			if it.Interrupted {
				fmt.Fprintln(&cut, strings.TrimPrefix(full, it.Text))
			}
		case conv.RoleUser:
			fmt.Fprintf(&said, "caller: %s\n", it.Text)
		}
	}
	return said.String(), strings.TrimSpace(cut.String())
}

func (c *hostedCall) wantSaid(said string, want ...string) {
	c.t.Helper()
	rest := said
	for _, w := range want {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			c.t.Errorf("%q was not said, or not in its place:\n%s", w, said)
			return
		}
		rest = after
	}
}

// TestHostedConversations holds a spoken call over each pair of fakes: with an interruption,
// with connections that are cut in the middle of a word and of a sentence, and with a voice
// that is never reached again, so that the next one speaks.
func TestHostedConversations(t *testing.T) {
	for _, pair := range hostedPairs() {
		for _, tt := range []struct {
			name  string
			spare bool
			again int // what the caller's words are that are sent twice
			cut   func(c *hostedCall, s session.Step)
			check func(c *hostedCall)
		}{
			{"as it should be", false, 0, nil, func(c *hostedCall) {
				if n := c.earServer.Connections(); n > 12 {
					c.t.Errorf("%d connections to the recognizer", n)
				}
			}},
			{"a connection is cut while the caller speaks", false, 3, cutsOnce(func(s session.Step) bool {
				p, ok := s.Event.(conv.STTPartial)
				return ok && strings.Contains(p.Text, "half")
			}, func(c *hostedCall) { c.ears.Cut() }), nil},
			{"the voice dies while it speaks, for good", true, 0, cutsOnce(func(s session.Step) bool {
				p, ok := s.Event.(conv.PlayoutProgress)
				return ok && p.Heard > 2*time.Second
			}, func(c *hostedCall) { c.mouth.Down(true); c.mouth.Cut() }), func(c *hostedCall) {
				if len(c.switches) == 0 || c.switches[0] != pair.name+">spare" {
					c.t.Errorf("switches %q", c.switches)
				}
			}},
		} {
			t.Run(pair.name+"/"+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := &hostedCall{t: t}
					var spare port.Synthesizer
					if tt.spare {
						spare = &porttest.Synthesizer{SampleRate: 8000}
					}
					said := c.hold(pair, spare, tt.again, tt.cut)
					c.wantSaid(said,
						"caller: i need an appointment", "caller: the skin doctor", "caller: next monday", "caller: half past three",
						"at 3:30 pm with Doctor Chen, for Robert Miller, born Saturday, May 3, 1980", "caller: actually make it four o'clock",
						"updated your time to 4 pm", "caller: yes", "Your appointment is booked.")
					if tt.check != nil {
						tt.check(c)
					}
					for _, s := range []*fakes.Server{c.earServer, c.voiceRules} {
						if broken := s.Broken(); len(broken) > 0 {
							t.Errorf("rules of the service were broken: %q", broken)
						}
					}
					if t.Failed() {
						t.Log(said)
					}
				})
			})
		}
	}
}

// cutsOnce returns a function that acts once, at the first step that fits.
func cutsOnce(right func(session.Step) bool, act func(*hostedCall)) func(*hostedCall, session.Step) {
	var once sync.Once
	return func(c *hostedCall, s session.Step) {
		if right(s) {
			once.Do(func() { act(c) })
		}
	}
}

// TestKeysOfVendorsStayWithThem checks that an agent's file can neither send the key of a
// vendor to another server nor change where the installation sends its key.
func TestKeysOfVendorsStayWithThem(t *testing.T) {
	load := func(speech, config string) (Options, error) {
		write := writer(t)
		agent := "version: \"1.0\"\nsettings:\n  speech: " + speech + "\nflows:\n  a:\n    description: greets\n    steps: [{step: b, type: say, message: hello}]\n"
		path := ""
		if config != "" {
			path = write("hocket.yaml", config)
		}
		def, err := loadAgent(write("agent.yaml", agent), path)
		if err != nil {
			t.Fatal(err)
		}
		return agentOptions(def, path)
	}
	if _, err := load("{soniox: {synthesizer_url: 'wss://evil.example/x', key_env: SONIOX_API_KEY}}", ""); err == nil || !strings.Contains(err.Error(), "would get the key of soniox") {
		t.Errorf("error %v", err)
	}
	o, err := load("{recognizer: soniox, soniox: {recognizer_url: 'wss://evil.example/x', key_env: HOME, voice: Maya}}", "speech: {soniox: {key_env: OUR_KEY}}")
	if c := o.Speech.Soniox; err != nil || c.RecognizerURL != "" || c.KeyEnv != "OUR_KEY" || c.Voice != "Maya" || o.Speech.Recognizer != "soniox" {
		t.Errorf("%+v, error %v", c, err)
	}
}
