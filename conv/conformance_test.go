package conv_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/internal/explore"
	"github.com/hocketvoice/hocket/internal/messages"
	"github.com/hocketvoice/hocket/internal/seeds"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/turn"
)

// table is the part of a file that says what is allowed.
type table struct {
	View        string
	Initial     string
	States      []string
	Transitions []struct {
		From, To string
		Except   []string
	}
	Matrix map[string][]string
	Added  []struct{ From, To string }
}

// row is a line of a table with its exceptions, a state to itself left out.
func row(from, to string, except []string) string {
	except = slices.Clone(except)
	if from == "*" && !slices.Contains(except, to) {
		except = append(except, to)
	}
	if to == "*" && !slices.Contains(except, from) {
		except = append(except, from)
	}
	slices.Sort(except)
	if len(except) == 0 || from != "*" && to != "*" {
		return from + " -> " + to
	}
	return fmt.Sprintf("%s -> %s but %v", from, to, except)
}

// TestTablesAreTheSeeds compares the tables that the exploration proves the
// machine against with the files, row by row, in both directions.
func TestTablesAreTheSeeds(t *testing.T) {
	for _, ours := range explore.Tables() {
		t.Run(string(ours.View), func(t *testing.T) {
			var theirs table
			seeds.Load(t, string(ours.View), &theirs)
			if theirs.View != string(ours.View) || theirs.Initial != ours.Initial {
				t.Errorf("view %s begins in %s, the file has %s, %s", ours.View, ours.Initial, theirs.View, theirs.Initial)
			}
			states, err := ours.View.States()
			if err != nil {
				t.Fatal(err)
			}
			var named []string
			if !slices.Contains(theirs.States, theirs.Initial) {
				named = append(named, theirs.Initial) // "none" of seed 001 is not a state of its list
			}
			if want := slices.Concat(named, theirs.States); !slices.Equal(states, want) {
				t.Errorf("states %v, the file has %v", states, want)
			}
			given, added := map[string]bool{}, map[string]bool{}
			for _, r := range ours.Rows {
				if r.Added {
					added[row(r.From, r.To, r.Except)] = true
				} else {
					given[row(r.From, r.To, r.Except)] = true
				}
			}
			wantGiven, wantAdded := theirs.rows(t)
			if !reflect.DeepEqual(given, wantGiven) {
				t.Errorf("rows of the seed: ours alone %v, the file's alone %v", less(given, wantGiven), less(wantGiven, given))
			}
			if !reflect.DeepEqual(added, wantAdded) {
				t.Errorf("added rows: ours alone %v, the file's alone %v", less(added, wantAdded), less(wantAdded, added))
			}
		})
	}
}

// rows are the seed's rows and those that were added to them. Where a file has a
// matrix, it says what is allowed, and the transitions must keep to it.
func (f *table) rows(t *testing.T) (given, added map[string]bool) {
	t.Helper()
	given, added = map[string]bool{}, map[string]bool{}
	if f.Matrix == nil {
		for _, tr := range f.Transitions {
			given[row(tr.From, tr.To, tr.Except)] = true
		}
	}
	for from, all := range f.Matrix {
		for _, to := range all {
			given[row(from, to, nil)] = true
		}
	}
	if f.Matrix != nil {
		for _, tr := range f.Transitions {
			r := row(tr.From, tr.To, tr.Except)
			switch {
			case tr.From == f.Initial || tr.To == f.Initial:
				given[r] = true // before the first session and after the end: the matrix knows neither
			case tr.From == "*":
				for from := range f.Matrix {
					if from != tr.To && !slices.Contains(f.Matrix[from], tr.To) {
						t.Errorf("the file's transitions have %s -> %s, its matrix has not", from, tr.To)
					}
				}
			case !given[r]:
				t.Errorf("the file's transitions have %s, its matrix has not", r)
			}
		}
	}
	for _, a := range f.Added {
		if r := row(a.From, a.To, nil); !given[r] {
			added[r] = true
		}
	}
	return given, added
}

