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
	if err := o.Validate(); err != nil {
		return nil, err
	}
	access := o.access(SynthesizerURL)
	dialer, header, err := access.Open()
	if err != nil {
		return nil, err
	}
	o.Model, o.Voice, o.Rate = cmp.Or(o.Model, SynthesizerModel), cmp.Or(o.Voice, DefaultVoice), cmp.Or(o.Rate, 24000)
	return hosted.NewSynthesizer(hosted.SynthesizerOptions{
		Dialer: dialer, Rate: o.Rate, Texts: maxStreams,
		Line: func(port.Utterance) (hosted.VoiceLine, error) {
			return hosted.VoiceLine{URL: access.Where(), Header: header, Speaking: &speaking{o: o, fail: dialer.Failure}}, nil
		},
	}), nil
}
