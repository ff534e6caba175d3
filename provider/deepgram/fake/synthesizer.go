package fake

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
)

// Synthesizer is the endpoint /v1/speak. Its fields must be set before it serves. It is safe
// for concurrent use.
type Synthesizer struct {
	fakes.Server
	// Key is the key that clients must have.
	Key string
	// Mouth speaks.
	Mouth fakes.Mouth
}

const (
	maxAge     = time.Hour
	maxText    = 2000
	maxFlushes = 20 // in a minute
)

func voiceParameters() fakes.Parameters {
	return fakes.Parameters{
		"model":    func(v string) bool { return strings.HasPrefix(v, "aura-") },
		"encoding": encodings, "sample_rate": fakes.OneOf("8000", "16000", "24000", "32000", "48000"),
		"speed": fakes.Between(0.7, 1.5), "mip_opt_out": fakes.Bool,
	}
}

func voiceAlso(get func(string) string) string {
	if rate := number(get("sample_rate"), 8000); strings.HasSuffix(get("encoding"), "law") && rate > 16000 {
		return "mulaw and alaw take a sample_rate of 8000 or 16000"
	}
	return ""
}

// ServeHTTP serves a WebSocket.
func (s *Synthesizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := rules{key: s.Key, parameters: voiceParameters(), also: voiceAlso}
	serve(&s.Server, w, r, a, func(c *fakes.Conn) *closing { //nolint:contextcheck // c has its context
		v := &speaker{s: s, c: c, q: r.URL.Query()}
		defer v.texts.Stop()
		return v.serve()
	})
}

// speaker serves one connection.
type speaker struct {
	s       *Synthesizer
	c       *fakes.Conn
	q       url.Values
	texts   fakes.Texts
	text    strings.Builder // that was not flushed
	flushes []time.Time     // in the last minute

	mu       sync.Mutex // guards the fields below
	waiting  []string   // flushed, to be spoken after the one that is
	speaking int        // the number of what is being spoken; 0 if nothing is
	number   int
	flushed  int // the next sequence_id
}

func (v *speaker) serve() *closing {
	began := time.Now()
	model := "aura-asteria-en"
	if m := v.q.Get("model"); m != "" {
		model = m
	}
	v.c.SendJSON(map[string]any{"type": "Metadata", "request_id": requestID, "model_name": model, "model_version": "2026-11-01", "model_uuid": requestID})
	for {
		data, binary, err := v.c.Read(maxAge - time.Since(began))
		switch {
		case err != nil && time.Since(began) >= maxAge:
			return &closing{1011, "NET-0003", nil}
		case err != nil:
			return nil
		case binary:
			return unknownKind
		}
		m, ok := read(data)
		if !ok {
			return badMessage
		}
		switch m.Type {
		case "Speak":
			if m.Text == nil {
				return badMessage
			}
			v.text.WriteString(*m.Text)
			if len([]rune(v.text.String())) > maxText {
				return &closing{1009, "BIG-0001", nil}
			}
		case "Flush":
			v.flush(time.Now())
		case "Clear":
			v.clear()
		case "Close":
			v.c.Close(1000, "")
			return nil
		default:
			return badMessage
		}
	}
}

// flush has the text so far spoken.
func (v *speaker) flush(now time.Time) {
	for len(v.flushes) > 0 && now.Sub(v.flushes[0]) >= time.Minute {
		v.flushes = v.flushes[1:]
	}
	if len(v.flushes) == maxFlushes {
		v.s.Break("EXCESSIVE_FLUSH: more than %d in a minute", maxFlushes)
		v.c.SendJSON(map[string]any{"type": "Warning", "code": "EXCESSIVE_FLUSH", "description": "Flush was sent too often."})
		return
	}
	v.flushes = append(v.flushes, now)
	v.mu.Lock()
	v.waiting = append(v.waiting, v.text.String())
	v.mu.Unlock()
	v.text.Reset()
	v.next(0)
}

// clear forgets all text and sound.
func (v *speaker) clear() {
	v.text.Reset()
	v.mu.Lock()
	v.texts.End(strconv.Itoa(v.speaking))
	v.waiting, v.speaking = nil, 0
	// Within the lock, so that no sound of what was cleared follows.
	v.c.SendJSON(map[string]any{"type": "Cleared", "sequence_id": v.flushed})
	v.mu.Unlock()
}

// next speaks what waits, after what has the number done.
func (v *speaker) next(done int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.speaking != done || len(v.waiting) == 0 {
		if v.speaking == done {
			v.speaking = 0
		}
		return
	}
	text := v.waiting[0]
	v.waiting = v.waiting[1:]
	v.number++
	number := v.number
	v.speaking = number
	v.texts.Speak(v.c.Context(), strconv.Itoa(number), func(ctx context.Context) { v.speak(ctx, number, text) })
}

// speak speaks a text.
func (v *speaker) speak(ctx context.Context, number int, text string) {
	encoding, rate := v.q.Get("encoding"), 24000
	if n, err := strconv.Atoi(v.q.Get("sample_rate")); err == nil {
		rate = n
	} else if strings.HasSuffix(encoding, "law") {
		rate = 8000
	}
	send := func(say func()) bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.speaking != number {
			return false
		}
		say()
		return true
	}
	err := v.s.Mouth.Speak(ctx, text, "en", rate, func(p fakes.Piece) error {
		if !send(func() { v.c.SendBinary(fakes.Encode(encoding, p.PCM)) }) {
			return context.Canceled
		}
		return ctx.Err()
	})
	if err != nil {
		return // it was cleared, or the client has gone
	}
	send(func() {
		v.c.SendJSON(map[string]any{"type": "Flushed", "sequence_id": v.flushed})
		v.flushed++
	})
	v.next(number) //nolint:contextcheck // the next text has a context of its own
}
