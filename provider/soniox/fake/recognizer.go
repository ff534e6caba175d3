package fake

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/port"
)

// Recognizer is the endpoint of the recognizer. Its fields must be set before it serves. It
// is safe for concurrent use.
type Recognizer struct {
	fakes.Server
	// Key is the key that clients must have.
	Key string
	// Engine understands; it must call its sink within its methods.
	Engine port.Recognizer
	// Now returns the time of day; time.Now if nil.
	Now func() time.Time
	// Heard, if not nil, is called with the first message of each connection.
	Heard func(config string)
}

// keyEnds is when keys are refused in the first message.
func keyEnds() time.Time { return time.Date(2027, time.January, 15, 0, 0, 0, 0, time.UTC) }

const (
	idle     = 20 * time.Second
	maxAhead = 10 * time.Second // more sound than has passed; the documents name no number
	maxWords = 256
)

// sttConfig is the first message.
type sttConfig struct {
	APIKey            string          `json:"api_key"`
	Model             string          `json:"model"`
	AudioFormat       string          `json:"audio_format"`
	SampleRate        int             `json:"sample_rate"`
	NumChannels       int             `json:"num_channels"`
	LanguageHints     []string        `json:"language_hints"`
	HintsStrict       bool            `json:"language_hints_strict"`
	Endpoints         bool            `json:"enable_endpoint_detection"`
	MaxEndpointDelay  *int            `json:"max_endpoint_delay_ms"`
	Sensitivity       *float64        `json:"endpoint_sensitivity"`
	LatencyAdjustment *int            `json:"endpoint_latency_adjustment_level"`
	Diarization       bool            `json:"enable_speaker_diarization"`
	Language          bool            `json:"enable_language_identification"`
	Context           json.RawMessage `json:"context"`
	Reference         string          `json:"client_reference_id"`
	Translation       json.RawMessage `json:"translation"`
}

// token is a token of a response.
type token struct {
	Text       string  `json:"text"`
	Start      *int64  `json:"start_ms,omitempty"`
	End        *int64  `json:"end_ms,omitempty"`
	Confidence float64 `json:"confidence"`
	Final      bool    `json:"is_final"`
	Language   string  `json:"language,omitempty"`
}

// result is a response.
type result struct {
	Tokens   []token `json:"tokens"`
	Final    int64   `json:"final_audio_proc_ms"`
	Total    int64   `json:"total_audio_proc_ms"`
	Finished bool    `json:"finished,omitempty"`
}

// refusal is an error message.
type refusal struct {
	status  int
	message string
}

