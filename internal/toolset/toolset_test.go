package toolset

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// noon is the time of the tests.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func fake(names ...string) *porttest.Tool {
	t := &porttest.Tool{}
	for _, n := range names {
		t.Known = append(t.Known, port.ToolSpec{Name: n})
	}
	return t
}

func namesOf(t port.Tool) []string {
	var names []string
	for _, s := range t.Specs() {
		names = append(names, s.Name)
	}
	return names
}

// TestCombine checks that each call goes to the part with its tool, and that
// duplicate names are reported with their origins.
func TestCombine(t *testing.T) {
	a, b := fake("x", "y"), fake("z")
	s, err := Combine(Part{"the actions", a}, Part{"nobody", nil}, Part{"the servers", b})
	if err != nil {
		t.Fatal(err)
	}
	if got := namesOf(s); !slices.Equal(got, []string{"x", "y", "z"}) {
		t.Errorf("%q", got)
	}
	if _, err := s.Call(t.Context(), port.ToolCall{Name: "z", Arguments: "{}"}, nil); err != nil || len(b.Calls()) != 1 || len(a.Calls()) != 0 {
		t.Errorf("error %v, calls %v and %v", err, a.Calls(), b.Calls())
	}
	_, err = Combine(Part{"the actions", a}, Part{"the servers", fake("q", "y")})
	if err == nil || err.Error() != "tools: y is a tool of both the actions and the servers: rename one of them or set a prefix" {
		t.Errorf("%v", err)
	}
	_, err = Combine(Part{"the servers", fake("q")}, Part{"the servers", fake("q")})
	if err == nil || err.Error() != "tools: q is a tool of the servers twice: rename one of them or set a prefix" {
		t.Errorf("%v", err)
	}
	porttest.TestTool(t, func(*testing.T) port.Tool { return s }, port.ToolCall{ID: "1", Name: "x", Arguments: "{}"})
}

// TestSelect checks that other tools are neither offered nor run.
func TestSelect(t *testing.T) {
	all := fake("x", "y", "z")
	s, err := Select(all, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	if got := namesOf(s); !slices.Equal(got, []string{"y"}) {
		t.Errorf("%q", got)
	}
	if _, err := s.Call(t.Context(), port.ToolCall{Name: "x"}, nil); err == nil || len(all.Calls()) != 0 {
		t.Errorf("error %v, calls %v", err, all.Calls())
	}
	if s, err = Select(all, []string{"*"}); err != nil || len(s.Specs()) != 3 {
		t.Errorf("%v, error %v", s, err)
	}
	if _, err := Select(all, []string{"w"}); err == nil || !strings.Contains(err.Error(), `unknown tool "w": expected one of [x y z]`) {
		t.Errorf("%v", err)
	}
	_, err = Combine(Part{"the servers", fake("q")}, Part{"the servers", fake("q")})
	if err == nil || err.Error() != "tools: q is a tool of the servers twice: rename one of them or set a prefix" {
		t.Errorf("%v", err)
	}
	porttest.TestTool(t, func(*testing.T) port.Tool { return s }, port.ToolCall{ID: "1", Name: "x", Arguments: "{}"})
}
