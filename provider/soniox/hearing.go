package soniox

import (
	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// maxTerms bounds the vocabulary of a connection.
const maxTerms = 100

// hearing is the protocol of a connection to the recognizer.
type hearing struct {
	o      Options
	cfg    port.RecognizerConfig
	expect port.Expectation
	fail   func(class, text string) *port.Failure
}

// config is the first message.
type config struct {
	Model             string   `json:"model"`
	AudioFormat       string   `json:"audio_format"`
	SampleRate        int      `json:"sample_rate"`
	NumChannels       int      `json:"num_channels"`
	LanguageHints     []string `json:"language_hints"`
	EndpointDetection bool     `json:"enable_endpoint_detection"`
	MaxEndpointDelay  int64    `json:"max_endpoint_delay_ms"`
	Language          bool     `json:"enable_language_identification"`
	Context           *context `json:"context,omitempty"`
}

type context struct {
	Terms []string `json:"terms"`
}

// The control messages.
const (
	finalize  = `{"type":"finalize"}`
	keepalive = `{"type":"keepalive"}`
)

// The texts of the tokens that are markers.
const (
	markerEnd = "<end>"
	markerFin = "<fin>"
)

// Open implements [hosted.Hearing].
func (h *hearing) Open() []socket.Message {
	c := config{
		Model: h.o.Model, AudioFormat: "pcm_s16le", SampleRate: h.cfg.Rate, NumChannels: 1,
		LanguageHints: []string{hosted.Primary(h.cfg.Language)}, EndpointDetection: true,
		MaxEndpointDelay: h.o.MaxEndpointDelay.Milliseconds(), Language: true,
	}
	if terms := hosted.Terms(h.expect, maxTerms); len(terms) > 0 {
		c.Context = &context{terms}
	}
	return []socket.Message{hosted.JSON(c)}
}

// Audio implements [hosted.Hearing].
func (h *hearing) Audio(pcm []int16) socket.Message {
	return socket.Message{Binary: true, Data: audio.AppendS16LE(nil, pcm)}
}

// Finalize implements [hosted.Hearing].
func (h *hearing) Finalize() []socket.Message { return []socket.Message{socket.Text(finalize)} }

// Keepalive implements [hosted.Hearing].
func (h *hearing) Keepalive() []socket.Message { return []socket.Message{socket.Text(keepalive)} }

// Close implements [hosted.Hearing]. The service needs no message for it.
func (h *hearing) Close() []socket.Message { return nil }

// Expect implements [hosted.Hearing]. The context is part of the first message.
func (h *hearing) Expect(e port.Expectation) ([]socket.Message, bool) {
	before, now := hosted.Terms(h.expect, maxTerms), hosted.Terms(e, maxTerms)
	return nil, len(before) == 0 && len(now) == 0
}

// response is a message of the service.
type response struct {
	Tokens []struct {
		Text       string  `json:"text"`
		Start      float64 `json:"start_ms"`
		End        float64 `json:"end_ms"`
		Confidence float64 `json:"confidence"`
		Final      bool    `json:"is_final"`
		Language   string  `json:"language"`
		Status     string  `json:"translation_status"`
	} `json:"tokens"`
	Code    errorCode `json:"error_code"`
	Message string    `json:"error_message"`
}

// Receive implements [hosted.Hearing]. A message has the tokens that have become final, once,
// then all that are not.
func (h *hearing) Receive(m socket.Message) ([]hosted.Heard, error) {
	var r response
	if err := hosted.Decode(m, &r, h.fail); err != nil {
		return nil, err
	}
	if r.Code != "" || r.Message != "" {
		return nil, r.Code.reported(r.Message, h.fail)
	}
	var all []hosted.Heard
	var now hosted.Heard
	for i := range r.Tokens {
		t := &r.Tokens[i]
		switch {
		case t.Text == markerEnd || t.Text == markerFin:
			now.Endpoint, now.Finalized = t.Text == markerEnd, t.Text == markerFin
			all = append(all, now)
			now = hosted.Heard{}
			continue
		case t.Status == "translation":
			continue
		}
		token := hosted.Token{Text: t.Text, Start: hosted.Milliseconds(t.Start), End: hosted.Milliseconds(t.End), Confidence: t.Confidence}
		if t.Language != "" {
			now.Language = t.Language
		}
		if t.Final {
			now.Fixed = append(now.Fixed, token)
		} else {
			now.Volatile = append(now.Volatile, token)
		}
	}
	if len(all) == 0 || len(now.Fixed)+len(now.Volatile) > 0 {
		all = append(all, now)
	}
	return all, nil
}
