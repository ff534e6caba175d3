//go:build peers && unix

package mcp

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
)

// everything returns a third-party server, started by a command.
func everything(t *testing.T) Server {
	t.Helper()
	script := filepath.Join("..", "..", "third_party", "mcp-everything-2026.8.31", "node_modules",
		"@modelcontextprotocol", "server-everything", "dist", "index.js")
	if _, err := os.Stat(script); err != nil {
		t.Skip("server-everything is not there: tool/mcp/testdata/everything/fetch puts it into third_party, with npm")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: server-everything runs on it")
	}
	return Server{
		Name: "everything", Command: node, Args: []string{script, "stdio"}, Prefix: "ev_",
		Policies: []Policy{{Tool: "trigger-long-running-operation", Long: true, Timeout: 20 * time.Second}},
	}
}

// TestPeerEverything checks that the client works with a third-party server in another
// language.
func TestPeerEverything(t *testing.T) {
	tools := opened(t, everything(t))
	for _, s := range tools.Specs() {
		t.Logf("%s: long %v, irreversible %v: %s", s.Name, s.Long, s.Irreversible, s.Schema)
	}
	t.Run("the port's rules", func(t *testing.T) {
		porttest.TestTool(t, func(*testing.T) port.Tool { return tools },
			port.ToolCall{ID: "1", Name: "ev_echo", Arguments: `{"message":"hello"}`})
	})
	if out := called(t, tools, "ev_echo", `{"message":"hello"}`); out != "Echo: hello" {
		t.Errorf("echo: %q", out)
	}
	if out := called(t, tools, "ev_get-sum", `{"a":2,"b":40}`); !strings.Contains(out, "42") {
		t.Errorf("sum: %q", out)
	}
	if out := called(t, tools, "ev_get-tiny-image", `{}`); !strings.Contains(out, "[image, ") {
		t.Errorf("image: %q", out)
	}
	if out := called(t, tools, "ev_get-structured-content", `{"location":"Chicago"}`); !strings.HasPrefix(out, "{") || !strings.Contains(out, "temperature") {
		t.Errorf("structured: %q", out)
	}
	refused(t, tools, "ev_get-sum", `{"a":2}`, errclass.InvalidArgs, "ev_get-sum", "b")
	var heard []string
	out, err := tools.Call(t.Context(), port.ToolCall{Name: "ev_trigger-long-running-operation", Arguments: `{"duration":0.2,"steps":4}`},
		func(text string) { heard = append(heard, text) })
	if err != nil || !strings.Contains(out, "completed") {
		t.Errorf("long: %q, error %v", out, err)
	}
	// The last one may arrive after the result.
	if len(heard) < 3 || !slices.Equal(heard, []string{"25%", "50%", "75%", "100%"}[:len(heard)]) {
		t.Errorf("heard %q", heard)
	}
}
