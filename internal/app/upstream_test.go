package app

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/realtime/fake"
	"github.com/hocketvoice/hocket/session"
)

// upstreamFiles writes an agent, a config and what the caller says, and returns their paths.
func upstreamFiles(t *testing.T, agent, config string) (agentFile, configFile, sound string) {
	t.Helper()
	write := writer(t)
	var wav bytes.Buffer
	w, err := audio.NewWAVWriter(&wav, audio.WAVWriterOptions{Rate: callRate})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(porttest.Tone(callRate, 600*time.Millisecond)), w.Close()); err != nil {
		t.Fatal(err)
	}
	return write("agent.yaml", agent), write("hocket.yaml", config), write("caller.wav", wav.String())
}

// TestCallOverUpstream holds a call from files over a service of the config, and replays its
// trace without the service.
func TestCallOverUpstream(t *testing.T) {
	for _, c := range []struct{ name, agent, want string }{
		{"an agent without flows", "version: \"1.0\"\ninstructions: Be kind.\nupstream: front\n", "This is answer 1."},
		{
			"flows hold the reins",
			"version: \"1.0\"\nupstream: front\nflows:\n  greet:\n    description: greet\n    trigger: {intents: [good morning]}\n    steps:\n      - {step: hello, type: say, message: A fine morning to you.}\n",
			"A fine morning to you.",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := &fake.Server{Heard: []string{"good morning"}}
			h := httptest.NewServer(server)
			t.Cleanup(h.Close)
			agent, config, sound := upstreamFiles(t, c.agent,
				"upstreams:\n  - {name: other}\n  - {name: front, url: 'ws"+strings.TrimPrefix(h.URL, "http")+"/v1/realtime', silence: 200ms}\n")
			trace := filepath.Join(t.TempDir(), "trace.jsonl")
			var mu sync.Mutex
			var said, notes []string
			_, err := Call(t.Context(), CallOptions{
				Agent: agent, Config: config, Lines: []CallerLine{{File: sound}}, Trace: trace,
				Said: func(s session.Spoken) {
					mu.Lock()
					defer mu.Unlock()
					said = append(said, string(s.Role)+": "+s.Text)
				},
				Note: func(line string) { notes = append(notes, line) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(said, "user: good morning") || !slices.Contains(said, "agent: "+c.want) {
				t.Errorf("said %q: expected the words of both", said)
			}
			if !slices.Contains(notes, "in real time, since a speech-to-speech service answers") {
				t.Errorf("notes %q: expected that the call runs in real time", notes)
			}
			if refused := server.Refused(); len(refused) > 0 {
				t.Errorf("the service was asked for what the protocol does not allow: %q", refused)
			}
			f, err := os.Open(trace)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			asked := 0
			steps, err := journal.Replay(f, func(_ journal.Line, ev conv.Event, _ *conv.Conversation) {
				if _, ok := ev.(conv.SpeechStarted); ok {
					asked++
				}
			})
			if err != nil || steps == 0 || asked == 0 {
				t.Errorf("the trace replays %d steps with %d voices, error %v", steps, asked, err)
			}
		})
	}
}

// TestUpstreamConfig checks which configs are refused, and to which server a key may be sent.
func TestUpstreamConfig(t *testing.T) {
	for _, c := range []struct{ name, agent, config, want string }{
		{"no such service", "upstream: frnt", "upstreams: [{name: front}]", `names the speech-to-speech service "frnt"`},
		{"no service at all", "upstream: front", "language: en", "must be given in this config"},
		{"a URL of another scheme", "upstream: front", "upstream: {name: front, url: 'https://x/'}", "must be a wss or ws URL"},
		{"two of a name", "upstream: a", "upstreams: [{name: a}, {name: a}]", "another service has this name"},
		{"half of an application", "upstream: a", "upstreams: [{name: a, entra: {tenant: t}}]", "the client of entra must be set"},
		{"a foreign key in an agent's file", "upstream: {name: a, url: 'wss://x/v1/realtime', key_env: OPENAI_API_KEY}", "", "only a config file"},
		{"a key by secrets elsewhere", "upstream: {name: a, secrets: 'https://x/secrets'}", "", "only a config file"},
		{"a foreign key in a config", "upstream: a", "upstreams: [{name: a, url: 'wss://x/v1/realtime', key_env: OPENAI_API_KEY}]", ""},
		{"the vendor's own host", "upstream: {name: a, voice: marin}", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			agent, config, _ := upstreamFiles(t, "version: \"1.0\"\ninstructions: Be kind.\n"+c.agent+"\n", c.config+"\n")
			if c.config == "" {
				config = ""
			}
			def, err := loadAgent(agent, config)
			if err == nil {
				_, err = agentOptions(def, config)
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, expected %q", err, c.want)
			}
		})
	}
}
