package google

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/google/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestHosted runs the suite of language models against the fake.
func TestHosted(t *testing.T) {
	porttest.TestHostedModel(t, porttest.HostedModel{
		Fake: fake.New, Path: "/v1beta",
		Open: func(o llm.Options) (*llm.Model, error) { return New(Options{Options: o}) },
	})
}

func FuzzStream(f *testing.F) { porttest.FuzzModelWire(f, &wire{}, fake.New("")) }