func bad(format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// ServeHTTP serves a WebSocket.
func (s *Recognizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serve(&s.Server, w, r, s.Key, func(c *fakes.Conn, known bool) { //nolint:contextcheck // c has its context
		h := &listener{s: s, c: c, began: timeOf(s.Now)}
		if no := h.listen(known); no != nil {
			s.Break("%s", no.message)
			c.SendJSON(map[string]any{"tokens": []token{}, "error_code": no.status, "error_message": no.message})
			c.Close(1000, "")
		}
	})
}

// serve serves a WebSocket, and refuses a handshake with a wrong key. known reports whether the
// handshake had the key.
func serve(s *fakes.Server, w http.ResponseWriter, r *http.Request, key string, talk func(c *fakes.Conn, known bool)) {
	in, known := fakes.Key(r, "Authorization", "soniox-api-key", "Bearer ")
	if known && in != key {
		s.Refuse(w, http.StatusUnauthorized, "the key is not valid")
		return
	}
	s.Serve(w, r, []string{"soniox-api-key"}, func(c *fakes.Conn) { talk(c, known) })
}

// timeOf returns the time of a clock, or that of time.Now if it is nil.
func timeOf(clock func() time.Time) time.Time {
	if clock != nil {
		return clock()
	}
	return time.Now()
}

// listener serves one connection.
type listener struct {
	s     *Recognizer
	c     *fakes.Conn
	began time.Time
	cfg   sttConfig
	ear   *fakes.Ear
	final time.Duration // the sound whose words are final
}

// listen serves until the client has gone, or returns the error to send. known reports
// whether the handshake had the key.
func (h *listener) listen(known bool) *refusal {
	data, binary, err := h.c.Read(idle)
	if err != nil {
		return timeout(err)
	}
	if no := h.configure(data, binary, known); no != nil {
		return no
	}
	if h.s.Heard != nil {
		h.s.Heard(string(data))
	}
	language := "en"
	if len(h.cfg.LanguageHints) > 0 {
		language = h.cfg.LanguageHints[0]
	}
	if h.ear, err = fakes.NewEar(h.c.Context(), h.s.Engine, h.rate(), language); err != nil {
		return bad("%v", err)
	}
	defer h.ear.Close()
	h.expect()
	if h.cfg.Endpoints {
		h.ear.Pause = 700 * time.Millisecond
	}
	began := time.Now()
	for {
		data, binary, err := h.c.Read(idle)
		switch {
		case err != nil:
			return timeout(err)
		case len(data) == 0:
			h.finish()
			return nil
		case binary:
			if no := h.hear(data, began); no != nil {
				return no
			}
		default:
			if no := h.control(data); no != nil {
				return no
			}
		}
	}
}

// timeout returns the error for a client that is silent, and nil for one that has gone.
func timeout(err error) *refusal {
	if errors.Is(err, fakes.ErrIdle) {
		return &refusal{http.StatusRequestTimeout, "Request timeout: no sound and no keepalive for 20 s."}
	}
	return nil
}

// configure reads the first message.
func (h *listener) configure(data []byte, binary, known bool) *refusal {
	if binary || fakes.Strict(data, &h.cfg) != nil {
		return bad("Invalid start request: %.200s", data)
	}
	c := &h.cfg
	between := func(v *int, from, to int) bool { return v == nil || *v >= from && *v <= to }
	switch {
	case known && c.APIKey != "":
		return bad("The API key is in the handshake and in the start request.")
	case !known && c.APIKey != "" && !h.began.Before(keyEnds()):
		return &refusal{http.StatusUnauthorized, "The API key must be in the handshake."}
	case !known && c.APIKey != h.s.Key:
		return &refusal{http.StatusUnauthorized, "Incorrect API key."}
	case !strings.HasPrefix(c.Model, "stt-rt-"):
		return bad("Invalid model specified.")
	case !slices.Contains([]string{"auto", "pcm_s16le", "mulaw", "alaw"}, c.AudioFormat):
		return bad("Invalid audio_format.")
	case c.AudioFormat != "auto" && (c.SampleRate == 0 || c.NumChannels != 1):
		return bad("sample_rate and num_channels must be set for raw audio.")
	case !between(c.MaxEndpointDelay, 500, 3000):
		return bad("max_endpoint_delay_ms must be between 500 and 3000.")
	case !between(c.LatencyAdjustment, 0, 3):
		return bad("endpoint_latency_adjustment_level must be between 0 and 3.")
	case c.Sensitivity != nil && (*c.Sensitivity < -1 || *c.Sensitivity > 1):
		return bad("endpoint_sensitivity must be between -1 and 1.")
	case len(c.Reference) > maxWords:
		return bad("client_reference_id is too long.")
	}
	return nil
}

func (h *listener) rate() int {
	if h.cfg.SampleRate == 0 {
		return 16000
	}
	return h.cfg.SampleRate
}

// expect passes the terms of the context on.
func (h *listener) expect() {
	var context struct {
		Terms []string `json:"terms"`
	}
	if json.Unmarshal(h.cfg.Context, &context) == nil {
		h.ear.Expect(context.Terms)
	}
}

// hear takes sound.
func (h *listener) hear(data []byte, began time.Time) *refusal {
	words, err := h.ear.Hear(fakes.Decode(h.cfg.AudioFormat, data))
	if err != nil {
		return &refusal{http.StatusInternalServerError, err.Error()}
	}
	if h.ear.At() > time.Since(began)+maxAhead {
		return bad("Audio is sent faster than real time.")
	}
	h.tell(words, "")
	return nil
}

// control obeys a control message.
func (h *listener) control(data []byte) *refusal {
	var m struct {
		Type     string `json:"type"`
		Trailing *int   `json:"trailing_silence_ms"`
	}
	if err := fakes.Strict(data, &m); err != nil {
		return bad("Invalid control request: %.200s", data)
	}
	switch m.Type {
	case "keepalive":
		return nil
	case "finalize":
		words, err := h.ear.Finalize()
		if err != nil {
			return &refusal{http.StatusInternalServerError, err.Error()}
		}
		h.tell(words, "<fin>")
		return nil
	default:
		return bad("Invalid control request type: %q", m.Type)
	}
}

// finish answers the end of the sound.
func (h *listener) finish() {
	if words, err := h.ear.Finalize(); err == nil {
		h.tell(words, "")
	}
	h.c.SendJSON(result{Tokens: []token{}, Final: h.ear.At().Milliseconds(), Total: h.ear.At().Milliseconds(), Finished: true})
	h.c.Close(1000, "")
}

// tell sends what was understood. marker, which may be empty, follows.
func (h *listener) tell(all []fakes.Words, marker string) {
	for _, w := range all {
		r := result{Tokens: h.tokens(w.Words, w.Final)}
		if w.Final {
			h.final = h.ear.At()
		}
		if w.Endpoint && len(w.Words) > 0 {
			r.Tokens = append(r.Tokens, token{Text: "<end>", Final: true})
		}
		r.Final, r.Total = h.final.Milliseconds(), h.ear.At().Milliseconds()
		if len(r.Tokens) > 0 {
			h.c.SendJSON(r)
		}
	}
	if marker != "" {
		h.final = h.ear.At()
		h.c.SendJSON(result{
			Tokens: []token{{Text: marker, Final: true}},
			Final:  h.final.Milliseconds(), Total: h.final.Milliseconds(),
		})
	}
}

// tokens returns words as tokens, which are shorter: long words are two.
func (h *listener) tokens(words []port.Word, final bool) []token {
	list := []token{}
	for _, w := range words {
		parts := []string{" " + w.Text}
		if len(w.Text) > 5 {
			parts = []string{" " + w.Text[:3], w.Text[3:]}
		}
		for i, p := range parts {
			each := (w.End - w.Start) / time.Duration(len(parts))
			from, to := (w.Start + time.Duration(i)*each).Milliseconds(), (w.Start + time.Duration(i+1)*each).Milliseconds()
			t := token{Text: p, Start: &from, End: &to, Confidence: w.Confidence, Final: final}
			if h.cfg.Language {
				t.Language = "en"
			}
			list = append(list, t)
		}
	}
	return list
}
