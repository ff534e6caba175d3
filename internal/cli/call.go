package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/session"
)

// callCmd holds a call with a simulated caller.
type callCmd struct {
	Agent  string `required:"" placeholder:"PATH" help:"The agent: a YAML file, or a folder of YAML files."`
	Config string `placeholder:"FILE" help:"A config file."`

	In      []string        `sep:"none" placeholder:"FILE.wav" help:"The caller plays this recording. --in and --say may be repeated and mixed; the caller follows their order."`
	Say     []string        `sep:"none" placeholder:"TEXT" help:"The caller says this text; [700ms] in it is a pause."`
	BargeIn []time.Duration `sep:"none" placeholder:"DURATION" help:"The next utterance begins when the agent has spoken for this time (\"800ms\"), not when it has finished."`

	Echo string `placeholder:"LEVEL@DELAY" help:"The agent's voice comes back into the caller's microphone, such as -15dB@200ms."`

	Out           string `placeholder:"FILE.wav" help:"Write the agent's side of the call."`
	Mix           string `placeholder:"FILE.wav" help:"Write both sides in stereo, the caller on the left."`
	Trace         string `placeholder:"FILE" help:"Write the trace, which holds every event and every effect."`
	TraceFeatures bool   `help:"Add the turn controller's input for every frame to the trace."`
	JSON          bool   `name:"json" help:"Print the conversation as JSON lines."`
	Realtime      bool   `help:"Run the call in real time."`
	Play          bool   `help:"Play the call aloud in real time, the caller on the left."`
	Today         string `placeholder:"DATE" help:"The date in virtual time, such as 2026-12-31 (default today)."`
	Store         string `env:"HOCKET_STORE" placeholder:"STORE" help:"Save the call in this store, so that it can continue after the program has ended: a file, postgres://..., or $${NAME} for a variable that holds one of them."`
	Resume        string `placeholder:"ID" help:"Continue this conversation of the store."`
}

// Help returns the long help.
func (callCmd) Help() string {
	return `The caller says each utterance 600 ms after the agent has finished. Without --realtime and --play, the call runs in virtual time, begins at noon of --today in the agent's time zone (or UTC), and is the same for the same arguments, bit for bit. The caller hangs up 1.5 s after the agent's last words. If the call fails, files of sound are removed, and the trace keeps what it has.

With --json each turn is a line, except turns of the user without words. The last line has the duration, whether the call ran in virtual time, and the state of the dialogue. Keys of a turn:

  turn, role             its number; user or agent
  kind                   of the agent's: answer, greeting, check_in, goodbye,
                         news, notice, explicit or resumed
  outcome                turn-completed, turn-interrupted or turn-failed
  start_ms, end_ms       since the beginning of the call
  text, confidence       what was recognized, or heard of the agent's words
  unheard, interrupted, heard_ms
                         of a turn that was cut off`
}

