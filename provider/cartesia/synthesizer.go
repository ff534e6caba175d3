package cartesia

import (
	"cmp"
	"time"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/port"
)

// unused is the time after which a connection without use is closed: the service does so after
// five minutes, whatever else it is sent.
const unused = 4*time.Minute + 30*time.Second

// NewSynthesizer returns a synthesizer. The caller must close it.
func NewSynthesizer(o Options) (*hosted.Synthesizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	access := o.access()
	dialer, header, err := access.Open()
	if err != nil {
		return nil, err
	}
	header.Set("Cartesia-Version", version)
	o.Model, o.Voice, o.Rate = cmp.Or(o.Model, SynthesizerModel), cmp.Or(o.Voice, DefaultVoice), cmp.Or(o.Rate, 24000)
	return hosted.NewSynthesizer(hosted.SynthesizerOptions{
		Dialer: dialer, Rate: o.Rate, Forgets: true, Idle: unused,
		Line: func(port.Utterance) (hosted.VoiceLine, error) {
			return hosted.VoiceLine{URL: access.Where(), Header: header, Speaking: &speaking{o: o, fail: dialer.Failure}}, nil
		},
	}), nil
}
