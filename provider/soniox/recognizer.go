package soniox

import (
	"time"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/port"
)

// NewRecognizer returns a recognizer. The caller must close it.
func NewRecognizer(o Options) (*hosted.Recognizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	access := o.access(RecognizerURL)
	dialer, header, err := access.Open()
	if err != nil {
		return nil, err
	}
	if o.Model == "" {
		o.Model = RecognizerModel
	}
	if o.MaxEndpointDelay == 0 {
		o.MaxEndpointDelay = 2 * time.Second
	}
	return hosted.NewRecognizer(hosted.RecognizerOptions{
		Dialer: dialer,
		Line: func(cfg port.RecognizerConfig, e port.Expectation) (hosted.Line, error) {
			return hosted.Line{URL: access.Where(), Header: header, Hearing: &hearing{o: o, cfg: cfg, expect: e, fail: dialer.Failure}}, nil
		},
	}), nil
}
