package realtime_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	"github.com/hocketvoice/hocket/detector/energy"
	"github.com/hocketvoice/hocket/detector/silero"
	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/openai"
	"github.com/hocketvoice/hocket/provider/openai/fake"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

const ms = time.Millisecond

// speech contains the engines of this build, which the tests share.
type speech struct {
	recognizer port.Recognizer
	voice      port.Synthesizer
	detector   port.Detector
	trained    bool // the detector is a neural network
}

var engines = sync.OnceValues(func() (*speech, error) {
	voice, err := flite.New(flite.Options{})
	if err != nil {
		return nil, err
	}
	ears, err := pocketsphinx.New(pocketsphinx.Options{})
	if err != nil {
		return nil, err
	}
	s := &speech{recognizer: ears, voice: voice}
	if d, err := silero.New(silero.Options{}); err == nil {
		s.detector, s.trained = d, true
		return s, nil
	}
	s.detector, err = energy.New(energy.Options{})
	return s, err
})

// engine returns the engines. It skips the test if there are none.
func engine(t testing.TB) *speech {
	t.Helper()
	s, err := engines()
	if err != nil {
		t.Skipf("this build has no speech: %v", err)
	}
	return s
}

// places limits the tests that run at once to two per processor. With more, sound would
// not keep pace with the clock.
var places = struct {
	next  sync.Mutex // held by the next test in line, so that none is overtaken
	mu    sync.Mutex // guards taken
	taken int
	freed chan struct{} // contains a token when there may be room
}{freed: make(chan struct{}, 1)}

// take waits for n places and holds them until the test ends. A conversation with sound
// needs one, and a test that keeps a processor busy two. It must be called before the
// server is created, so that the server ends before the places are free.
func take(t testing.TB, n int) {
	t.Helper()
	places.next.Lock()
	defer places.next.Unlock()
	for {
		places.mu.Lock()
		if places.taken == 0 || places.taken+n <= 2*runtime.GOMAXPROCS(0) {
			places.taken += n
			places.mu.Unlock()
			break
		}
		places.mu.Unlock()
		<-places.freed
	}
	t.Cleanup(func() {
		places.mu.Lock()
		defer places.mu.Unlock()
		places.taken -= n
		select {
		case places.freed <- struct{}{}:
		default:
		}
	})
}

// rig is a server with real speech and a language model controlled by the test.
type rig struct {
	t    testing.TB
	llm  *fake.Server
	o    rigOptions
	http *httptest.Server
	srv  *realtime.Server
}

// key is the key of clients of a rig with keys.
const key = "sk-test"

// rigOptions configures a rig.
type rigOptions struct {
	answer func(fake.Request) fake.Answer
	keys   bool
	silent bool // no speech engines
	greets bool // the agent greets
	flows  bool // flows answer; there is no model
	change func(*realtime.Options)
	open   func(model string, o *session.Options) error
}

func newRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	r := &rig{t: t, o: o, llm: &fake.Server{Answer: o.answer}}
	if o.answer == nil {
		r.llm.Answer = answer
	}
	llm := httptest.NewServer(r.llm)
	model, err := openai.New(openai.Options{BaseURL: llm.URL + "/v1", Model: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	opts := realtime.Options{
		Open: func(_ context.Context, from realtime.Caller) (realtime.Parts, error) {
			so := session.Options{Model: model}
			if !o.silent {
				e := engine(t)
				so.Recognizer, so.Synthesizer, so.Detector = e.recognizer, e.voice, e.detector
				if e.trained {
					// As in every call with a neural detector, levels are ignored.
					so.Onset.Thresholds.EnergyHigh, so.Onset.Thresholds.EnergyLow = turn.Off, turn.Off
				}
			}
			if o.open != nil {
				if err := o.open(from.Model, &so); err != nil {
					return realtime.Parts{Session: so}, err
				}
			}
			return realtime.Parts{Session: so}, nil
		},
	}
	if o.keys {
		opts.Authorize = func(_ *http.Request, k string) (string, bool) { return "tester", k == key }
	}
	if o.change != nil {
		o.change(&opts)
	}
	if r.srv, err = realtime.New(opts); err != nil {
		t.Fatal(err)
	}
	r.http = httptest.NewServer(r.srv)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.srv.Close(ctx); err != nil {
			t.Errorf("the server does not end: %v", err)
		}
		r.http.Close()
		_ = model.Close()
		llm.Close()
		if no := r.llm.Refused(); len(no) > 0 {
			t.Errorf("the language model was asked wrongly: %v", no)
		}
	})
	return r
}