// Run runs the command.
func (c *callCmd) Run(kctx *kong.Context, s *streams) error {
	lines, err := c.lines(kctx.Args)
	if err != nil {
		return err
	}
	day, err := c.day()
	if err != nil {
		return err
	}
	if c.TraceFeatures && c.Trace == "" {
		return badInputf("--trace-features adds to a trace: expected --trace FILE too")
	}
	var echo file.Echo
	if c.Echo != "" {
		if echo, err = file.ParseEcho(c.Echo); err != nil {
			return badInputf("--echo is %v", err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	talk := &talk{s: s, json: c.JSON}
	result, err := app.Call(ctx, app.CallOptions{
		Agent: c.Agent, Config: c.Config, Store: c.Store, Resume: c.Resume, Lines: lines, Out: c.Out, Mix: c.Mix, Trace: c.Trace,
		TraceFeatures: c.TraceFeatures, Realtime: c.Realtime, Play: c.Play, Day: day, Echo: echo,
		Watch: talk.watch, Said: talk.said,
		Note: func(note string) { fmt.Fprintln(s.err, "note: "+note) },
	})
	if err != nil {
		return callError(err)
	}
	if err := talk.end(result); err != nil {
		return err
	}
	return c.tellFiles(s)
}

// callError marks errors in the user's input as such.
func callError(err error) error {
	var agent *settings.AgentError
	var problems config.Problems
	switch {
	case errors.As(err, &agent), errors.As(err, &problems), errors.Is(err, app.ErrInput):
		return badInput{err}
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	default:
		return err
	}
}

// lines returns the caller's utterances in the order of the command line, which kong
// does not keep between flags.
func (c *callCmd) lines(args []string) ([]app.CallerLine, error) {
	var lines []app.CallerLine
	var bargeIn time.Duration
	in, say, barge := c.In, c.Say, c.BargeIn
	for i := 0; i < len(args); i++ {
		flag, _, joined := strings.Cut(args[i], "=")
		switch flag {
		case "--in":
			lines = append(lines, app.CallerLine{File: in[0], BargeIn: bargeIn})
			in, bargeIn = in[1:], 0
		case "--say":
			if strings.TrimSpace(say[0]) == "" {
				return nil, badInputf("--say has no text")
			}
			lines = append(lines, app.CallerLine{Text: say[0], BargeIn: bargeIn})
			say, bargeIn = say[1:], 0
		case "--barge-in":
			if bargeIn = barge[0]; bargeIn <= 0 {
				return nil, badInputf("--barge-in is %v: expected more than 0", bargeIn)
			}
			barge = barge[1:]
		case "--agent", "--config", "--echo", "--out", "--mix", "--trace", "--today", "--store", "--resume":
		default:
			continue
		}
		if !joined {
			i++ // the value of the flag
		}
	}
	if bargeIn > 0 {
		return nil, badInputf("--barge-in %v: expected an --in or --say behind it", bargeIn)
	}
	if len(lines) == 0 {
		return nil, badInputf("the caller says nothing: expected --in FILE.wav or --say TEXT")
	}
	return lines, nil
}

// day returns the date of --today, or the zero time without it.
func (c *callCmd) day() (time.Time, error) {
	if c.Today == "" {
		return time.Time{}, nil
	}
	if c.Realtime || c.Play {
		return time.Time{}, badInputf("--today is the date of a call in virtual time: expected no --realtime or --play")
	}
	return day(c.Today)
}

// day parses the value of --today.
func day(today string) (time.Time, error) {
	date, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return time.Time{}, badInputf("--today is %q: expected a date such as 2026-12-31", today)
	}
	return date, nil
}

// tellFiles prints the names of the written files.
func (c *callCmd) tellFiles(s *streams) error {
	if c.JSON {
		return nil
	}
	for _, f := range []struct{ path, what string }{
		{c.Out, "the agent"}, {c.Mix, "both sides, the caller left, the agent right"}, {c.Trace, "the trace: hocket replay " + c.Trace + " --timeline"},
	} {
		if f.path == "" {
			continue
		}
		if err := s.printf("%-12s %s\n", f.path, f.what); err != nil {
			return err
		}
	}
	return nil
}

// talk prints the conversation during the call. Its methods are called by the session's
// goroutine, and end after the call.
type talk struct {
	s    *streams
	json bool
	err  error

	began    time.Time
	dialogue dialog.State
}

// spoken is a turn in JSON.
type spoken struct {
	Type        string             `json:"type"` // "turn"
	Turn        int                `json:"turn"`
	Role        conv.Role          `json:"role"`
	Kind        conv.ReplyKind     `json:"kind,omitempty"`
	Outcome     conv.TurnEventType `json:"outcome"`
	StartMS     float64            `json:"start_ms"`
	EndMS       float64            `json:"end_ms"`
	Text        string             `json:"text"` // what was said, or the heard part of it
	Unheard     string             `json:"unheard,omitempty"`
	HeardMS     float64            `json:"heard_ms,omitempty"`
	Confidence  float64            `json:"confidence,omitempty"`
	Interrupted bool               `json:"interrupted,omitempty"`
}

// callEnd is the last line of the output with `--json`.
type callEnd struct {
	Type       string       `json:"type"` // "end"
	DurationMS float64      `json:"duration_ms"`
	Virtual    bool         `json:"virtual"`
	Dialogue   dialog.State `json:"dialogue"`
}

// watch handles a step.
func (t *talk) watch(step session.Step) {
	if t.began.IsZero() {
		t.began = step.Now
	}
	if step.State.Phase == conv.Terminating {
		t.dialogue = step.State.Dialogue.Clone()
	}
}

// said prints a turn that has ended.
func (t *talk) said(line session.Spoken) {
	t.print(&spoken{
		Type: "turn", Turn: line.Turn, Role: line.Role, Kind: line.Kind, Outcome: line.Outcome,
		StartMS: journal.Millis(line.Start.Sub(t.began)), EndMS: journal.Millis(line.End.Sub(t.began)),
		Text: line.Text, Unheard: line.Unheard, HeardMS: journal.Millis(line.Heard), Confidence: line.Confidence,
		Interrupted: line.Role == conv.RoleAgent && line.Outcome == conv.TurnInterrupted,
	})
}

// print prints a turn.
func (t *talk) print(sp *spoken) {
	if t.err != nil {
		return
	}
	if t.json {
		t.err = t.s.writeLine(sp)
		return
	}
	who := "caller"
	if sp.Role == conv.RoleAgent {
		who = "agent"
	}
	note := ""
	switch {
	case sp.Interrupted:
		note = fmt.Sprintf("   [broken off after %.1f s, not heard: %q]", sp.HeardMS/1000, sp.Unheard)
	case sp.Outcome == conv.TurnFailed:
		note = "   [failed]"
	}
	t.err = t.s.printf("%6.1f s  %-6s  %s%s\n", sp.StartMS/1000, who, sp.Text, note)
}

// end prints the result of the call.
func (t *talk) end(r app.CallResult) error {
	if t.err != nil {
		return t.err
	}
	if t.json {
		return t.s.writeLine(callEnd{
			Type: "end", DurationMS: journal.Millis(r.Duration), Virtual: r.Virtual, Dialogue: t.dialogue,
		})
	}
	if !r.Virtual {
		return t.s.printf("\ncall of %.1f s\n", r.Duration.Seconds())
	}
	return t.s.printf("\ncall of %.1f s, held in %.1f s: %.0f times as fast as real time\n",
		r.Duration.Seconds(), r.Took.Seconds(), r.Duration.Seconds()/max(r.Took.Seconds(), 1e-3))
}
