package conv_test

import (
	"encoding/json"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/convtest"
	"github.com/hocketvoice/hocket/turn"
)

// TestViewsAreRefused: a view that is not there is an error that names those which
// are.
func TestViewsAreRefused(t *testing.T) {
	if _, err := view.Name("soni").States(); err == nil {
		t.Error("an unknown view has states")
	}
	for _, v := range view.Names() {
		states, err := v.States()
		if err != nil || len(states) < 3 {
			t.Errorf("view %s: %v, %v", v, states, err)
		}
	}
}

// TestEveryWayLeadsThere: the scripts that the other tests start from.
func TestEveryWayLeadsThere(t *testing.T) {
	for _, p := range conv.Phases() {
		for _, endpoint := range turn.Policies() {
			if _, err := convtest.Reach(p, conv.Options{Endpoint: endpoint}, nil); err != nil {
				t.Errorf("%s: %v", endpoint, err)
			}
		}
	}
}

// TestPhaseNames: names and phases are one to one, also on the wire.
func TestPhaseNames(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range conv.Phases() {
		b, err := p.MarshalText()
		if err != nil || seen[string(b)] {
			t.Errorf("%v: %s, %v", p, b, err)
		}
		seen[string(b)] = true
		var back conv.Phase
		if err := back.UnmarshalText(b); err != nil || back != p {
			t.Errorf("%s is read as %v: %v", b, back, err)
		}
	}
	var p conv.Phase
	if err := p.UnmarshalText([]byte("dreaming")); err == nil {
		t.Error("an unknown phase is read")
	}
	if got := conv.Phase(200).String(); got != "phase(200)" {
		t.Errorf("an invalid phase is %q", got)
	}
	if conv.Phase(200).CanFollow(conv.Idle) {
		t.Error("an invalid phase has successors")
	}
}

// TestViewsOnTheWire: what is written is read again, and nothing else is.
func TestViewsOnTheWire(t *testing.T) {
	for _, p := range conv.Phases() {
		s := conv.State{Phase: p}
		want := s.Views()
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got view.Views
		if err := json.Unmarshal(b, &got); err != nil || got != want {
			t.Errorf("%s is read as %+v: %v", b, got, err)
		}
	}
	for _, name := range []string{"agent-voice", "amplifier", "easyturn", "interaction"} {
		if err := json.Unmarshal([]byte(`{"`+name+`":"dreaming"}`), new(view.Views)); err == nil {
			t.Errorf("an unknown state of %s is read", name)
		}
	}
}
