package cli

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/session"
)

// TestLogHoldsHashedIDs checks that the log does not contain the ids of conversations.
func TestLogHoldsHashedIDs(t *testing.T) {
	var b strings.Builder
	log := slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: hashIDs}))
	log.Info("conversation started", "conversation", "conv_secret", "agent", "flights")
	log.With("conversation", "conv_secret").Error("conversation failed")
	id := app.NewID()
	log.Error("claim", "error", fmt.Errorf("store: claim %q: the disk is full", id))
	log.Warn("trace of "+id, "path", "/v1/conversations/"+id+"/trace")
	got := b.String()
	if strings.Contains(got, id) || strings.Count(got, session.HashID(id)) != 3 {
		t.Errorf("the log has %s", got)
	}
	if strings.Contains(got, "secret") || strings.Count(got, session.HashID("conv_secret")) != 2 || !strings.Contains(got, "flights") {
		t.Errorf("the log has %s", got)
	}
}