// The words that control the language model.
const (
	shortAnswer = "This is an answer. So." // two short sentences
	longAnswer  = "Once upon a time there was a small house at the edge of a deep forest. In the house lived an old woman. She had a black cat and a white dog. Every evening they sat by the fire. The cat told stories of the sea. The dog told stories of the hills. And nobody ever knew which of them were true."
	weather     = "get_weather"
)

// answer is the default language model.
func answer(q fake.Request) fake.Answer {
	last := q.Messages[len(q.Messages)-1]
	said := strings.ToLower(last.Text())
	switch {
	case last.Role == "tool":
		return fake.Text("The tool says: ", last.Text(), ".")
	case len(q.Tools) > 0 && (strings.Contains(string(q.ToolChoice), "required") || strings.Contains(said, "weather")):
		return fake.Stream(fake.Begin(), fake.Call(0, "call_weather_"+newID(), q.Tools[0].Function.Name, `{"city":`), fake.Call(0, "", "", `"Paris"}`), fake.Finish("tool_calls"))
	case strings.Contains(said, "story"):
		return fake.Text(pieces(longAnswer)...)
	case strings.Contains(said, "slowly"):
		a := fake.Text(pieces(longAnswer)...)
		a.Gap = 50 * ms
		return a
	case strings.Contains(said, "without end"):
		a := fake.Stream(fake.Begin())
		for _, p := range pieces(longAnswer[:len(longAnswer)/2]) {
			a.Events = append(a.Events, fake.Said(p))
		}
		a.NoDone, a.Hang = true, true
		return a
	case strings.Contains(said, "fail"):
		return fake.Failure(http.StatusBadRequest, "invalid_request", "This model does not want to.")
	case strings.Contains(said, "instructions"):
		return fake.Text(q.Messages[0].Text())
	default:
		return fake.Text(pieces(shortAnswer)...)
	}
}

var (
	idMu sync.Mutex
	idN  int
)

func newID() string {
	idMu.Lock()
	defer idMu.Unlock()
	idN++
	return strings.Repeat("i", 1+idN%20) + string(rune('a'+idN%26))
}

// pieces splits a text into words, as a model streams them.
func pieces(text string) []string {
	list := strings.SplitAfter(text, " ")
	return list
}

// event is a received server event.
type event struct {
	Type string
	raw  []byte
	at   time.Time
	m    map[string]any
}

