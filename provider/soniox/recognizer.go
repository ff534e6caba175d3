package soniox

import (
	"time"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/port"
)

// NewRecognizer returns a recognizer. The caller must close it.
func NewRecognizer(o Options) (*hosted.Recognizer, error) {
	dialer, header, err := o.connection(RecognizerURL)
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
			return hosted.Line{URL: o.address(RecognizerURL).Where(), Header: header, Hearing: &hearing{o: o, cfg: cfg, expect: e, fail: dialer.Failure}}, nil
		},
	}), nil
}
