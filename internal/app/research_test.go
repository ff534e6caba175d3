package app

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/port"
)

const (
	researchAgent  = "../../examples/research"
	researchConfig = "../../examples/research/config/research.yaml"
)

// TestResearch talks to examples/research with its own assistants, as its README describes.
func TestResearch(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the assistants are started with go run")
	}
	lines := []struct{ line, want string }{
		{"tell me about the hocket", "I have read 3 notes. A hocket is one melody shared by two voices"},
		{"search the archive for carillons", "The archive has one entry on that. The oldest is a keyboard from Oudenaarde, of 1510."},
		{"search the archive for barrel organs", "The archive has nothing on that."},
	}
	said := chatted(t, ChatOptions{Agent: researchAgent, Config: researchConfig}, lines[0].line, lines[1].line, lines[2].line)
	for i, c := range lines {
		if !strings.HasPrefix(said[i], c.want) {
			t.Errorf("%s: %q", c.line, said[i])
		}
	}
}

// TestResearchDelegates checks that both assistants report progress, and return what they
// have when they are cancelled.
func TestResearchDelegates(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the assistants are started with go run")
	}
	agent, err := settings.LoadAgent(researchAgent)
	if err != nil {
		t.Fatal(err)
	}
	o, err := LoadOptions(researchConfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{o.Tools.Command[0].Args, o.Tools.MCP[0].Args} {
		args[slices.Index(args, "--pace")+1] = "1ms"
	}
	flows, _ := toolsOf(t, o.Tools, agent)
	for _, s := range flows.Specs() {
		if !s.Long || s.Irreversible {
			t.Errorf("%s: long %v, irreversible %v", s.Name, s.Long, s.Irreversible)
		}
	}
	for name, want := range map[string]string{"research": "I am reading note 1 of 3", "search_archive": "I am at shelf 1 of 3"} {
		var heard []string
		if _, err := flows.Call(t.Context(), port.ToolCall{ID: "1", Name: name, Arguments: `{"topic":"hocket"}`}, func(text string) { heard = append(heard, text) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(heard) == 0 || heard[0] != want {
			t.Errorf("%s: heard %q", name, heard)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Tools.Command[0].Args[slices.Index(o.Tools.Command[0].Args, "--pace")+1] = "1h"
	flows, _ = toolsOf(t, o.Tools, agent)
	_, err = flows.Call(ctx, port.ToolCall{ID: "2", Name: "research", Arguments: `{"topic":"hocket"}`}, func(string) { cancel() })
	if f, ok := errors.AsType[*port.Failure](err); !ok || f.Code != "CANCELLED" || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
