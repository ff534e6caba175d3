package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// history is a store that remembers all that was saved in it.
type history struct {
	porttest.Store
	mu    sync.Mutex // guards all below
	saves []journal.Checkpoint
	gone  int
	fail  error
}

func (h *history) Save(ctx context.Context, hold port.Hold, b []byte) error {
	if b == nil {
		return h.Store.Save(ctx, hold, b) // emptied before it is deleted
	}
	c, err := journal.ReadCheckpoint(b)
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.saves = append(h.saves, c)
	err = h.fail
	h.mu.Unlock()
	return errors.Join(err, h.Store.Save(ctx, hold, b))
}

func (h *history) Delete(ctx context.Context, id string) error {
	h.mu.Lock()
	h.gone++
	h.mu.Unlock()
	return h.Store.Delete(ctx, id)
}

func (h *history) all() []journal.Checkpoint {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.saves)
}

// restaurant is the agent of booking.
func restaurant(t testing.TB) (*dialog.Agent, []agent.File) {
	t.Helper()
	files := []agent.File{{Name: "table.yaml", Data: []byte(booking)}}
	a, problems := dialog.Parse(files)
	if agent.HasErrors(problems) {
		t.Fatal(problems)
	}
	return a, files
}

// tables books tables, each key once, and looks whether it was known before.
type tables struct {
	store        *history
	irreversible bool
	mu           sync.Mutex // guards all below
	keys         []string
	unknown      int // runs that no checkpoint knew of
}

func (r *tables) Specs() []port.ToolSpec {
	return []port.ToolSpec{{Name: "reserve", Irreversible: r.irreversible}}
}

