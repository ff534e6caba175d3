package soniox

import (
	"cmp"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/port"
)

// maxStreams is the number of texts that a connection may have at a time.
const maxStreams = 5

// NewSynthesizer returns a synthesizer. The caller must close it.
func NewSynthesizer(o Options) (*hosted.Synthesizer, error) {
	dialer, header, err := o.connection(SynthesizerURL)
	if err != nil {
		return nil, err
	}
	o.Model, o.Voice, o.Rate = cmp.Or(o.Model, SynthesizerModel), cmp.Or(o.Voice, DefaultVoice), cmp.Or(o.Rate, 24000)
	return hosted.NewSynthesizer(hosted.SynthesizerOptions{
		Dialer: dialer, Rate: o.Rate, Texts: maxStreams,
		Line: func(port.Utterance) (hosted.VoiceLine, error) {
			return hosted.VoiceLine{URL: o.address(SynthesizerURL).Where(), Header: header, Speaking: &speaking{o: o, fail: dialer.Failure}}, nil
		},
	}), nil
}
