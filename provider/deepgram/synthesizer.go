package deepgram

import (
	"cmp"
	"net/url"
	"strconv"
	"time"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// The limits of a connection: requests for sound in a minute, with some in reserve, and its
// age, of which Deepgram allows an hour.
const (
	maxFlushes = 18
	maxAge     = 55 * time.Minute
)

// The slowest and the fastest pace.
const (
	slowest = 0.7
	fastest = 1.5
)

// NewSynthesizer returns a synthesizer. The caller must close it.
func NewSynthesizer(o Options) (*hosted.Synthesizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	access := o.access(SynthesizerURL)
	dialer, header, err := access.Open()
	if err != nil {
		return nil, err
	}
	o.Rate = cmp.Or(o.Rate, 24000)
	address := func(u port.Utterance) string {
		q := url.Values{}
		set(q, "model", cmp.Or(u.Voice, o.Voice, DefaultVoice))
		set(q, "encoding", "linear16")
		set(q, "sample_rate", strconv.Itoa(o.Rate))
		if pace := hosted.Pace(u.Rate, slowest, fastest); pace != 0 {
			set(q, "speed", strconv.FormatFloat(pace, 'g', -1, 64))
		}
		return socket.WithQuery(access.Where(), q)
	}
	return hosted.NewSynthesizer(hosted.SynthesizerOptions{
		Dialer: dialer, Rate: o.Rate, Same: address, PerMinute: maxFlushes, Life: maxAge,
		Line: func(u port.Utterance) (hosted.VoiceLine, error) {
			return hosted.VoiceLine{URL: address(u), Header: header, Speaking: &speaking{fail: dialer.Failure}}, nil
		},
	}), nil
}
