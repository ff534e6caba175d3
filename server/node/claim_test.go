package node

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// TestClaimWaits: Claim waits until the holder releases the conversation or is considered
// dead, and returns an error after the time limit.
func TestClaimWaits(t *testing.T) {
	r := &porttest.Store{}
	take := func(wait time.Duration) *Claimed {
		c, err := Claim(t.Context(), r, "a", wait)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := take(0)
	second, err := Claim(t.Context(), r, "a", 60*time.Millisecond)
	if second != nil || err == nil || !strings.Contains(err.Error(), "the conversation a is in use: another process holds it ("+first.node+")") {
		t.Errorf("%+v, error %v", second, err)
	}
	if nodes, err := r.Nodes(t.Context()); err != nil || len(nodes) != 1 || nodes[0].ID != first.node {
		t.Errorf("nodes %v, error %v: expected the holder alone", nodes, err)
	}
	go func() { _ = first.Close() }()
	third := take(time.Minute)
	if third.Hold.Token <= first.Hold.Token {
		t.Errorf("token %d after %d", third.Hold.Token, first.Hold.Token)
	}
	if err := third.Close(); err != nil {
		t.Error(err)
	}
	// A node on another machine, which has died.
	if err := r.Beat(t.Context(), port.Node{ID: "elsewhere/1/x"}, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Claim(t.Context(), "a", "elsewhere/1/x"); err != nil {
		t.Fatal(err)
	}
	if err := take(time.Minute).Close(); err != nil {
		t.Error(err)
	}
	if ids, err := r.Abandoned(t.Context(), 0, 10); err != nil || len(ids) > 0 {
		t.Errorf("%v are to be ended by others, error %v", ids, err)
	}
}

// TestDiedHere: Claim does not wait for a process of this machine that was killed.
func TestDiedHere(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Skip("there is no program sleep: ", err)
	}
	own := Name()
	host, _, _ := strings.Cut(own, "/")
	child := host + "/" + strconv.Itoa(cmd.Process.Pid) + "/x"
	if DiedHere(own) || DiedHere(child) {
		t.Error("a live process is reported as dead")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if !DiedHere(child) {
		t.Error("a dead process is reported as alive")
	}
	for _, node := range []string{"", "n1", "a/b", "elsewhere" + child, host + "/0/x", host + "/-1/x", host + "/x/y"} {
		if DiedHere(node) {
			t.Errorf("%q is dead", node)
		}
	}
	r := &porttest.Store{}
	for id, node := range map[string]string{"a": child, "b": "elsewhere"} {
		if err := r.Beat(t.Context(), port.Node{ID: node, URL: "http://" + node}, time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Claim(t.Context(), id, node); err != nil {
			t.Fatal(err)
		}
	}
	h := &Home{o: Options{Registry: r, Node: port.Node{ID: own}}}
	if url, ok, err := h.Holder(t.Context(), "a"); ok || err != nil {
		t.Errorf("clients are sent to %s, which is dead: %v", url, err)
	}
	if url, ok, err := h.Holder(t.Context(), "b"); !ok || err != nil || url != "http://elsewhere" {
		t.Errorf("clients are sent to %q, %v, error %v", url, ok, err)
	}
	c, err := Claim(t.Context(), r, "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
