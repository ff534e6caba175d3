package cli

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/session"
)

// TestLogHoldsHashedIDs checks that the log does not contain the ids of conversations.
func TestLogHoldsHashedIDs(t *testing.T) {
	var b strings.Builder
	log := slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: hashIDs}))
	log.Info("conversation started", "conversation", "conv_secret", "agent", "flights")
	log.With("conversation", "conv_secret").Error("conversation failed")
	if got := b.String(); strings.Contains(got, "secret") || strings.Count(got, session.HashID("conv_secret")) != 2 || !strings.Contains(got, "flights") {
		t.Errorf("the log has %s", got)
	}
}