func (r *tables) Call(_ context.Context, call port.ToolCall, _ func(string)) (string, error) {
	known := false
	if saves := r.store.all(); len(saves) > 0 {
		known = strings.Contains(string(saves[len(saves)-1].Snapshot), `"name":"reserve"`)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !known {
		r.unknown++
	}
	r.keys = append(r.keys, call.ID)
	return `{"table": 7}`, nil
}

// reserving is a call that reserves a table, from where its dialogue stands.
func reserving(t testing.TB, st dialog.State, tools port.Tool, parts func(*Options)) plan {
	agent, files := restaurant(t)
	p := plan{conv: conv.Options{Agent: agent}}
	say := func(texts ...string) {
		for _, text := range texts {
			p.texts, p.lines = append(p.texts, text), append(p.lines, line{answers, 1200 * ms})
		}
	}
	switch st.ConversationState {
	case dialog.Confirming:
		say("yes")
	case dialog.WaitingForSlot:
		say("four", "yes")
	case dialog.ExecutingAction, dialog.Completed:
	default:
		say("reserve a table", "four", "yes")
	}
	p = thinking(p, nil, tools)
	p.parts = func(o *Options) {
		o.AgentFiles = files
		parts(o)
	}
	return p
}

// TestCallGoesOn holds a call, and goes on from each of its checkpoints as if the
// process had died there: the table is reserved, under one key, and the traces
// replay.
func TestCallGoesOn(t *testing.T) {
	store := &history{}
	tools := &tables{store: store}
	c := hold(t, reserving(t, dialog.State{}, tools, func(o *Options) {
		o.Checkpoints = Checkpoints{Store: store, Agent: "tables", Transport: "test"}
	}))
	if len(tools.keys) != 1 || tools.unknown != 0 {
		t.Fatalf("keys %q, %d runs that no checkpoint knew of", tools.keys, tools.unknown)
	}
	saves := store.all()
	if last := saves[len(saves)-1]; !last.Ended || last.Agent != "tables" || last.Turns < 6 || !strings.Contains(string(last.Snapshot), "It is table 7.") {
		t.Errorf("the last checkpoint: ended %v, agent %s, %d turns", last.Ended, last.Agent, last.Turns)
	}
	c.wantSaid(conv.RoleUser, "reserve a table", "four", "yes")
	phases := make(map[string]bool)
	for i, save := range saves {
		if save.Ended {
			continue
		}
		phases[save.Phase] = true
		t.Run(fmt.Sprintf("%d %s", i, save.Phase), func(t *testing.T) {
			agent, _ := restaurant(t)
			before, err := conv.Restore(conv.Options{Agent: agent}, save.Snapshot)
			if err != nil {
				t.Fatal(err)
			}
			again := &tables{store: &history{}}
			p := reserving(t, before.State().Dialogue, again, func(o *Options) {
				o.Checkpoints, o.Restore = Checkpoints{Store: again.store}, save.Snapshot
			})
			if save.Phase == "processing.understanding" && before.State().Dialogue.ConversationState == dialog.Confirming {
				// The yes was cut off. It is asked for, and then for the read-back once more.
				p.texts, p.lines = append(p.texts, "yes"), append(p.lines, line{answers, 1200 * ms})
			}
			c := newCall(t, p)
			c.err = c.s.RunVirtual(t.Context(), start.Add(time.Hour))
			c.ok()
			done := before.State().Dialogue.ConversationState == dialog.Completed
			if done != (len(again.keys) == 0) || len(again.keys) > 1 {
				t.Errorf("reserved under %q", again.keys)
			}
			for _, key := range again.keys {
				if key != tools.keys[0] {
					t.Errorf("reserved under %q, before under %q", key, tools.keys[0])
				}
			}
			all := again.store.all()
			if last := all[len(all)-1]; !strings.Contains(string(last.Snapshot), "It is table 7.") {
				t.Errorf("it ends without a table: %s", last.Snapshot)
			}
		})
	}
	for _, phase := range []string{"listening.capturing", "processing.understanding", "processing.tool", "speaking"} {
		if !phases[phase] {
			t.Errorf("no checkpoint was written in %s: %v", phase, phases)
		}
	}
}

// TestNobodyKnows: what must not be done twice is not run again behind a crash; the
// flow is in its error state, and the user decides.
func TestNobodyKnows(t *testing.T) {
	store := &history{}
	tools := &tables{store: store, irreversible: true}
	hold(t, reserving(t, dialog.State{}, tools, func(o *Options) { o.Checkpoints = Checkpoints{Store: store} }))
	saves := store.all()
	i := slices.IndexFunc(saves, func(c journal.Checkpoint) bool { return c.Phase == "processing.tool" })
	if i < 0 {
		t.Fatal("no checkpoint of the running action")
	}
	again := &tables{store: &history{}, irreversible: true}
	var last dialog.State
	p := reserving(t, dialog.State{ConversationState: dialog.ExecutingAction}, again, func(o *Options) { o.Restore = saves[i].Snapshot })
	c := newCall(t, p)
	c.s.OnStep(func(s Step) {
		if s.State.Phase == conv.ListeningReady {
			last = s.State.Dialogue.Clone()
		}
	})
	c.err = c.s.RunVirtual(t.Context(), start.Add(time.Hour))
	c.ok()
	failure, _ := last.Metadata["error"].(map[string]any)
	if len(again.keys) != 0 || last.ConversationState != dialog.Error || failure["recovery_state"] != "executing_action" {
		t.Errorf("keys %q, state %s, error %v", again.keys, last.ConversationState, failure)
	}

	// By text: the same, and the user has it tried again, under the same key.
	agent, _ := restaurant(t)
	tx, err := NewText(TextOptions{ID: "test", Conv: conv.Options{Agent: agent}, Tools: again, Restore: saves[i].Snapshot})
	if err != nil {
		t.Fatal(err)
	}
	r, err := tx.Resume(t.Context(), start.Add(time.Hour))
	if err != nil || tx.Dialogue().ConversationState != dialog.Error || len(again.keys) != 0 {
		t.Fatalf("said %q, %s, error %v", r.Said, tx.Dialogue().ConversationState, err)
	}
	r, err = tx.Say(t.Context(), start.Add(time.Hour+time.Second), "try again")
	if err != nil || strings.Join(r.Said, " ") != "It is table 7." || !slices.Equal(again.keys, tools.keys) {
		t.Errorf("said %q under %q, error %v", r.Said, again.keys, err)
	}
}

// TestPrivacy: how long words are kept is what privacy says.
func TestPrivacyOfCheckpoints(t *testing.T) {
	for privacy, want := range map[conv.Privacy]struct {
		words bool
		gone  int
	}{conv.PrivacyKeep: {true, 0}, conv.PrivacySession: {true, 1}, conv.PrivacyNone: {false, 1}} {
		store := &history{}
		p := reserving(t, dialog.State{}, &tables{store: store}, func(o *Options) {
			o.Checkpoints, o.Conv.Privacy, o.Trace = Checkpoints{Store: store}, privacy, nil
		})
		c := newCall(t, p)
		c.err = c.s.RunVirtual(t.Context(), start)
		c.ok()
		words := false
		for _, save := range store.all() {
			for _, word := range []string{"reserve a table", "How many", "four", "table 7"} {
				words = words || strings.Contains(string(save.Snapshot), word)
			}
		}
		if _, kept, err := store.Load(t.Context(), "test"); words != want.words || store.gone != want.gone || kept != (want.gone == 0) || err != nil {
			t.Errorf("%s: words %v, deleted %d times, kept %v, error %v", privacy, words, store.gone, kept, err)
		}
	}
}

// TestStoreFails: a store that does not save is told, and the call goes on.
func TestStoreFails(t *testing.T) {
	store := &history{fail: errors.New("the disk is full")}
	var mu sync.Mutex
	var told []error
	tools := &tables{store: store}
	c := hold(t, reserving(t, dialog.State{}, tools, func(o *Options) {
		o.Checkpoints = Checkpoints{Store: store, Behind: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, err)
		}}
	}))
	c.ok()
	if len(tools.keys) != 1 || len(told) == 0 || !strings.Contains(told[0].Error(), "checkpoint of test: the disk is full") {
		t.Errorf("keys %q, told %v", tools.keys, told)
	}
}

// TestEndedIsOver: what has ended is not resumed.
func TestEndedIsOver(t *testing.T) {
	store := &history{}
	hold(t, reserving(t, dialog.State{}, &tables{store: store}, func(o *Options) { o.Checkpoints = Checkpoints{Store: store} }))
	saves := store.all()
	agent, _ := restaurant(t)
	c, err := conv.Restore(conv.Options{Agent: agent}, saves[len(saves)-1].Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	c.Step(start.Add(time.Hour), conv.UserStop{})
	c.Step(start.Add(time.Hour), conv.SessionEnded{})
	b, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewText(TextOptions{Conv: conv.Options{Agent: agent}, Restore: b}); !errors.Is(err, ErrNotResumable) {
		t.Errorf("%v", err)
	}
}