func less(a, b map[string]bool) []string {
	var only []string
	for k := range a {
		if !b[k] {
			only = append(only, k)
		}
	}
	slices.Sort(only)
	return only
}

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// TestAmplifierNumbers: every number of seed 001 is the default.
func TestAmplifierNumbers(t *testing.T) {
	var f struct {
		TimeoutsMS map[string]*float64 `json:"timeouts_ms"`
		SessionMS  map[string]float64  `json:"session_ms"`
		TaskMS     struct {
			ProgressExpectedEvery    float64  `json:"progress_expected_every"`
			NoHeartbeatWarning       float64  `json:"no_heartbeat_warning"`
			ResultCharsBeforeSummary int      `json:"result_chars_before_summary"`
			Feedback                 [][2]any `json:"feedback"`
		} `json:"agent_task_ms"`
		Retry struct {
			MaxRetries         int       `json:"max_retries"`
			BackoffMS          []float64 `json:"backoff_ms"`
			ReconnectBackoffMS []float64 `json:"reconnect_backoff_ms"`
			Retryable          []string  `json:"retryable"`
		}
		Errors map[string]string
	}
	seeds.Load(t, "amplifier", &f)
	o := conv.DefaultOptions()
	l := o.Limits

	timeouts := map[string]time.Duration{
		"listening": l.Listening, "processing": l.Processing, "speaking": l.Speaking, "tool_executing": l.Tool,
		"waiting_amplifier": l.Task, "error": l.Error, "reconnecting": l.Reconnect,
	}
	for state, limit := range f.TimeoutsMS {
		ours, have := timeouts[state]
		switch {
		case limit == nil && have:
			t.Errorf("state %s has the limit %v, the seed none", state, ours)
		case limit != nil && ms(*limit) != ours:
			t.Errorf("state %s has the limit %v, the seed %v", state, ours, ms(*limit))
		}
		delete(timeouts, state)
	}
	if len(timeouts) > 0 {
		t.Errorf("the seed has no limit for %v", timeouts)
	}
	for name, ours := range map[string]time.Duration{
		"limit": l.Session, "warning_before": l.SessionWarning, "inactivity_prompt": l.Inactivity, "ice_recovery_wait": l.Grace,
	} {
		if ms(f.SessionMS[name]) != ours {
			t.Errorf("session %s is %v, the seed has %v", name, ours, ms(f.SessionMS[name]))
		}
		delete(f.SessionMS, name)
	}
	if len(f.SessionMS) > 0 {
		t.Errorf("not compared: %v", f.SessionMS)
	}
	if ms(f.TaskMS.NoHeartbeatWarning) != l.Heartbeat || f.TaskMS.ResultCharsBeforeSummary != l.ResultChars {
		t.Errorf("heartbeat %v, result of %d characters; the seed has %v, %d", l.Heartbeat, l.ResultChars,
			ms(f.TaskMS.NoHeartbeatWarning), f.TaskMS.ResultCharsBeforeSummary)
	}
	words, err := messages.Lookup("en")
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Feedback) != len(f.TaskMS.Feedback) {
		t.Fatalf("%d steps of feedback, the seed has %d", len(l.Feedback), len(f.TaskMS.Feedback))
	}
	for i, want := range f.TaskMS.Feedback {
		if got := l.Feedback[i]; got.After != ms(want[0].(float64)) || words.Text(got.Code) != want[1] {
			t.Errorf("feedback %d is %q after %v, the seed has %q after %vms", i, words.Text(got.Code), got.After, want[1], want[0])
		}
	}
	if o.Retry.Max != f.Retry.MaxRetries || !slices.Equal(o.Retry.Backoff, durations(f.Retry.BackoffMS)) ||
		!slices.Equal(o.Retry.Reconnect, durations(f.Retry.ReconnectBackoffMS)) {
		t.Errorf("retry %+v, the seed has %+v", o.Retry, f.Retry)
	}
	compareErrors(t, f.Errors, f.Retry.Retryable)
}

func durations(numbers []float64) []time.Duration {
	var all []time.Duration
	for _, n := range numbers {
		all = append(all, ms(n))
	}
	return all
}

// compareErrors holds the classes against the seed's table of them.
func compareErrors(t *testing.T, want map[string]string, retryable []string) {
	t.Helper()
	actions := map[string]errclass.Action{
		"retry": errclass.Retry, "retry with backoff": errclass.Retry, "retry once, then notify": errclass.Retry,
		"return to the model": errclass.Return, "reconnecting": errclass.Reconnect,
		"notify, end the session": errclass.End, "log, notify, recover to idle": errclass.Recover,
	}
	for _, class := range errclass.All() {
		action, known := actions[want[class.Name]]
		if !known || action != class.Action {
			t.Errorf("class %s leads to %v, the seed says %q", class.Name, class.Action, want[class.Name])
		}
		if strings.Contains(want[class.Name], "once") != (class.Retries == 1) {
			t.Errorf("class %s is retried %d times, the seed says %q", class.Name, class.Retries, want[class.Name])
		}
		if slices.Contains(retryable, class.Name) != (class.Action == errclass.Retry) {
			t.Errorf("class %s: action %v, the seed's retryable errors are %v", class.Name, class.Action, retryable)
		}
		delete(want, class.Name)
	}
	if len(want) > 0 {
		t.Errorf("classes of the seed that the machine does not know: %v", want)
	}
}

