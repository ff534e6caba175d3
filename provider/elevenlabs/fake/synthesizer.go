package fake

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
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
	idle        = 20 * time.Second // by default
	maxContexts = 5
)

func parameters() fakes.Parameters {
	return fakes.Parameters{
		"model_id": fakes.Any, "language_code": fakes.Any, "enable_logging": fakes.Bool, "enable_ssml_parsing": fakes.Bool,
		"output_format":  fakes.OneOf("pcm_8000", "pcm_16000", "pcm_22050", "pcm_24000", "pcm_44100", "ulaw_8000", "alaw_8000"),
		"auto_mode":      fakes.Bool,
		"sync_alignment": fakes.Bool, "inactivity_timeout": fakes.Between(1, 180), "apply_text_normalization": fakes.OneOf("auto", "on", "off"),
		"seed": fakes.Between(0, 4294967295),
	}
}

// ServeHTTP serves a WebSocket of a voice.
func (s *Synthesizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/v1/text-to-speech/")
	voice, kind, _ := strings.Cut(rest, "/")
	if !ok || voice == "" || kind != "multi-stream-input" && kind != "stream-input" {
		s.Refuse(w, http.StatusNotFound, "there is no %s", r.URL.Path)
		return
	}
	if key, _ := fakes.Key(r, "xi-api-key", "", ""); key != s.Key {
		s.Refuse(w, http.StatusUnauthorized, `{"detail":{"status":"invalid_api_key","message":"Invalid API key"}}`)
		return
	}
	q := r.URL.Query()
	if err := parameters().Check(q); err != nil {
		s.Refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	s.Serve(w, r, nil, func(c *fakes.Conn) { //nolint:contextcheck // c has its context
		v := &speaker{s: s, c: c, q: q, many: kind == "multi-stream-input", contexts: make(map[string]*spoken)}
		defer v.texts.Stop()
		if end := v.serve(); end != nil {
			s.Break("%s", end.name)
			c.SendJSON(map[string]any{"message": end.text, "error": end.name, "code": 1008})
			c.Close(1008, end.name)
		}
	})
}

// refusal is an error that ends the connection.
type refusal struct{ name, text string }

// message is a message of a client.
type message struct {
	Text         *string         `json:"text"`
	Context      string          `json:"context_id"`
	Settings     json.RawMessage `json:"voice_settings"`
	Generation   json.RawMessage `json:"generation_config"`
	Dictionaries json.RawMessage `json:"pronunciation_dictionary_locators"`
	Trigger      bool            `json:"try_trigger_generation"`
	Flush        bool            `json:"flush"`
	Close        bool            `json:"close_context"`
	CloseSocket  bool            `json:"close_socket"`
}

// given reports whether a field is there and not null.
func given(field json.RawMessage) bool { return len(field) > 0 && string(field) != "null" }

// speaker serves one connection.
type speaker struct {
	s     *Synthesizer
	c     *fakes.Conn
	q     url.Values
	many  bool // it has contexts
	texts fakes.Texts

	mu       sync.Mutex // guards the fields below
	contexts map[string]*spoken
	number   int
}

// spoken is a context.
type spoken struct {
	id      string
	waiting string // not flushed
	texts   chan<- string
	closed  bool
}

func (v *speaker) serve() *refusal {
	wait := idle
	if n, err := strconv.Atoi(v.q.Get("inactivity_timeout")); err == nil {
		wait = time.Duration(n) * time.Second
	}
	for {
		data, binary, err := v.c.Read(wait)
		switch {
		case errors.Is(err, fakes.ErrIdle):
			return &refusal{"input_timeout_exceeded", "Have not received a new text input within the timeout."}
		case err != nil:
			return nil
		}
		var m message
		if binary || fakes.Strict(data, &m) != nil {
			return &refusal{"invalid_message", "The message could not be parsed."}
		}
		if m.CloseSocket {
			v.c.Close(1000, "")
			return nil
		}
		if end := v.obey(m); end != nil {
			return end
		}
	}
}

// obey handles a message of a context.
func (v *speaker) obey(m message) *refusal {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.contexts[m.Context]
	text := ""
	if m.Text != nil {
		text = *m.Text
	}
	switch {
	case !v.many && (m.Context != "" || m.Close):
		return &refusal{"invalid_message", "There are no contexts here."}
	case c != nil && (given(m.Settings) || given(m.Generation) || given(m.Dictionaries)):
		return &refusal{"invalid_message", "Settings can only be given in the first message of a context."}
	case c == nil && (m.Close || m.Text == nil || v.many && text == ""):
		return nil // there is nothing to close or to flush; an empty text keeps the connection open
	case c == nil && text != " ":
		return &refusal{"invalid_message", "The first message of a context must have a single space as its text."}
	case c == nil && len(v.contexts) == maxContexts:
		return &refusal{"max_active_conversations", "Maximum simultaneous contexts per WebSocket connection exceeded (5)."}
	case c == nil:
		v.contexts[m.Context] = v.open(m.Context)
		return nil
	case c.closed:
		return nil // what follows is not spoken
	}
	c.waiting += text
	ended := m.Close || !v.many && m.Text != nil && text == ""
	if flush := m.Flush || !v.many && ended; flush && strings.TrimSpace(c.waiting) != "" {
		c.texts <- strings.TrimSpace(c.waiting)
		c.waiting = ""
	}
	if ended {
		c.closed = true // what was not flushed is not spoken
		close(c.texts)
	}
	return nil
}

// open opens a context. The caller holds the lock.
func (v *speaker) open(id string) *spoken {
	c := &spoken{id: id}
	v.number++
	c.texts = v.texts.Open(v.c.Context(), strconv.Itoa(v.number), func(ctx context.Context, text string) error {
		return v.speak(ctx, c, text)
	}, func() {
		v.mu.Lock()
		delete(v.contexts, id)
		v.mu.Unlock()
		v.send(c, map[string]any{"isFinal": true})
		if !v.many {
			v.c.Close(1000, "")
		}
	})
	return c
}

// send sends a message about a context.
func (v *speaker) send(c *spoken, m map[string]any) {
	if v.many && c.id != "" {
		m["contextId"] = c.id
	}
	v.c.SendJSON(m)
}

// speak speaks a text of a context.
func (v *speaker) speak(ctx context.Context, c *spoken, text string) error {
	format := v.q.Get("output_format")
	if format == "" {
		format = "pcm_16000"
	}
	_, number, _ := strings.Cut(format, "_")
	rate, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	return v.s.Mouth.Speak(ctx, text, v.q.Get("language_code"), rate, func(p fakes.Piece) error {
		m := map[string]any{"audio": base64.StdEncoding.EncodeToString(fakes.Encode(format, p.PCM)), "isFinal": nil}
		if v.q.Get("sync_alignment") != "false" {
			m["alignment"] = alignment(p)
			m["normalizedAlignment"] = m["alignment"]
		}
		v.send(c, m)
		return ctx.Err()
	})
}

// alignment returns the characters of a piece, with times that count from its beginning.
func alignment(p fakes.Piece) map[string]any {
	chars, begin, end := p.Characters()
	starts, durations := []int64{}, []int64{}
	for i := range chars {
		starts = append(starts, (begin[i] - p.Start).Milliseconds())
		durations = append(durations, (end[i] - begin[i]).Milliseconds())
	}
	return map[string]any{"chars": chars, "charStartTimesMs": starts, "charDurationsMs": durations}
}
