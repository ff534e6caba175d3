//go:build flite && cgo

package provider_test

import (
	"testing"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/flite"
)

func TestFliteKeepsThePortsRules(t *testing.T) {
	porttest.TestSynthesizer(t, func(t *testing.T) port.Synthesizer {
		s, err := flite.New(flite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, porttest.SynthesizerCapabilities{Language: "en", Marks: true, Repeatable: true})
}
