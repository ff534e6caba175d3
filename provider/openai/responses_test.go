package openai

import (
	"testing"

	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/openai/fake"
)

// TestResponses runs the suite of language models against the fake of the Responses API.
func TestResponses(t *testing.T) {
	porttest.TestHostedModel(t, porttest.HostedModel{
		Fake: fake.NewResponses, Path: "/v1",
		Open: func(o llm.Options) (*llm.Model, error) {
			return New(Options{
				API: llm.Responses, BaseURL: o.BaseURL, Model: o.Model, KeyEnv: o.KeyEnv, Transport: o.Transport, Getenv: o.Getenv, Report: o.Report,
				MaxTokens: o.MaxTokens, Window: o.Window, FirstChunk: o.FirstChunk, Stall: o.Stall,
			})
		},
	})
}

func FuzzResponses(f *testing.F) { porttest.FuzzModelWire(f, &responses{}, fake.NewResponses("")) }
