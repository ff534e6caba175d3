package fake

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/port"
)

// Flux is the endpoint /v2/listen. Its fields must be set before it serves. It is safe for
// concurrent use.
type Flux struct {
	fakes.Server
	// Key is the key that clients must have.
	Key string
	// Engine understands; it must call its sink within its methods.
	Engine port.Recognizer
}

const (
	// fluxIdle is how long neither sound nor a ping may be missing.
	fluxIdle = 20 * time.Second
	// fluxPause is the silence after which a turn ends.
	fluxPause = 700 * time.Millisecond
	// updates are this far apart, in the sound.
	fluxUpdate = 250 * time.Millisecond
)

func fluxParameters() fakes.Parameters {
	return fakes.Parameters{
		"model": fakes.OneOf("flux-general-en", "flux-general-multi"), "encoding": encodings, "sample_rate": rates,
		"eot_threshold": fakes.Between(0.5, 1), "eager_eot_threshold": fakes.Between(0.3, 0.9), "eot_timeout_ms": fakes.Between(500, 60000),
		"keyterm": fakes.Any, "language_hint": fakes.Any, "profanity_filter": fakes.Bool, "numerals": fakes.Bool,
		"redact": fakes.Any, "mip_opt_out": fakes.Bool, "tag": fakes.Any,
	}
}

// number returns a parameter, or what it is by default.
func number(text string, otherwise float64) float64 {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n
	}
	return otherwise
}

// fluxAlso returns what the parameters say together that is wrong.
func fluxAlso(get func(string) string) string {
	switch {
	case number(get("eager_eot_threshold"), 0) > number(get("eot_threshold"), 0.7):
		return "eager_eot_threshold must be at most eot_threshold"
	case get("language_hint") != "" && get("model") != "flux-general-multi":
		return "language_hint is only compatible with flux-general-multi"
	}
	return raw(get)
}

// ServeHTTP serves a WebSocket.
func (s *Flux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := rules{key: s.Key, parameters: fluxParameters(), required: []string{"model", "encoding"}, also: fluxAlso}
	serve(&s.Server, w, r, a, func(c *fakes.Conn) *closing { //nolint:contextcheck // c has its context
		c.Pings = true
		q := r.URL.Query()
		return listen(&s.Server, c, s.Engine, q, fluxIdle, &turns{c: c, q: q})
	})
}

// turns serves one connection.
type turns struct {
	c        *fakes.Conn
	q        url.Values
	ear      *fakes.Ear
	sequence int
	index    int           // of the turn
	began    time.Duration // where its sound begins
	active   bool          // it has words
	eager    bool          // its end was announced
	words    []port.Word   // of the last message
	updated  time.Duration // the sound of the last message
}

func (h *turns) begin(ear *fakes.Ear) {
	h.ear = ear
	if number(h.q.Get("eot_threshold"), 0.7) < 1 {
		ear.Pause = fluxPause
	}
	h.send(map[string]any{"type": "Connected"})
}

func (h *turns) obey(data []byte) verdict {
	m, ok := read(data)
	switch {
	case m.Type == "CloseStream":
		h.c.Close(1005, "") // without a code
		return verdict{over: true}
	case !ok || !h.control(m):
		const code = "UNPARSABLE_CLIENT_MESSAGE"
		return verdict{end: &closing{1011, code, map[string]any{
			"type": "Error", "sequence_id": h.sequence, "code": code, "description": "The message could not be parsed.",
		}}}
	}
	return verdict{alive: true}
}

// send sends a message under the next number.
func (h *turns) send(m map[string]any) {
	m["request_id"], m["sequence_id"] = requestID, h.sequence
	h.sequence++
	h.c.SendJSON(m)
}

// hear sends what was understood.
func (h *turns) hear(all []fakes.Words) {
	for _, w := range all {
		if !w.Final {
			h.progress(w.Words)
			continue
		}
		if len(w.Words) > 0 {
			h.progress(w.Words)
		}
		if h.active {
			h.end("model", 0.9)
		}
	}
	quiet := h.ear.Quiet()
	confidence := 0.1 + 0.8*min(1, quiet.Seconds()/fluxPause.Seconds())
	switch at := number(h.q.Get("eager_eot_threshold"), 1); {
	case h.active && !h.eager && confidence >= at:
		h.eager = true
		h.turn("EagerEndOfTurn", h.words, confidence)
	case h.ear.At()-h.updated >= fluxUpdate:
		h.turn("Update", h.words, confidence)
	}
}

