package fake

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/port"
)

// Nova is the endpoint /v1/listen. Its fields must be set before it serves. It is safe for
// concurrent use.
type Nova struct {
	fakes.Server
	// Key is the key that clients must have.
	Key string
	// Engine understands; it must call its sink within its methods.
	Engine port.Recognizer
}

// novaIdle is how long neither sound nor a KeepAlive may be missing.
const novaIdle = 10 * time.Second

// maxTokens is the limit of the vocabulary, a token for each four characters.
const maxTokens = 500

func novaParameters() fakes.Parameters {
	return fakes.Parameters{
		"model": fakes.Any, "version": fakes.Any, "language": fakes.Any, "language_hint": fakes.Any, "tag": fakes.Any, "extra": fakes.Any,
		"keyterm": fakes.Any, "keywords": fakes.Any, "replace": fakes.Any, "search": fakes.Any, "redact": fakes.Any,
		"encoding": encodings, "sample_rate": rates, "channels": fakes.OneOf("1"), "multichannel": fakes.OneOf("false"),
		"interim_results": fakes.Bool, "punctuate": fakes.Bool, "smart_format": fakes.Bool, "numerals": fakes.Bool, "dictation": fakes.Bool,
		"vad_events": fakes.Bool, "profanity_filter": fakes.Bool, "filler_words": fakes.Bool, "mip_opt_out": fakes.Bool, "diarize": fakes.OneOf("false"),
		"utterance_end_ms": fakes.Between(1000, 5000),
		"endpointing": func(v string) bool {
			n, err := strconv.Atoi(v)
			return v == "false" || err == nil && n >= 0
		},
	}
}

// novaAlso returns what the parameters say together that is wrong.
func novaAlso(get func(string) string) string {
	switch {
	case get("keyterm") != "" && !strings.HasPrefix(get("model"), "nova-3"):
		return "keyterm is only compatible with Nova-3"
	case get("keywords") != "" && strings.HasPrefix(get("model"), "nova-3"):
		return "keywords is not compatible with Nova-3"
	case get("utterance_end_ms") != "" && get("interim_results") != "true":
		return "utterance_end_ms needs interim_results"
	}
	return raw(get)
}

// ServeHTTP serves a WebSocket.
func (s *Nova) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := rules{key: s.Key, parameters: novaParameters(), required: []string{"model", "encoding"}, also: novaAlso}
	serve(&s.Server, w, r, a, func(c *fakes.Conn) *closing { //nolint:contextcheck // c has its context
		q := r.URL.Query()
		return listen(&s.Server, c, s.Engine, q, novaIdle, &listener{c: c, q: q, reported: -1})
	})
}

// listener serves one connection.
type listener struct {
	c        *fakes.Conn
	q        url.Values
	ear      *fakes.Ear
	final    time.Duration // the sound whose words are final
	reported time.Duration // the speech whose start was reported; -1 if none goes on
}

func (h *listener) on(name string) bool { return h.q.Get(name) == "true" }

func (h *listener) begin(ear *fakes.Ear) {
	h.ear = ear
	ear.Pause = 10 * time.Millisecond
	if v := h.q.Get("endpointing"); v == "false" {
		ear.Pause = 0
	} else if ms, err := strconv.Atoi(v); err == nil {
		ear.Pause = time.Duration(ms) * time.Millisecond
	}
}

func (h *listener) hear(words []fakes.Words) { h.tell(words, false) }

func (h *listener) obey(data []byte) verdict {
	m, ok := read(data)
	switch {
	case len(data) == 0 || m.Type == "CloseStream":
		h.finish()
		return verdict{over: true}
	case m.Type == "KeepAlive":
		return verdict{alive: true}
	case !ok || !h.control(m):
		return verdict{end: &closing{1008, "DATA-0000", map[string]any{
			"type": "Error", "variant": "SchemaError", "description": "Could not parse the message", "message": string(data),
		}}}
	}
	return verdict{}
}

// control obeys a control message.
func (h *listener) control(m typed) bool {
	switch m.Type {
	case "Finalize":
		words, err := h.ear.Finalize()
		if err != nil {
			return false
		}
		if h.ear.At() > h.final { // else there is nothing to answer with
			h.tell(words, true)
		}
	case "Configure":
		h.configure(m)
	default:
		return false
	}
	return true
}

func (h *listener) configure(m typed) {
	answer := map[string]any{"type": "ConfigureSuccess", "request_id": requestID}
	switch {
	case m.Keyterms != nil && !strings.HasPrefix(h.q.Get("model"), "nova-3"):
		answer = map[string]any{"type": "ConfigureFailure", "request_id": requestID, "code": "CONFIGURE_KEYTERMS_NOT_SUPPORTED", "description": "not Nova-3"}
	case len(strings.Join(m.Keyterms, " "))/4 > maxTokens:
		answer = map[string]any{"type": "ConfigureFailure", "request_id": requestID, "code": "CONFIGURE_KEYTERM_LIMIT_EXCEEDED", "description": "too many"}
	case m.Keyterms != nil:
		h.ear.Expect(m.Keyterms)
		answer["keyterms"] = m.Keyterms
	}
	h.c.SendJSON(answer)
}

// finish answers the end of the sound.
func (h *listener) finish() {
	if words, err := h.ear.Finalize(); err == nil && h.ear.At() > h.final {
		h.tell(words, false)
	}
	h.c.SendJSON(map[string]any{
		"type": "Metadata", "transaction_key": "deprecated", "request_id": requestID, "sha256": strings.Repeat("0", 64),
		"created": "2026-11-01T00:00:00.000Z", "duration": h.ear.At().Seconds(), "channels": 1,
	})
	h.c.Close(1000, "")
}

// tell sends what was understood. A finalized result is sent even if it has no words.
func (h *listener) tell(all []fakes.Words, finalized bool) {
	for _, w := range all {
		h.started(w)
		if w.Final || h.on("interim_results") {
			h.result(w, finalized)
		}
	}
}

// started reports the beginning of speech.
func (h *listener) started(w fakes.Words) {
	if len(w.Words) == 0 {
		return
	}
	if at := w.Words[0].Start; h.reported < 0 && h.on("vad_events") {
		h.reported = at
		h.c.SendJSON(map[string]any{"type": "SpeechStarted", "channel": []int{0, 1}, "timestamp": at.Seconds()})
	}
}

// result sends words.
func (h *listener) result(w fakes.Words, finalized bool) {
	words, confidence := []map[string]any{}, 0.0
	texts := make([]string, len(w.Words))
	for i, x := range w.Words {
		word := map[string]any{"word": x.Text, "start": x.Start.Seconds(), "end": x.End.Seconds(), "confidence": x.Confidence}
		if h.on("punctuate") || h.on("smart_format") {
			word["punctuated_word"] = x.Text
		}
		words, texts[i] = append(words, word), x.Text
		confidence += x.Confidence / float64(len(w.Words))
	}
	start, at := h.final, h.ear.At()
	if w.Final {
		h.final, h.reported = at, -1
	}
	h.c.SendJSON(map[string]any{
		"type": "Results", "channel_index": []int{0, 1}, "start": start.Seconds(), "duration": (at - start).Seconds(),
		"is_final": w.Final, "speech_final": w.Endpoint, "from_finalize": finalized,
		"channel": map[string]any{"alternatives": []any{map[string]any{"transcript": strings.Join(texts, " "), "confidence": confidence, "words": words}}},
		"metadata": map[string]any{
			"request_id": requestID, "model_uuid": requestID,
			"model_info": map[string]string{"name": h.q.Get("model"), "version": "2026-11-01", "arch": "nova"},
		},
	})
}
