package anthropic

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/anthropic/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestHosted runs the suite of language models against the fake.
func TestHosted(t *testing.T) {
	porttest.TestHostedModel(t, porttest.HostedModel{
		Fake: fake.New, Path: "/v1",
		Open: func(o llm.Options) (*llm.Model, error) { return New(Options{Options: o}) },
	})
}

func FuzzStream(f *testing.F) { porttest.FuzzModelWire(f, &wire{}, fake.New("")) }

// BenchmarkTake decodes a piece of text. Goal: less than 100 us, a hundredth of the time between
// the pieces of a fast model.
func BenchmarkTake(b *testing.B) {
	data := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word "}}`)
	w, a := &wire{}, llm.Answer{}
	b.ReportAllocs()
	for b.Loop() {
		if text, err := w.Take(&a, "content_block_delta", data); text != "word " || err != nil {
			b.Fatal(text, err)
		}
	}
}
