package turn

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDeadAirEscalates(t *testing.T) { // seed 004, feature 7
	var d DeadAir
	o := DeadAirOptions{}
	wantStep := func(at time.Duration, code string, end bool) {
		t.Helper()
		if due := d.Deadline(o); !due.Equal(after(at)) {
			t.Fatalf("the deadline is %v, want %v", due.Sub(t0), at)
		}
		if s, ok := d.Passed(o, after(at-1)); ok {
			t.Fatalf("%s a nanosecond early", s.Code)
		}
		s, ok := d.Passed(o, after(at))
		if !ok || s.Code != code || s.End != end {
			t.Fatalf("at %v: %+v, %v; want %s", at, s, ok, code)
		}
		if s, ok := d.Passed(o, after(at)); ok {
			t.Fatalf("%s at once after %s", s.Code, code)
		}
	}
	d.AgentSpoke()
	d.Start(after(0))
	d.Start(after(5 * time.Second)) // it runs already
	wantStep(10*time.Second, "checkin.1", false)
	d.Stop() // the check-in sounds
	if !d.Deadline(o).IsZero() {
		t.Fatal("the clock runs while the agent speaks")
	}
	if _, ok := d.Passed(o, after(time.Hour)); ok {
		t.Fatal("a step while the agent speaks")
	}
	d.Start(after(12 * time.Second))
	wantStep(22*time.Second, "checkin.2", false)
	// This check-in never sounds: the escalation goes on all the same.
	wantStep(32*time.Second, "goodbye", true)
	if !d.Deadline(o).IsZero() {
		t.Error("there is something after the end")
	}
	if s, ok := d.Passed(o, after(time.Hour)); ok {
		t.Errorf("%s after the end", s.Code)
	}
}

func TestDeadAirWaitsForTheAgentsFirstWords(t *testing.T) { // pain 16
	var d DeadAir
	d.Start(t0)
	if !d.Deadline(DeadAirOptions{}).IsZero() {
		t.Error("the clock runs before the agent has spoken")
	}
	d.AgentSpoke()
	d.Start(after(time.Second))
	if got := d.Deadline(DeadAirOptions{}); !got.Equal(after(11 * time.Second)) {
		t.Errorf("the deadline is %v", got.Sub(t0))
	}
}

func TestDeadAirUserActivityResetsTheEscalation(t *testing.T) {
	o := DeadAirOptions{}
	escalated := func() DeadAir {
		var d DeadAir
		d.AgentSpoke()
		d.Start(t0)
		d.Passed(o, after(10*time.Second))
		if d.Next != 1 {
			t.Fatal("the first step did not come")
		}
		return d
	}
	// Words while the clock runs: it starts anew.
	d := escalated()
	d.UserActive(after(15 * time.Second))
	if got := d.Deadline(o); !got.Equal(after(25 * time.Second)) {
		t.Errorf("after words the deadline is %v", got.Sub(t0))
	}
	if s, _ := d.Passed(o, after(25*time.Second)); s.Code != "checkin.1" {
		t.Errorf("after words the step is %+v", s)
	}
	// Speech: the clock stands until it ends.
	d = escalated()
	d.UserActive(after(15 * time.Second))
	d.Stop()
	if !d.Deadline(o).IsZero() {
		t.Error("the clock runs while the user speaks")
	}
	d.Start(after(17 * time.Second))
	if s, _ := d.Passed(o, after(27*time.Second)); s.Code != "checkin.1" {
		t.Errorf("after speech the step is %+v", s)
	}
	// Work of a tool suspends, and does not reset.
	d = escalated()
	d.Stop()
	d.Start(after(60 * time.Second))
	if s, ok := d.Passed(o, after(70*time.Second)); !ok || s.Code != "checkin.2" {
		t.Errorf("after work the step is %+v", s)
	}
}

func TestDeadAirOwnSteps(t *testing.T) {
	o := DeadAirOptions{Steps: []DeadAirStep{{After: time.Second, Code: "hello"}}}
	d := DeadAir{Armed: true}
	d.Start(t0)
	if s, ok := d.Passed(o, after(time.Hour)); !ok || s.Code != "hello" || s.End {
		t.Errorf("%+v, %v", s, ok)
	}
	if !d.Deadline(o).IsZero() {
		t.Error("a step behind the last")
	}
	d = DeadAir{Armed: true}
	d.Start(t0)
	if _, ok := d.Passed(DeadAirOptions{Off: true}, after(time.Hour)); ok {
		t.Error("a step although it is off")
	}
}

func TestDeadAirOptionsValidate(t *testing.T) {
	for want, o := range map[string]DeadAirOptions{
		"Steps[0].After is 0s":  {Steps: []DeadAirStep{{Code: "x"}}},
		"Steps[1].Code is \"\"": {Steps: []DeadAirStep{{After: 1, Code: "x"}, {After: 1}}},
		"Steps[0].End is true":  {Steps: []DeadAirStep{{After: 1, Code: "x", End: true}, {After: 1, Code: "y"}}},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q in it", o, err, want)
		}
	}
	steps := DefaultDeadAir()
	if err := (DeadAirOptions{Steps: steps}).Validate(); err != nil {
		t.Error(err)
	}
	steps[0].Code = "changed"
	if slices.Equal(steps, DefaultDeadAir()) {
		t.Error("the default can be changed from outside")
	}
}

// TestDeadAirProperties checks that, while the call is silent, a step comes exactly when it
// is due, and that the call ends after the last one.
func TestDeadAirProperties(t *testing.T) {
	o := DeadAirOptions{}
	ends := 0
	rapid.Check(t, func(t *rapid.T) {
		d := DeadAir{}
		now := t0
		var since time.Time // of the silence
		spoke := false
		last := -1
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now = now.Add(rapid.SampledFrom([]time.Duration{ms, 5 * time.Second, 10*time.Second - 1, 10 * time.Second, time.Minute}).Draw(t, "wait"))
			due := d.Deadline(o)
			if s, ok := d.Passed(o, now); ok {
				if !spoke || since.IsZero() || now.Before(due) || now.Sub(since) < 10*time.Second {
					t.Fatalf("%s after a silence of %v", s.Code, now.Sub(since))
				}
				step := slices.Index(DefaultDeadAir(), s)
				if step != last+1 {
					t.Fatalf("step %d after step %d", step, last)
				}
				last, since = step, now
				if s.End {
					ends++
					if !d.Deadline(o).IsZero() {
						t.Fatal("something comes after the end")
					}
					return
				}
			} else if !due.IsZero() && !now.Before(due) {
				t.Fatal("a step that is due does not come")
			}
			switch rapid.SampledFrom([]string{"silent", "silent", "silent", "silent", "agent", "speech", "sound", "words"}).Draw(t, "event") {
			case "speech":
				d.UserActive(now)
				d.Stop()
				since, last = time.Time{}, -1
			case "sound":
				d.Stop()
				since = time.Time{}
			case "words":
				d.UserActive(now)
				last = -1
				if !since.IsZero() {
					since = now
				}
			case "agent":
				d.AgentSpoke()
				spoke = true
			default:
				d.Start(now)
				if spoke && since.IsZero() {
					since = now
				}
			}
			text, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			var back DeadAir
			if err := json.Unmarshal(text, &back); err != nil || back != d {
				t.Fatalf("%+v comes back as %+v (%v)", d, back, err)
			}
		}
	})
	if ends == 0 {
		t.Error("no sequence reached the end: the test is too weak")
	}
}
