package deepgram

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// This file contains the protocol of /v1/listen.

// nova is the protocol of a connection to Nova.
type nova struct {
	expect port.Expectation
	model  string
	rate   int
	fail   func(class, text string) *port.Failure
	sent   audio.Pos     // the sound so far
	final  time.Duration // the sound whose words are final
}

// keytermsOf returns the vocabulary for a model: those before Nova-3 take none.
func keytermsOf(model string, e port.Expectation) []string {
	if !strings.HasPrefix(model, "nova-3") {
		return nil
	}
	return keyterms(e)
}

// novaParameters returns the parameters of a connection.
func (o Options) novaParameters(cfg port.RecognizerConfig, e port.Expectation) url.Values {
	q := url.Values{}
	set(q, "model", o.Model)
	set(q, "language", hosted.Primary(cfg.Language))
	set(q, "encoding", "linear16")
	set(q, "sample_rate", strconv.Itoa(cfg.Rate))
	set(q, "channels", "1")
	set(q, "interim_results", "true")
	set(q, "punctuate", "true")
	set(q, "endpointing", strconv.FormatInt(o.Endpointing.Milliseconds(), 10))
	if terms := keytermsOf(o.Model, e); len(terms) > 0 {
		set(q, "keyterm", terms...)
	}
	return q
}

// Open implements [hosted.Hearing].
func (h *nova) Open() []socket.Message { return nil }

// Audio implements [hosted.Hearing].
func (h *nova) Audio(pcm []int16) socket.Message {
	h.sent += audio.Pos(len(pcm))
	return linear(pcm)
}

// settled is the length of sound without final words for which a request is not answered: the
// service answers "when there is a noticeable amount of audio buffered".
const settled = 100 * time.Millisecond

// Finalize implements [hosted.Hearing].
func (h *nova) Finalize() []socket.Message {
	if h.sent.Duration(h.rate) <= h.final+settled {
		return nil
	}
	return []socket.Message{socket.Text(`{"type":"Finalize"}`)}
}

// Keepalive implements [hosted.Hearing].
func (h *nova) Keepalive() []socket.Message {
	return []socket.Message{socket.Text(`{"type":"KeepAlive"}`)}
}

// Close implements [hosted.Hearing].
func (h *nova) Close() []socket.Message { return closeStream() }

// Expect implements [hosted.Hearing]. The vocabulary is part of the address: not all hosts of
// Deepgram take another one later.
func (h *nova) Expect(e port.Expectation) ([]socket.Message, bool) {
	return nil, len(keytermsOf(h.model, h.expect)) == 0 && len(keytermsOf(h.model, e)) == 0
}

// results is a message of Nova.
type results struct {
	Start        float64 `json:"start"`
	Duration     float64 `json:"duration"`
	Final        bool    `json:"is_final"`
	SpeechFinal  bool    `json:"speech_final"`
	FromFinalize bool    `json:"from_finalize"`
	Channel      struct {
		Alternatives []struct {
			Words     []word   `json:"words"`
			Languages []string `json:"languages"`
		} `json:"alternatives"`
	} `json:"channel"`
}

// word is a word of a result.
type word struct {
	Word       string  `json:"word"`
	Punctuated string  `json:"punctuated_word"`
	Start      float64 `json:"start"`
	End        float64 `json:"end"`
	Confidence float64 `json:"confidence"`
}

// token returns the word as a token.
func (w word) token() hosted.Token {
	text := w.Word
	if w.Punctuated != "" {
		text = w.Punctuated
	}
	return hosted.Token{Text: " " + text, Start: seconds(w.Start), End: seconds(w.End), Confidence: w.Confidence}
}

// seconds converts a time of a message.
func seconds(s float64) time.Duration { return hosted.Milliseconds(s * 1000) }

// Receive implements [hosted.Hearing]. A final result has the words since the one before; an
// interim one, those that are not final.
func (h *nova) Receive(m socket.Message) ([]hosted.Heard, error) {
	var kind report // the messages have fields of the same name and other types
	if err := hosted.Decode(m, &kind, h.fail); err != nil {
		return nil, err
	}
	switch kind.Type {
	case "Results":
	case "Error":
		return nil, kind.failure(h.fail)
	default:
		return nil, nil // there are others, such as Metadata
	}
	var r results
	if err := hosted.Decode(m, &r, h.fail); err != nil {
		return nil, err
	}
	var now hosted.Heard
	var tokens []hosted.Token
	if len(r.Channel.Alternatives) > 0 {
		best := r.Channel.Alternatives[0]
		for _, w := range best.Words {
			tokens = append(tokens, w.token())
		}
		if len(best.Languages) > 0 {
			now.Language = best.Languages[0]
		}
	}
	if !r.Final {
		now.Volatile = tokens
		return []hosted.Heard{now}, nil
	}
	now.Fixed, now.Endpoint, now.Finalized = tokens, r.SpeechFinal, r.FromFinalize
	now.Through = seconds(r.Start + r.Duration)
	h.final = max(h.final, now.Through)
	return []hosted.Heard{now}, nil
}
