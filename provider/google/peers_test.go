//go:build peers

package google

import (
	"testing"

	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/google/fake"
)

// TestPeerGoogle has the vendor's own clients talk to the fake.
func TestPeerGoogle(t *testing.T) { porttest.ModelClients(t, "reply", "STOP", fake.New) }
