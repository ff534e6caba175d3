package fake

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
)

// Synthesizer is the service. Its fields must be set before it serves. It is safe for
// concurrent use.
type Synthesizer struct {
	fakes.Server
	// Key is the key that clients must have.
	Key string
	// Mouth speaks.
	Mouth fakes.Mouth
}

const (
	idle    = 5 * time.Minute
	expires = time.Second // after the last sound of a context that is not complete
)

// ServeHTTP serves a WebSocket.
func (s *Synthesizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, ok := fakes.Key(r, "Authorization", "", "Bearer ")
	if !ok {
		key, _ = fakes.Key(r, "X-API-Key", "", "")
	}
	switch version := r.Header.Get("Cartesia-Version"); {
	case key != s.Key:
		s.refuse(w, http.StatusUnauthorized, "unauthorized", "Invalid API key.")
	case version < "2024-06-10":
		s.refuse(w, http.StatusBadRequest, "invalid_version", "Cartesia-Version is missing or unknown.")
	default:
		s.Serve(w, r, nil, func(c *fakes.Conn) { //nolint:contextcheck // c has its context
			v := &speaker{s: s, c: c, contexts: make(map[string]*spoken)}
			defer v.texts.Stop()
			v.serve()
		})
	}
}

// refuse responds with an error in place of a WebSocket.
func (s *Synthesizer) refuse(w http.ResponseWriter, status int, code, message string) {
	s.Refuse(w, status, `{"error_code":%q,"title":"Error","message":%q,"request_id":"1"}`, code, message)
}

// request is a message of a client.
type request struct {
	Context    string  `json:"context_id"`
	Cancel     bool    `json:"cancel"`
	Transcript *string `json:"transcript"`
	Continue   bool    `json:"continue"`
	Flush      bool    `json:"flush"`
	Duration   float64 `json:"duration"`
	fixed
}

// fixed are the fields that stay the same within a context.
type fixed struct {
	Model      string          `json:"model_id"`
	Voice      json.RawMessage `json:"voice"`
	Language   string          `json:"language"`
	Format     format          `json:"output_format"`
	Timestamps bool            `json:"add_timestamps"`
	Phonemes   bool            `json:"add_phoneme_timestamps"`
	Normalized bool            `json:"use_normalized_timestamps"`
	Buffer     *int            `json:"max_buffer_delay_ms"`
	Config     json.RawMessage `json:"generation_config"`
	Dictionary string          `json:"pronunciation_dict_id"`
	Speed      string          `json:"speed"`
}

type format struct {
	Container string `json:"container"`
	Encoding  string `json:"encoding"`
	Rate      int    `json:"sample_rate"`
}

// same reports whether two requests have the same fixed fields.
func same(a, b fixed) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// speaker serves one connection.
type speaker struct {
	s     *Synthesizer
	c     *fakes.Conn
	texts fakes.Texts

	mu       sync.Mutex // guards contexts and what they have
	contexts map[string]*spoken
}

// spoken is a context.
type spoken struct {
	fixed
	waiting  string // not yet to be spoken
	texts    chan<- string
	complete bool
	length   time.Duration // of the sound
	last     time.Time     // when there was sound; zero while there will be more
}

func (v *speaker) serve() {
	for {
		data, binary, err := v.c.Read(idle)
		if err != nil {
			if errors.Is(err, fakes.ErrIdle) {
				v.c.Close(1000, "")
			}
			return
		}
		var m request
		if binary || fakes.Strict(data, &m) != nil {
			v.fail("", http.StatusBadRequest, "invalid_request", "The message could not be parsed.")
			continue
		}
		if problem := v.obey(m); problem != "" {
			v.fail(m.Context, http.StatusBadRequest, "invalid_request", problem)
		}
	}
}

// fail sends an error and records it as a broken rule.
func (v *speaker) fail(id string, status int, code, message string) {
	v.s.Break("%s", message)
	m := map[string]any{"type": "error", "done": true, "status_code": status, "error_code": code, "title": "Error", "message": message, "request_id": "1"}
	if id != "" {
		m["context_id"] = id
	}
	v.c.SendJSON(m)
}

