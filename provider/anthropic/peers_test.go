//go:build peers

package anthropic

import (
	"testing"

	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/anthropic/fake"
)

// TestPeerAnthropic has the vendor's own clients talk to the fake.
func TestPeerAnthropic(t *testing.T) { porttest.ModelClients(t, "reply", "tool_use", fake.New) }