// progress sends the words of the turn so far.
func (h *turns) progress(words []port.Word) {
	same := len(words) == len(h.words)
	for i := 0; same && i < len(words); i++ {
		same = words[i].Text == h.words[i].Text
	}
	switch {
	case len(words) == 0 || h.active && same:
		return
	case !h.active:
		h.active = true
		h.turn("StartOfTurn", words, 0.1)
	case h.eager:
		h.eager = false
		h.turn("TurnResumed", words, 0.2)
	default:
		h.turn("Update", words, 0.2)
	}
}

// end ends the turn.
func (h *turns) end(trigger string, confidence float64) {
	if at := number(h.q.Get("eager_eot_threshold"), 0); at > 0 && trigger == "model" && !h.eager {
		h.turn("EagerEndOfTurn", h.words, at)
	}
	m := h.info("EndOfTurn", h.words, confidence)
	m["trigger"] = trigger
	h.send(m)
	h.index++
	h.active, h.eager, h.words, h.began = false, false, nil, h.ear.At()
}

// turn sends an event of the turn.
func (h *turns) turn(event string, words []port.Word, confidence float64) {
	h.words = words
	h.send(h.info(event, words, confidence))
}

// info returns an event of the turn.
func (h *turns) info(event string, words []port.Word, confidence float64) map[string]any {
	h.updated = h.ear.At()
	list, texts := []map[string]any{}, make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
		list = append(list, map[string]any{"word": w.Text, "confidence": w.Confidence, "start": w.Start.Seconds(), "end": w.End.Seconds()})
	}
	m := map[string]any{
		"type": "TurnInfo", "event": event, "turn_index": h.index,
		"audio_window_start": h.began.Seconds(), "audio_window_end": h.ear.At().Seconds(),
		"transcript": strings.Join(texts, " "), "words": list, "end_of_turn_confidence": confidence,
	}
	if h.q.Get("model") == "flux-general-multi" {
		m["languages"], m["languages_hinted"] = []string{"en"}, h.q["language_hint"]
	}
	return m
}

// control obeys a control message.
func (h *turns) control(m typed) bool {
	switch m.Type {
	case "ForceEndTurn":
		words, err := h.ear.Finalize()
		if err != nil {
			return false
		}
		for _, w := range words { // all sound that came before it counts
			h.progress(w.Words)
		}
		if !h.active {
			h.send(map[string]any{"type": "Warning", "code": "FORCE_END_TURN_NO_ACTIVE_TURN", "description": "No turn goes on."})
			return true
		}
		h.end("manual", 0.35)
	case "Configure":
		return h.configure(m)
	default:
		return false
	}
	return true
}

// configure obeys a Configure, in which each field must be one of the documented ones.
func (h *turns) configure(m typed) bool {
	var limits struct {
		Eager   *float64 `json:"eager_eot_threshold"`
		End     *float64 `json:"eot_threshold"`
		Timeout *float64 `json:"eot_timeout_ms"`
	}
	if m.Limits != nil && fakes.Strict(*m.Limits, &limits) != nil {
		return false
	}
	within := func(v *float64, least, most float64) bool { return v == nil || *v >= least && *v <= most }
	failure := ""
	switch {
	case !within(limits.Eager, 0.3, 0.9) || !within(limits.End, 0.5, 1) || !within(limits.Timeout, 500, 60000):
		failure = "INVALID_THRESHOLD"
	case m.Hints != nil && h.q.Get("model") != "flux-general-multi":
		failure = "LANGUAGE_HINTS_NOT_SUPPORTED"
	case len(strings.Join(m.Keyterms, " "))/4 > maxTokens:
		failure = "TOO_MANY_KEYTERMS"
	}
	if failure != "" {
		h.send(map[string]any{"type": "ConfigureFailure", "code": failure, "description": "The configuration stays as it was."})
		return true
	}
	if m.Keyterms != nil {
		h.q["keyterm"] = m.Keyterms
		h.ear.Expect(m.Keyterms)
	}
	active := h.q["keyterm"]
	if active == nil {
		active = []string{}
	}
	h.send(map[string]any{"type": "ConfigureSuccess", "keyterms": active, "thresholds": json.RawMessage(`{}`), "language_hints": []string{}, "numerals": false})
	return true
}
