//go:build peers

package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/bench"
	"github.com/hocketvoice/hocket/internal/codec/opus"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
)

// person talks through a browser and says the next line when the agent has been silent for a
// while.
type person struct {
	t       *testing.T
	encoder *opus.Encoder
	decoder *opus.Decoder
	pcm     []int16 // scratch of the ear
	packet  []byte

	mu    sync.Mutex // guards all below
	lines [][]int16  // still to be said, at personRate
	left  []int16    // of the line being said
	quiet int        // frames since either was heard
	spoke bool       // the agent has been heard since the last line
	heard []int16    // of the agent
}

const (
	personRate = 48000
	patience   = 40 // frames of silence before the next line
)

func newPerson(t *testing.T, lines [][]int16) *person {
	t.Helper()
	e, err1 := opus.NewEncoder(opus.EncoderOptions{Rate: personRate})
	d, err2 := opus.NewDecoder(opus.DecoderOptions{Rate: personRate})
	if err := errors.Join(err1, err2, e.SetLoss(5)); err != nil {
		t.Fatal(err)
	}
	return &person{
		t: t, encoder: e, decoder: d, lines: lines,
		pcm: make([]int16, personRate/1000*120), packet: make([]byte, opus.MaxPacket),
	}
}

// speak returns the next 20 ms.
func (p *person) speak() []byte {
	p.mu.Lock()
	p.quiet++
	if len(p.left) == 0 && p.quiet > patience && p.spoke && len(p.lines) > 0 {
		p.left, p.lines, p.spoke = p.lines[0], p.lines[1:], false
	}
	frame := make([]int16, personRate/50)
	n := copy(frame, p.left)
	if p.left = p.left[n:]; n > 0 {
		p.quiet = 0
	}
	p.mu.Unlock()
	size, err := p.encoder.Encode(p.packet, frame)
	if err != nil {
		p.t.Error(err)
	}
	if size == 0 {
		return nil
	}
	return p.packet[:size]
}

// listen receives a packet of the agent.
func (p *person) listen(packet []byte) {
	n, err := p.decoder.Decode(p.pcm, packet)
	if err != nil {
		p.t.Error(err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, p.pcm[:n]...)
	if audio.RMS(p.pcm[:n]) > 0.01 {
		p.quiet, p.spoke = 0, true
	}
}

// done reports whether all lines were said and answered.
func (p *person) done() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lines) == 0 && len(p.left) == 0 && p.spoke && p.quiet > patience
}

// TestAloneSpokenConversation books a flight by voice over a network that loses and delays
// packets.
func TestAloneSpokenConversation(t *testing.T) {
	r := serve(t, "server: {drain: off}")
	var c config.Speech
	speech, err := NewSpeech(c)
	if errors.Is(err, flite.ErrMissing) || errors.Is(err, pocketsphinx.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	said := []string{"I want to book a flight", "from Boston", "to Denver"}
	var lines [][]int16
	utterances, err := file.Say(t.Context(), speech.Synthesizer, callerVoice, said...)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range utterances {
		pcm, err := audio.Resample(u.PCM, callRate, personRate)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, pcm)
	}
	if err := speech.Close(); err != nil {
		t.Fatal(err)
	}
	network, err := nettest.New(nettest.Weather{Loss: 0.02, Jitter: 30 * time.Millisecond, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := newPerson(t, lines)
	browser, err := bench.NewBrowser(bench.BrowserOptions{Conn: network, Source: p.speak, Sink: p.listen})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := browser.Close(); err != nil {
			t.Error(err)
		}
	}()
	id := r.connect(browser)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !p.done() {
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			t.Fatalf("the conversation does not end: phase %s, understood %q", r.phase(id), r.understood(id))
		}
	}
	if got, want := r.understood(id), []string{"i want to book a flight", "from boston", "to denver"}; !slices.Equal(got, want) {
		t.Errorf("understood %q, want %q", got, want)
	}
	if status := r.do("POST", "/v1/conversations/"+id+"/commands", `{"type":"endConversation"}`, nil); status != http.StatusAccepted {
		t.Errorf("status %d", status)
	}
	r.eventually("what the network did, in the log", func() bool { return strings.Contains(r.log.String(), `"line":{"received":`) })
	p.mu.Lock()
	defer p.mu.Unlock()
	if level := audio.RMS(p.heard); level < 0.02 {
		t.Errorf("the agent was heard at level %v for %d samples", level, len(p.heard))
	}
}

// connect begins a conversation for a browser and returns its id.
func (r *running) connect(b *bench.Browser) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	offer, err := b.Offer(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	body, err := json.Marshal(map[string]string{"agent": "flights", "transport": "webrtc", "sdp": offer})
	if err != nil {
		r.t.Fatal(err)
	}
	var made createdAnswer
	if status := r.do("POST", "/v1/conversations", string(body), &made); status != http.StatusCreated {
		r.t.Fatalf("status %d", status)
	}
	if err := b.Answer(ctx, made.SDP); err != nil {
		r.t.Fatal(err)
	}
	return made.ID
}

// understood returns the final transcripts with words, from the trace.
func (r *running) understood(id string) (texts []string) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+"/v1/conversations/"+id+"/trace", http.NoBody)
	if err != nil {
		r.t.Fatal(err)
	}
	w, err := r.client.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer w.Body.Close()
	for d := json.NewDecoder(w.Body); ; {
		var line struct {
			Event string
			In    struct{ Text string }
		}
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			return texts
		} else if err != nil {
			r.t.Fatal(err)
		}
		if line.Event == "stt.final" && line.In.Text != "" {
			texts = append(texts, line.In.Text)
		}
	}
}
