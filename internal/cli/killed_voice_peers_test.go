//go:build peers && unix

package cli

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
)

// The sampling rate of the OpenAI Realtime protocol in hertz, and the length of the
// pieces of sound.
const (
	voiceRate = 24000
	beat      = 40 * time.Millisecond
)

// The caller's lines.
const (
	lineTrip = "I want a trip to Denver"
	lineCity = "to Denver"
	lineYes  = "yes please"
	lineMore = "try again"
	lineWhat = "repeat that please"
)

// moment is the time at which a server is killed: in the middle of a line of the
// caller, while the agent says something, when a question was heard and waits for an
// answer, or when the service has done something and not yet answered. If told and does
// are set, both must hold.
type moment struct {
	name string
	says string // a line of the caller
	told string // words of the agent that are being spoken
	asks string // words of the agent that were heard
	does string // a path of the service
}

// moments are two for each state of a conversation by voice.
var moments = []moment{
	{name: "the person speaks/the wish", says: lineTrip},
	{name: "the person speaks/the yes", says: lineYes},
	{name: "the agent speaks/the price", told: "It costs"},
	{name: "the agent speaks/the question", told: "Shall I book"},
	{name: "a tool runs/the quote", does: "/quote"},
	{name: "a tool runs/the booking", does: "/book"},
	{name: "delegated/at once", does: "/advise", told: "It costs"},
	{name: "delegated/a while later", does: "/advise", told: "It costs"},
	{name: "it waits for a yes/at once", asks: "Shall I book"},
	{name: "it waits for a yes/a while later", asks: "Shall I book"},
}

// TestAloneKilledByVoice holds conversations by voice in real time, and kills their
// servers while the person speaks, the agent speaks, a tool runs, delegated work runs,
// or the agent waits for a confirmation. The callers return and repeat what was not
// answered. Each conversation must continue at its step without a second greeting, and
// book once.
func TestAloneKilledByVoice(t *testing.T) {
	sounds := spokenLines(t)
	// t.Parallel would run one per processor, but these wait most of the time. If all
	// ran at once, none would be answered in real time.
	places := make(chan struct{}, 2*runtime.GOMAXPROCS(0)+1)
	var all sync.WaitGroup
	defer all.Wait()
	for i, m := range moments {
		if i%2 == 1 && os.Getenv("HOCKET_LONG") == "" {
			continue // `make soak` also kills later
		}
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			t.Run(m.name, func(t *testing.T) { killTalker(t, uint64(i), m, sounds) })
		})
	}
}

// briefAgent is the agent in fewer words, to save time.
var briefAgent = strings.NewReplacer(" for you?", "?", " I ask for advice.", "").Replace(tripAgent)

// killTalker holds one conversation whose server is killed at a moment.
func killTalker(t *testing.T, seed uint64, m moment, sounds map[string][]int16) {
	var late time.Duration // half of the servers are killed at once
	if seed%2 == 1 {
		late = time.Duration(rand.New(rand.NewPCG(8, seed)).IntN(400)) * time.Millisecond
	}
	service, url := newAgency(t, rand.New(rand.NewPCG(9, seed)))
	n := newNode(t, agentFile(t, briefAgent), filepath.Join(t.TempDir(), "calls.db"), "", "TRIP_URL="+url)
	n.start()
	v := &talker{
		realtimeClient: realtimeClient{t: t}, node: n, moment: m, sounds: sounds, late: late,
		patience: patienceByVoice, done: make(chan string), killed: make(chan struct{}),
	}
	service.mu.Lock()
	service.hold = func(path string) {
		if path != m.does {
			return
		}
		select {
		case v.done <- path:
			<-v.killed // do not answer before
		case <-v.killed: // the request is repeated
		case <-t.Context().Done():
		}
	}
	service.mu.Unlock()
	v.book()
	if !v.dead() {
		t.Errorf("the server was not killed; the agent said %q", v.said)
	}
	if asked := service.asked("/quote", v.id); asked < 1 || asked > v.wishes {
		t.Errorf("%d quotes were asked for, expected one for each of the %d wishes at most", asked, v.wishes)
	}
	known := &traveller{caller: &caller{t: t, urls: []string{n.url}, id: v.id}, ref: v.ref}
	known.arrived(service)
	t.Logf("away for %v; the agent said %q", v.away.Round(time.Millisecond), v.said)
}

