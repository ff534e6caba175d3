package explore

import (
	"bytes"
	"os"
	"testing"

	"github.com/hocketvoice/hocket/conv/view"
)

// TestGeneratedFileIsItsSource checks that the generated file was not edited.
// TestShippedMachine, which explores anyway, checks its content.
func TestGeneratedFileIsItsSource(t *testing.T) {
	want, err := Known().Source()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("reached_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("reached_gen.go was edited: run go generate ./internal/explore")
	}
}

// TestReachIsRun checks that Reach records what Run reports.
func TestReachIsRun(t *testing.T) {
	small := func() []Config {
		cfg := Shipped()[0]
		cfg.Events = any_(beginning, blows)
		return []Config{cfg}
	}
	r, err := Run(small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Reach(small())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range m.Stale(r) {
		t.Error(line)
	}
	r.Phases = r.Phases[1:]
	if m.Stale(r) == nil {
		t.Error("a missing transition is not noticed")
	}
	for _, transition := range m.View(view.NameEasyTurn) {
		if transition.From == "IDLE" && transition.To == "LISTENING" {
			if transition.Causes[0] != "audio.ready" {
				t.Errorf("the usual cause of listening is %s, expected audio.ready", transition.Causes[0])
			}
			return
		}
	}
	t.Error("listening is never reached")
}

func TestTableEdges(t *testing.T) {
	for _, table := range Tables() {
		edges := table.Edges()
		if len(edges) != len(table.resolve()) {
			t.Errorf("%s: %d edges, expected %d", table.View, len(edges), len(table.resolve()))
		}
		for _, e := range edges {
			if e.From == "idle" && e.To == "processing" && table.View == view.NameAmplifier && !e.Added {
				t.Error("idle -> processing is not the seed's own")
			}
			if e.From == "idle" && e.To == "listening" && e.Added {
				t.Error("idle -> listening is the seed's own")
			}
		}
	}
}
