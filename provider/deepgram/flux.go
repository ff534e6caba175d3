package deepgram

import (
	"net/url"
	"strconv"
	"time"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// This file contains the protocol of /v2/listen.

// multilingual is the model that hears several languages.
const multilingual = "flux-general-multi"

// flux is the protocol of a connection to Flux.
type flux struct {
	fail func(class, text string) *port.Failure
}

// fluxParameters returns the parameters of a connection.
func (o Options) fluxParameters(cfg port.RecognizerConfig, e port.Expectation) url.Values {
	q := url.Values{}
	set(q, "model", o.Model)
	set(q, "encoding", "linear16")
	set(q, "sample_rate", strconv.Itoa(cfg.Rate))
	if o.Threshold != 0 {
		set(q, "eot_threshold", strconv.FormatFloat(o.Threshold, 'g', -1, 64))
	}
	if o.EagerThreshold != 0 {
		set(q, "eager_eot_threshold", strconv.FormatFloat(o.EagerThreshold, 'g', -1, 64))
	}
	if o.Model == multilingual {
		set(q, "language_hint", hosted.Primary(cfg.Language))
	}
	if terms := keyterms(e); len(terms) > 0 {
		set(q, "keyterm", terms...)
	}
	return q
}

// Open implements [hosted.Hearing].
func (h *flux) Open() []socket.Message { return nil }

// Audio implements [hosted.Hearing].
func (h *flux) Audio(pcm []int16) socket.Message { return linear(pcm) }

// Finalize implements [hosted.Hearing]. It is answered with the end of the turn, or with a
// warning if no turn goes on.
func (h *flux) Finalize() []socket.Message {
	return []socket.Message{socket.Text(`{"type":"ForceEndTurn"}`)}
}

// Keepalive implements [hosted.Hearing]. The service wants pings.
func (h *flux) Keepalive() []socket.Message { return nil }

// Close implements [hosted.Hearing].
func (h *flux) Close() []socket.Message { return closeStream() }

// Expect implements [hosted.Hearing].
func (h *flux) Expect(e port.Expectation) ([]socket.Message, bool) {
	terms := keyterms(e)
	if terms == nil {
		terms = []string{}
	}
	return []socket.Message{hosted.JSON(struct {
		Type  string   `json:"type"`
		Terms []string `json:"keyterms"`
	}{"Configure", terms})}, true
}

// turnInfo is a message of Flux.
type turnInfo struct {
	report
	Event      string   `json:"event"`
	From       float64  `json:"audio_window_start"`
	To         float64  `json:"audio_window_end"`
	Words      []word   `json:"words"`
	Confidence float64  `json:"end_of_turn_confidence"`
	Trigger    string   `json:"trigger"`
	Languages  []string `json:"languages"`
}

// Receive implements [hosted.Hearing]. Each message has all words of the turn; they are final
// when it ends.
func (h *flux) Receive(m socket.Message) ([]hosted.Heard, error) {
	var r turnInfo
	if err := hosted.Decode(m, &r, h.fail); err != nil {
		return nil, err
	}
	switch r.Type {
	case "TurnInfo":
	case "Error":
		return nil, r.failure(h.fail)
	case "Warning":
		if r.Code == "FORCE_END_TURN_NO_ACTIVE_TURN" {
			return []hosted.Heard{{Finalized: true}}, nil
		}
		return nil, nil
	default:
		return nil, nil // there are others, such as Connected
	}
	now := hosted.Heard{EndOfTurn: r.Confidence}
	if len(r.Languages) > 0 {
		now.Language = r.Languages[0]
	}
	if r.Event != "EndOfTurn" {
		now.Volatile = r.tokens()
		return []hosted.Heard{now}, nil
	}
	now.Fixed = r.tokens()
	now.Finalized = r.Trigger == "manual"
	now.Endpoint = !now.Finalized
	return []hosted.Heard{now}, nil
}

// tokens returns the words. Those without times share that of the turn.
func (r *turnInfo) tokens() []hosted.Token {
	from, to := seconds(r.From), seconds(r.To)
	each := max(0, to-from) / time.Duration(max(1, len(r.Words)))
	tokens := make([]hosted.Token, len(r.Words))
	for i, w := range r.Words {
		tokens[i] = w.token()
		if w.End == 0 {
			tokens[i].Start = from + time.Duration(i)*each
			tokens[i].End = tokens[i].Start + each
		}
	}
	return tokens
}
