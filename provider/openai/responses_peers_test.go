//go:build peers

package openai

import (
	"testing"

	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/openai/fake"
)

// TestPeerResponses has the vendor's own clients talk to the fake.
func TestPeerResponses(t *testing.T) {
	porttest.ModelClients(t, "responses", "completed", fake.NewResponses)
}