// get returns a member by its path ("response.status", "item.content.0.type"), or nil.
func (e event) get(path string) any {
	var v any = e.m
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i := int(name[0] - '0')
			if len(name) != 1 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func (e event) str(path string) string {
	s, _ := e.get(path).(string)
	return s
}

func (e event) num(path string) float64 {
	n, ok := e.get(path).(float64)
	if !ok {
		return -1
	}
	return n
}

// client is a client of the protocol on a bare WebSocket.
type client struct {
	t      testing.TB
	ws     *websocket.Conn
	header http.Header // of the handshake's answer
	beta   bool

	mu     sync.Mutex // guards the fields below
	cond   *sync.Cond
	events []event
	next   int // index of the first event that was not waited for
	err    error
	done   chan struct{}
}

// dialOptions configures how a client connects.
type dialOptions struct {
	query     string // instead of "model=test"
	path      string
	header    http.Header
	protocols []string
}

func (r *rig) dial(t testing.TB, o dialOptions) *client {
	t.Helper()
	if o.path == "" {
		o.path = "/v1/realtime"
	}
	if o.query == "" {
		o.query = "model=test"
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(r.http.URL, "http")+o.path+"?"+o.query, &websocket.DialOptions{
		HTTPHeader: o.header, Subprotocols: o.protocols,
	})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(64 << 20)
	c := &client{t: t, ws: ws, header: resp.Header, beta: strings.Contains(fmt.Sprint(o.header), "realtime=v1"), done: make(chan struct{})}
	c.cond = sync.NewCond(&c.mu)
	go c.read()
	t.Cleanup(c.close)
	return c
}

func (c *client) close() {
	_ = c.ws.CloseNow()
	<-c.done
}

func (c *client) read() {
	defer close(c.done)
	for {
		_, b, err := c.ws.Read(context.Background())
		c.mu.Lock()
		if err != nil {
			c.err = err
			c.cond.Broadcast()
			c.mu.Unlock()
			return
		}
		e := event{raw: b, at: time.Now()}
		if json.Unmarshal(b, &e.m) == nil {
			e.Type, _ = e.m["type"].(string)
		}
		c.events = append(c.events, e)
		record(c.t, e, c.beta)
		c.cond.Broadcast()
		c.mu.Unlock()
	}
}

// send sends an event.
func (c *client) send(v any) {
	c.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	c.raw(string(b))
}

type obj = map[string]any

func (c *client) raw(s string) {
	c.t.Helper()
	recordSent([]byte(s))
	c.write(s)
}

// write sends an event without recording it.
func (c *client) write(s string) {
	c.t.Helper()
	if err := c.ws.Write(c.t.Context(), websocket.MessageText, []byte(s)); err != nil {
		c.t.Fatalf("send %.100s: %v", s, err)
	}
}

const patience = 5 * time.Minute // only reached if something hangs

// wait returns the next event for which ok returns true, and skips those before it.
func (c *client) wait(what string, ok func(event) bool) event {
	c.t.Helper()
	limit := patience
	if _, ok := c.t.(*probe); ok {
		limit = 15 * time.Second // the check is expected to fail
	}
	late := time.AfterFunc(limit, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.err == nil {
			c.err = errors.New("nothing came for too long")
		}
		c.cond.Broadcast()
	})
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	from := c.next
	for {
		for c.next < len(c.events) {
			e := c.events[c.next]
			c.next++
			if ok(e) {
				return e
			}
		}
		if c.err != nil {
			var seen []string
			for _, e := range c.events[from:] {
				seen = append(seen, e.Type+brief(e))
			}
			c.t.Fatalf("waiting for %s: %v; came: %s", what, c.err, strings.Join(seen, ", "))
		}
		c.cond.Wait()
	}
}

func brief(e event) string {
	if e.Type == "error" || e.Type == "response.done" {
		return " " + string(e.raw)
	}
	return ""
}

// of waits for an event of a type.
func (c *client) of(name string) event {
	c.t.Helper()
	return c.wait(name, func(e event) bool { return e.Type == name })
}

// mark returns the position from which since counts.
func (c *client) mark() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next
}

// since returns the events from a mark up to the last one that was waited for.
func (c *client) since(mark int) []event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.events[mark:c.next])
}

// come returns all received events.
func (c *client) come() []event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.events)
}

// settle waits for the answer to a harmless request, so that all events sent before it
// were received.
func (c *client) settle() {
	c.t.Helper()
	id := "settle_" + newID() + newID()
	c.send(obj{"type": "conversation.item.retrieve", "event_id": id, "item_id": "nothing"})
	c.wait("the end of what there is", func(e event) bool { return e.str("error.event_id") == id })
}

// ended waits for the end of the connection and returns its code.
func (c *client) ended() websocket.StatusCode {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(patience):
		c.t.Fatal("the connection does not end")
	}
	return websocket.CloseStatus(c.err)
}

// update sends session.update and waits for its answer.
func (c *client) update(session obj) event {
	c.t.Helper()
	if _, ok := session["type"]; !ok {
		session["type"] = "realtime"
	}
	c.send(obj{"type": "session.update", "session": session})
	return c.of("session.updated")
}

