package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/porttest"
)

// Misbehaving clients of every kind are told what is documented, their conversations
// end, and well-behaved clients are not affected. Their lateness is only measured on a
// quiet machine.
func TestFaults(t *testing.T) {
	r, err := Faults(t.Context(), FaultsOptions{
		Calls: 3, Duration: time.Second, Synthesizer: &porttest.Synthesizer{}, Detector: &porttest.Detector{},
	})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string][]string{
		"killed": {"reset by the client"}, "half open": {"closed 1001"}, "never reads": {"cut off"},
		"frames of 1 MB": {"frames taken ("}, // 1009 may be lost: the server closes a connection that is being written to
		"invalid JSON":   {"error invalid_json", "error invalid_type", "error invalid_value"},
		"wrong order": {
			"error input_audio_buffer_commit_empty", "error response_cancel_not_active", "error item_truncate_invalid_item_id",
			"error item_delete_invalid_item_id", "error item_retrieve_invalid_item_id", "error item_create_invalid_previous_item_id",
			"error item_reference_invalid_item_id",
		},
		"flood of events":        {"error response_cancel_not_active", "error rate_limit_exceeded", "closed 1008"},
		"two clients":            {"closed 4409", "closed 4000", "error resume_token_invalid"},
		"connect and disconnect": {"connections"},
	}
	if len(r.Rows) != len(told)+2 {
		t.Fatalf("%d kinds", len(r.Rows))
	}
	for i := range r.Rows {
		f := &r.Rows[i]
		t.Logf("%+v", *f)
		// Interrupted and short responses depend on the clock: a busy machine may cause
		// them too.
		if f.Closed+f.Left > 0 {
			t.Errorf("%s: %d healthy conversations closed, %d conversations left", f.Name, f.Closed, f.Left)
		}
		for _, want := range told[f.Name] {
			if !strings.Contains(f.Told, want) {
				t.Errorf("%s: nobody was told %q, but %s", f.Name, want, f.Told)
			}
		}
	}
	if r.After > r.Before {
		t.Errorf("%d goroutines before, %d after", r.Before, r.After)
	}
}

// Effects on well-behaved clients are described.
func TestFaultsHurt(t *testing.T) {
	well := Fault{Name: "none", Deltas: 1}
	for want, r := range map[string]FaultsReport{
		"":                             {Rows: []Fault{well}, Before: 3, After: 3},
		"3 goroutines before, 4 after": {Rows: []Fault{well}, Before: 3, After: 4},
		"1 healthy":                    {Rows: []Fault{well, {Name: "killed", Deltas: 1, Closed: 1}}},
		"2 responses cut":              {Rows: []Fault{{Deltas: 1, Cut: 2}}},
		"3 short of sound":             {Rows: []Fault{{Deltas: 1, Short: 3}}},
		"0 pieces heard":               {Rows: []Fault{{}}},
		"1 conversations le":           {Rows: []Fault{{Deltas: 1, Left: 1}}},
	} {
		if got := r.Hurt(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Error(fmt.Sprintf("%+v", r), "is", got)
		}
	}
}