// obey handles a message. It returns what is wrong with it.
func (v *speaker) obey(m request) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.contexts[m.Context]
	if m.Cancel {
		if c != nil {
			v.texts.End(m.Context)
			c.complete = true
		}
		return ""
	}
	if problem := check(m); problem != "" {
		return problem
	}
	switch {
	case c == nil:
		c = v.open(m)
	case c.complete:
		return "The context is complete."
	case !c.last.IsZero() && time.Since(c.last) > expires:
		return "The context has expired."
	case !same(c.fixed, m.fixed):
		return "The fields of a context must stay the same."
	}
	c.waiting += *m.Transcript
	if now := m.Flush || !m.Continue || m.Buffer != nil && *m.Buffer == 0; now && strings.TrimSpace(c.waiting) != "" {
		c.last = time.Time{}
		c.texts <- c.waiting
		c.waiting = ""
	}
	if !m.Continue {
		c.complete = true
		close(c.texts)
	}
	return ""
}

// check returns what is wrong with a request, or "".
func check(m request) string {
	var config struct {
		Speed   *float64 `json:"speed"`
		Volume  *float64 `json:"volume"`
		Emotion string   `json:"emotion"`
	}
	var voice struct {
		Mode string `json:"mode"`
		ID   string `json:"id"`
	}
	var name string
	if json.Unmarshal(m.Voice, &name) == nil {
		voice.ID = name
	} else if fakes.Strict(m.Voice, &voice) != nil {
		voice.ID = ""
	}
	within := func(v *float64, least, most float64) bool { return v == nil || *v >= least && *v <= most }
	switch {
	case m.Context == "" || m.Model == "" || m.Transcript == nil || voice.ID == "":
		return "context_id, model_id, transcript and voice are required."
	case m.Format.Container != "raw" || !slices.Contains([]string{"pcm_s16le", "pcm_mulaw", "pcm_alaw"}, m.Format.Encoding):
		return "output_format is invalid."
	case !slices.Contains([]int{8000, 16000, 22050, 24000, 44100, 48000}, m.Format.Rate):
		return "sample_rate is invalid."
	case m.Buffer != nil && (*m.Buffer < 0 || *m.Buffer > 5000):
		return "max_buffer_delay_ms must be between 0 and 5000."
	case len(m.Config) > 0 && fakes.Strict(m.Config, &config) != nil, !within(config.Speed, 0.6, 1.5), !within(config.Volume, 0.5, 2):
		return "generation_config is invalid."
	case !slices.Contains([]string{"", "slow", "normal", "fast"}, m.Speed):
		return "speed is invalid."
	}
	return ""
}

// open opens a context. The caller holds the lock.
func (v *speaker) open(m request) *spoken {
	c := &spoken{fixed: m.fixed}
	id := m.Context
	v.contexts[id] = c
	flushes := 0
	c.texts = v.texts.Open(v.c.Context(), id, func(ctx context.Context, text string) error {
		flushes++
		return v.speak(ctx, id, c, text, flushes)
	}, func() {
		v.c.SendJSON(map[string]any{"type": "done", "done": true, "status_code": 200, "context_id": id})
	})
	return c
}

// speak speaks a text of a context.
func (v *speaker) speak(ctx context.Context, id string, c *spoken, text string, flush int) error {
	v.mu.Lock()
	from := c.length
	v.mu.Unlock()
	send := func(kind string, m map[string]any) {
		m["type"], m["done"], m["status_code"], m["context_id"], m["flush_id"] = kind, false, 206, id, flush
		v.c.SendJSON(m)
	}
	err := v.s.Mouth.Speak(ctx, text, c.Language, c.Format.Rate, func(p fakes.Piece) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c.Timestamps && len(p.Words) > 0 {
			send("timestamps", map[string]any{"word_timestamps": words(p, from)})
		}
		send("chunk", map[string]any{"data": base64.StdEncoding.EncodeToString(fakes.Encode(c.Format.Encoding, p.PCM)), "step_time": 1.5})
		v.mu.Lock()
		c.length = from + p.Start + time.Duration(len(p.PCM))*time.Second/time.Duration(c.Format.Rate)
		c.last = time.Now()
		v.mu.Unlock()
		return nil
	})
	if err == nil {
		send("flush_done", map[string]any{"flush_done": true})
	}
	return err
}

// words returns the words of a piece, with their times in the context.
func words(p fakes.Piece, from time.Duration) map[string]any {
	texts, starts, ends := []string{}, []float64{}, []float64{}
	for _, w := range p.Words {
		texts = append(texts, w.Text)
		starts, ends = append(starts, (from+w.Start).Seconds()), append(ends, (from+w.End).Seconds())
	}
	return map[string]any{"words": texts, "start": starts, "end": ends}
}