// talker is a person who books a trip by voice.
type talker struct {
	realtimeClient
	node   *node
	moment moment
	sounds map[string][]int16
	late   time.Duration // how long the server runs after the moment

	done   chan string   // receives the paths of what the service has done
	killed chan struct{} // closed when the server was killed
	doomed bool          // the moment has come
	does   bool          // the service has done what the moment waits for
	away   time.Duration

	patience time.Duration

	events   chan voiceEvent // of the connection; closed when it has ended
	lines    chan []int16    // for the microphone
	quiet    chan struct{}   // receives when a line was said
	half     chan struct{}   // receives when half of a line was said
	saying   string          // the line being said
	open     string          // the line that was not answered yet
	speaking bool            // the agent is speaking
	words    string          // of the agent's current line
	said     []string        // the agent's complete lines
	step     int             // index of the last of steps that was heard
	wishes   int             // how often the caller has asked for the trip
	ref      string          // told by the agent
}

// voiceEvent contains the members of an event that a talker needs.
type voiceEvent struct {
	Type, Delta string
	Error       struct{ Code, Message string }
	Response    struct{ Status string }
}

// steps are the agent's questions and answers in order.
var steps = []string{"What can I do", "Where do you want", "It costs", "Shall I", "the reference is"}

// How long a caller hears nothing before speaking, and how long a caller who has just
// returned.
const (
	patienceByVoice = 4 * time.Second
	backAgain       = 2 * time.Second
)

// book continues the conversation until the trip is booked.
func (v *talker) book() {
	v.connect()
	silence := time.NewTimer(time.Hour)
	defer silence.Stop()
	later := time.NewTimer(time.Hour)
	defer later.Stop()
	end := time.Now().Add(90 * time.Second)
	for v.ref == "" {
		if time.Now().After(end) {
			v.t.Fatalf("it comes to no end; the agent said %q, and is saying %q; without an answer is %q", v.said, v.words, v.open)
		}
		silence.Reset(v.patience)
		select {
		case e, ok := <-v.events:
			if !ok {
				v.comeBack()
				continue
			}
			if strings.HasPrefix(e.Type, "response.") {
				v.patience = patienceByVoice
			}
			if v.hear(e) && !v.doomed {
				v.doomed = true
				later.Reset(v.late)
			}
		case <-v.half:
			if v.saying == v.moment.says && !v.dead() {
				v.kill()
			}
		case <-v.quiet:
			v.saying = ""
		case <-v.done:
			if v.does = true; v.moment.told == "" {
				v.doomed = true
				later.Reset(v.late / 4) // the service waits
			}
		case <-later.C:
			if !v.dead() {
				v.kill()
			}
		case <-silence.C:
			if v.patience = patienceByVoice; !v.speaking && v.saying == "" {
				v.say(v.again())
			}
		}
	}
	_ = v.conn.Close(websocket.StatusNormalClosure, "") // the conversation is over
	for range v.events {
		continue
	}
}

// again returns what a caller says who is not answered.
func (v *talker) again() string {
	if v.open != "" {
		return v.open
	}
	return lineWhat
}

// hear handles an event. It returns true if the moment has come.
func (v *talker) hear(e voiceEvent) (now bool) {
	switch e.Type {
	case "error":
		v.t.Fatalf("the server says %s: %s", e.Error.Code, e.Error.Message)
	case "response.created":
		v.speaking, v.words = true, ""
	case "response.output_audio_transcript.delta":
		v.words += e.Delta
	case "response.output_audio.delta":
		v.open = "" // it is being answered
		return v.moment.told != "" && strings.Contains(v.words, v.moment.told) && (v.moment.does == "" || v.does)
	case "response.done":
		v.speaking = false
		if e.Response.Status == "completed" && v.words != "" {
			return v.answer(v.words)
		}
	}
	return false
}

// answer answers the agent's words and records the step. It returns true if the moment
// has come.
func (v *talker) answer(words string) (now bool) {
	v.said, v.open = append(v.said, words), ""
	if v.dead() && strings.Contains(words, "Hello.") {
		v.t.Errorf("the agent greets anew: %q", v.said)
	}
	for i, is := range slices.Backward(steps) {
		if strings.Contains(words, is) {
			if i < v.step {
				v.t.Errorf("the conversation goes back: %q", v.said)
			}
			v.step = i
			break
		}
	}
	switch {
	case strings.Contains(words, "the reference is "):
		_, rest, _ := strings.Cut(words, "the reference is ")
		v.ref = strings.TrimRight(rest, ". ")
	case strings.Contains(words, "Do you want that?"): // the yes was said before the question was heard
		v.say(lineYes)
	case strings.Contains(words, "Shall I"):
		if v.moment.asks != "" && !v.dead() {
			v.open = lineYes // is said after the return
			return true
		}
		v.say(lineYes)
	case strings.Contains(words, "Where do you want"):
		v.say(lineCity)
	case strings.Contains(words, "What can I do"):
		v.say(lineTrip)
	case strings.Contains(words, "try again"): // it is not known whether it was booked
		v.say(lineMore)
	}
	return false
}