// user adds a message of the user.
func (c *client) user(text string) event {
	c.t.Helper()
	c.send(obj{"type": "conversation.item.create", "item": obj{
		"type": "message", "role": "user", "content": []any{obj{"type": "input_text", "text": text}},
	}})
	return c.of("conversation.item.done")
}

// expectError sends an event and waits for the error about it.
func (c *client) expectError(v obj) event {
	c.t.Helper()
	id := "ask_" + newID() + newID()
	v["event_id"] = id
	c.send(v)
	return c.wait("an error about "+id, func(e event) bool { return e.Type == "error" && e.str("error.event_id") == id })
}

// textOnly turns off turn detection and sound.
func (c *client) textOnly() {
	c.t.Helper()
	c.update(obj{"output_modalities": []string{"text"}, "audio": obj{"input": obj{"turn_detection": nil}}})
}

// sound returns a recording or a spoken text at 24 kHz.
func sound(t testing.TB, what string) []int16 {
	t.Helper()
	var pcm []int16
	var rate int
	if strings.HasSuffix(what, ".wav") {
		pcm, rate = recording(t, what)
	} else {
		e := engine(t)
		rate = e.voice.Rate()
		if err := e.voice.Speak(t.Context(), port.Utterance{Text: what, Voice: "rms"}, func(s port.Speech) error {
			pcm = append(pcm, s.PCM...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	pcm, err := audio.Resample(pcm, rate, 24000)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

func recording(t testing.TB, name string) (pcm []int16, rate int) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "tau2-voice", name))
	if err != nil {
		t.Skipf("the recordings are not there: %v", err)
	}
	defer f.Close()
	r, err := audio.NewWAVReader(f, audio.WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pcm, err = r.ReadAllMono(0); err != nil {
		t.Fatal(err)
	}
	return pcm, r.Format().Rate
}

// bytesOf encodes samples as PCM16.
func bytesOf(pcm []int16) []byte {
	b := make([]byte, 0, 2*len(pcm))
	for _, s := range pcm {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}

// append sends sound at once.
func (c *client) append(pcm []int16) {
	c.t.Helper()
	for len(pcm) > 0 {
		n := min(len(pcm), 24000)
		c.send(obj{"type": "input_audio_buffer.append", "audio": bytesOf(pcm[:n])})
		pcm = pcm[n:]
	}
}

// microphone sends silence, and speech in between, in pieces of 40 ms in real time, as
// a browser does.
type microphone struct {
	c      *client
	encode func([]int16) []byte
	mu     sync.Mutex
	left   []int16
	quietc chan struct{} // receives a token when all speech was sent
	stop   chan struct{}
	done   chan struct{}
}

func (c *client) microphone(encode func([]int16) []byte) *microphone {
	if encode == nil {
		encode = bytesOf
	}
	m := &microphone{c: c, encode: encode, quietc: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go m.run()
	c.t.Cleanup(m.off)
	return m
}

func (m *microphone) off() {
	select {
	case <-m.stop:
	default:
		close(m.stop)
	}
	<-m.done
}

func (m *microphone) run() {
	defer close(m.done)
	due := time.Now()
	beat := time.NewTimer(0)
	defer beat.Stop()
	frame := make([]int16, 960)
	for ; ; beat.Reset(time.Until(due)) {
		select {
		case <-m.stop:
			return
		case <-m.c.done:
			return
		case <-beat.C:
		}
		due = due.Add(40 * ms) // late pieces are made up for
		clear(frame)
		m.mu.Lock()
		n := copy(frame, m.left)
		m.left = m.left[n:]
		if n > 0 && len(m.left) == 0 {
			select {
			case m.quietc <- struct{}{}:
			default:
			}
		}
		m.mu.Unlock()
		b, err := json.Marshal(obj{"type": "input_audio_buffer.append", "audio": m.encode(frame)})
		if err != nil || m.c.ws.Write(context.Background(), websocket.MessageText, b) != nil {
			return
		}
	}
}

// say sends sound through the microphone.
func (m *microphone) say(pcm []int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = append(m.left, pcm...)
}

// said waits until all speech was sent.
func (m *microphone) said() {
	select {
	case <-m.quietc:
	case <-m.c.done:
	}
}