// TestAgentVoiceNumbers: the timings and the history of seed 000, as far as they are the
// machine's own; session.TestSeedLimits has them with the adapters' delays, and
// server/hub.TestStateIsShownInTime what the panel is told.
func TestAgentVoiceNumbers(t *testing.T) {
	var f struct {
		TimingMS map[string]float64 `json:"timing_ms"`
		History  struct {
			TransitionsKept int `json:"transitions_kept"`
			Persisted       bool
		}
	}
	seeds.Load(t, "agent-voice", &f)
	l := conv.DefaultOptions().Limits
	if ms(f.TimingMS["waiting_timeout_default"]) != l.Waiting {
		t.Errorf("a try takes %v, the seed has %vms", l.Waiting, f.TimingMS["waiting_timeout_default"])
	}
	if l.Interrupted > ms(f.TimingMS["interrupt_to_listening"]) {
		t.Errorf("the pause after a barge-in takes %v, the seed allows %vms for all of it", l.Interrupted, f.TimingMS["interrupt_to_listening"])
	}
	if f.History.TransitionsKept != 20 || f.History.Persisted {
		t.Errorf("the file's history is %+v: TestRecentIsNotPersisted tests something else", f.History)
	}
	// Without words it is the preset that has the seed's time to notice a voice.
	noticed := turn.SeedsBargeIn().MinSpeech
	if limit := ms(f.TimingMS["interrupt_preempts_speaking"]); noticed <= 0 || noticed > limit {
		t.Errorf("the preset notices a voice after %v, the seed allows %v", noticed, limit)
	}
	// The machine waits for nothing where it starts, takes final words and comes back:
	// each is the step of the fact that it depends on.
	o := conv.DefaultOptions()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c, err := conv.New(o)
	if err != nil {
		t.Fatal(err)
	}
	phase := func(name, want string, after time.Duration, facts ...conv.Event) {
		t.Helper()
		limit, known := f.TimingMS[name]
		if !known {
			t.Errorf("the table has no %s", name)
		}
		began := at
		at = at.Add(after)
		for next := c.NextDeadline(); !next.IsZero() && !next.After(at); next = c.NextDeadline() {
			c.Step(next, conv.DeadlinePassed{})
		}
		for _, ev := range facts {
			c.Step(at, ev)
		}
		if got := c.State().Views().AgentVoice.String(); got != want {
			t.Errorf("%s: the state is %s, expected %s", name, got, want)
		}
		if took := at.Sub(began); took > ms(limit) {
			t.Errorf("%s takes %v, the seed allows %vms", name, took, limit)
		}
	}
	phase("start_to_listening", "listening", 0, conv.SessionReady{ID: "s"}, conv.UserStart{}, conv.AudioReady{})
	phase("final_to_processing", "processing", 0, conv.SpeechStarted{}, conv.STTPartial{Text: "hello"}, conv.SpeechStopped{}, conv.TurnEnded{Cause: "easyturn"}, conv.STTFinal{Text: "hello"})
	c.Step(at, conv.SessionRenewal{Source: "renewal"})
	phase("resume_from_suspended", "processing", 0, conv.SessionRenewed{})
	c.Step(at, conv.ReplyDelta{Text: "Well, I think so. "})
	phase("panel_shows_state", "speaking", 0, conv.PlayoutStarted{})
	c.Step(at, conv.SpeechStarted{})
	c.Step(at, conv.STTPartial{Text: "no wait a moment"})
	phase("interrupt_preempts_speaking", "interrupted", 0)
	phase("interrupt_to_listening", "listening", l.Interrupted)
	for _, name := range []string{
		"start_to_listening", "final_to_processing", "interrupt_preempts_speaking", "interrupt_to_listening",
		"resume_from_suspended", "panel_shows_state", "waiting_timeout_default",
	} {
		delete(f.TimingMS, name)
	}
	if len(f.TimingMS) > 0 {
		t.Errorf("not compared: %v", f.TimingMS)
	}
}

// TestEasyTurnNumbers: the pause of seed 002, and seed 004's two words. The
// controller's thresholds are compared in package turn (TestEasyTurnConformance).
func TestEasyTurnNumbers(t *testing.T) {
	var easy struct {
		InterruptedPauseMS float64 `json:"interrupted_pause_ms"`
	}
	seeds.Load(t, "easyturn", &easy)
	o := conv.DefaultOptions()
	if ms(easy.InterruptedPauseMS) != o.Limits.Interrupted {
		t.Errorf("the pause is %v, the seed has %vms", o.Limits.Interrupted, easy.InterruptedPauseMS)
	}
	var interaction struct {
		Words int `json:"substantial_words_to_interrupt"`
	}
	seeds.Load(t, "interaction", &interaction)
	if o.BargeIn.Reply.MinWords != interaction.Words || turn.DefaultBargeIn().MinWords != interaction.Words {
		t.Errorf("%d words interrupt, the seed has %d", o.BargeIn.Reply.MinWords, interaction.Words)
	}
}

// TestInteractionFlags: seed 004's flags are derived from the one state.
func TestInteractionFlags(t *testing.T) {
	var f struct {
		Flags map[string]struct {
			IsSpeaking  bool `json:"is_speaking"`
			Interrupted bool `json:"interrupted"`
		}
	}
	seeds.Load(t, "interaction", &f)
	for _, v := range []view.Interaction{view.InteractionIdle, view.InteractionSpeaking, view.InteractionInterrupted} {
		want, ok := f.Flags[v.String()]
		if !ok || want.IsSpeaking != v.IsSpeaking() || want.Interrupted != v.Interrupted() {
			t.Errorf("%v: is_speaking %v, interrupted %v; the seed has %+v (known: %v)", v, v.IsSpeaking(), v.Interrupted(), want, ok)
		}
		delete(f.Flags, v.String())
	}
	if len(f.Flags) > 0 {
		t.Errorf("states of the seed that the view does not have: %v", f.Flags)
	}
}