// say says a line into the microphone.
func (v *talker) say(line string) {
	if v.saying = line; line != lineWhat {
		v.open = line
	}
	if line == lineTrip {
		v.wishes++
	}
	v.lines <- v.sounds[line]
}

func (v *talker) dead() bool {
	select {
	case <-v.killed:
		return true
	default:
		return false
	}
}

// kill ends the server like a power failure.
func (v *talker) kill() {
	v.node.kill()
	close(v.killed)
}

// comeBack starts the server again and continues the conversation.
func (v *talker) comeBack() {
	if !v.dead() {
		v.t.Fatalf("the connection has ended; the agent said %q", v.said)
	}
	v.node.start()
	lost := time.Now()
	v.connect()
	v.away = time.Since(lost)
	v.saying, v.speaking, v.words, v.patience = "", false, "", backAgain
}

// connect opens a connection and a microphone.
func (v *talker) connect() {
	token := v.back
	waittest.Until(v.t, "a connection", nil, func() bool { return v.dial(v.node.url, token) == nil })
	v.events, v.lines, v.quiet, v.half = make(chan voiceEvent, 1024), make(chan []int16, 4), make(chan struct{}, 4), make(chan struct{}, 4)
	ctx, cancel := context.WithCancel(v.t.Context())
	var microphone sync.WaitGroup
	m := &openMicrophone{conn: v.conn, lines: v.lines, quiet: v.quiet, half: v.half}
	microphone.Go(func() { m.run(ctx) })
	go func(conn *websocket.Conn, events chan<- voiceEvent) {
		defer close(events)
		defer microphone.Wait()
		defer cancel()
		for {
			_, b, err := conn.Read(ctx)
			if err != nil {
				return
			}
			var e voiceEvent
			if json.Unmarshal(b, &e) == nil {
				events <- e
			}
		}
	}(v.conn, v.events)
}

// openMicrophone sends silence in real time, and lines in between.
type openMicrophone struct {
	conn        *websocket.Conn
	lines       <-chan []int16
	quiet, half chan<- struct{}
}

func (m *openMicrophone) run(ctx context.Context) {
	piece := make([]int16, audio.PosOf(beat, voiceRate))
	var left []int16
	half := 0
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := time.Now(); ; timer.Reset(time.Until(due)) {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		due = due.Add(beat) // late pieces are made up for
		if len(left) == 0 {
			select {
			case left = <-m.lines:
				half = len(left) / 2
			default:
			}
		}
		clear(piece)
		n := copy(piece, left)
		before := len(left)
		left = left[n:]
		pcm := make([]byte, 0, 2*len(piece))
		for _, s := range piece {
			pcm = binary.LittleEndian.AppendUint16(pcm, uint16(s))
		}
		b, err := json.Marshal(map[string]any{"type": "input_audio_buffer.append", "audio": pcm})
		if err != nil || m.conn.Write(ctx, websocket.MessageText, b) != nil {
			return // the server has ended; the reader reports it
		}
		if before > half && len(left) <= half && before > 0 {
			m.half <- struct{}{}
		}
		if before > 0 && len(left) == 0 {
			m.quiet <- struct{}{}
		}
	}
}

// spokenLines returns the callers' lines as sound. It skips the test if the build has
// no speech.
func spokenLines(t *testing.T) map[string][]int16 {
	t.Helper()
	voice, err := flite.New(flite.Options{})
	ears, missing := pocketsphinx.New(pocketsphinx.Options{})
	if err := errors.Join(err, missing); err != nil {
		t.Skipf("nobody can talk to this build: %v", err)
	}
	defer func() {
		if err := errors.Join(voice.Close(), ears.Close()); err != nil {
			t.Error(err)
		}
	}()
	sounds := make(map[string][]int16)
	for _, line := range []string{lineTrip, lineCity, lineYes, lineMore, lineWhat} {
		var pcm []int16
		err := voice.Speak(t.Context(), port.Utterance{Text: line, Voice: "rms"}, func(s port.Speech) error {
			pcm = append(pcm, s.PCM...)
			return nil
		})
		if err == nil {
			pcm, err = audio.Resample(pcm, voice.Rate(), voiceRate)
		}
		if err != nil {
			t.Fatal(fmt.Errorf("%q: %w", line, err))
		}
		sounds[line] = pcm
	}
	return sounds
}
