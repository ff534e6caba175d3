package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/internal/explore"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/journal"
)

// replayCmd steps a recorded conversation again.
type replayCmd struct {
	Trace    string `arg:"" placeholder:"TRACE" help:"A trace that --trace has written; with --store, the id of a conversation."`
	Store    string `placeholder:"STORE" help:"Replay a conversation of this store: a file, postgres://..., or $${NAME} for a variable that holds one of them."`
	Config   string `placeholder:"FILE" help:"A config file, whose store.keys names the keys of an encrypted store."`
	Agent    string `placeholder:"PATH" help:"The agent's files, for a trace that holds none because a client downloaded it."`
	Explored bool   `help:"Print how many steps hocket explore has visited, and list the others; exit status 1 if there are any."`
	Timeline bool   `help:"Print the conversation in readable form."`
}

// Help returns the long help.
func (replayCmd) Help() string {
	return `Stops with exit status 1 at the first step in which the machine does something other than recorded.`
}

// Run runs the command.
func (c *replayCmd) Run(s *streams) error {
	if c.Store != "" {
		return withStore(c.Store, c.Config, func(ctx context.Context, store *app.Store) error {
			trace, err := storedTrace(ctx, store, c.Trace)
			if err != nil {
				return err
			}
			return c.replay(s, bytes.NewReader(trace))
		})
	}
	f, err := open(c.Trace)
	if err != nil {
		return err
	}
	return errors.Join(c.replay(s, f), f.Close())
}

func (c *replayCmd) replay(s *streams, trace io.Reader) error {
	var lines timelines
	var met explored
	each := func(l journal.Line, ev conv.Event, m *conv.Conversation) {
		if c.Timeline {
			lines.note(l, ev, m)
		}
		if c.Explored {
			met.note(l)
		}
	}
	p := journal.Player{Each: each}
	if c.Agent != "" {
		files, err := settings.ReadAgent(c.Agent)
		if err != nil {
			return badInput{err}
		}
		p.Agent = files
	}
	err := p.Play(trace)
	different, ok := errors.AsType[*journal.Difference](err)
	if errors.Is(err, journal.ErrWithheld) {
		return badInputf("%s: %w: --agent names them", c.Trace, err)
	}
	if err != nil && !ok {
		return badInputf("%s: %w", c.Trace, err)
	}
	if c.Timeline {
		// Print the timeline up to the difference, if there is one.
		if err := s.printf("%s", &lines); err != nil {
			return err
		}
	}
	if ok {
		return c.tell(s, different)
	}
	if c.Explored {
		return met.tell(s, c.Trace)
	}
	if c.Timeline {
		return nil
	}
	if p.Taken > 0 {
		return s.printf("%s: %d steps, each the same, but for %d that hang on a secret and were taken as recorded\n", c.Trace, p.Steps, p.Taken)
	}
	return s.printf("%s: %d steps, each the same\n", c.Trace, p.Steps)
}

// explored counts the steps that the exploration of the machine has reached.
type explored struct {
	steps, met int
	unmet      []string
}

func (e *explored) note(l journal.Line) {
	e.steps++
	unmet := len(e.unmet)
	for _, t := range l.Transitions {
		if !explore.KnownExplored().Met(t.From, t.To, t.Cause) {
			e.unmet = append(e.unmet, fmt.Sprintf("    %s  %s: %s -> %s (%s)\n", seconds(l.At), l.Event, t.From, t.To, t.Cause))
		}
	}
	if len(e.unmet) == unmet {
		e.met++
	}
}

// tell prints the share of reached steps and lists the others.
func (e *explored) tell(s *streams, trace string) error {
	share := 100.0
	if e.steps > 0 {
		share = 100 * float64(e.met) / float64(e.steps)
	}
	if err := s.printf("%s: %d of %d steps were met in the exploration (%.1f %%)\n%s", trace, e.met, e.steps, share, strings.Join(e.unmet, "")); err != nil {
		return err
	}
	if e.met < e.steps {
		return errFinding
	}
	return nil
}

// tell prints the difference between recording and replay, field by field.
func (c *replayCmd) tell(s *streams, d *journal.Difference) error {
	var recorded, replayed journal.Line
	if err := errors.Join(json.Unmarshal(d.Recorded, &recorded), json.Unmarshal(d.Replayed, &replayed)); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: at %s, on %s, the machine does something else than was recorded\n", c.Trace, d.Line, seconds(recorded.At), shortened(replayed.In))
	compare(&b, "state", recorded.State, replayed.State)
	compare(&b, "late", recorded.Late, replayed.Late)
	compare(&b, "deferred", recorded.Deferred, replayed.Deferred)
	compareLists(&b, "transitions", recorded.Transitions, replayed.Transitions)
	compareLists(&b, "effects", recorded.Effects, replayed.Effects)
	compareLists(&b, "turns", recorded.Turns, replayed.Turns)
	if _, err := io.WriteString(s.out, b.String()); err != nil {
		return err
	}
	return errFinding
}

func compare[T comparable](b *strings.Builder, name string, recorded, replayed T) {
	if recorded != replayed {
		fmt.Fprintf(b, "  %s\n    recorded  %v\n    replayed  %v\n", name, recorded, replayed)
	}
}

// compareLists prints two lists that differ, entry by entry.
func compareLists[T any](b *strings.Builder, name string, recorded, replayed []T) {
	was, is := entries(recorded), entries(replayed)
	differ := len(was) != len(is)
	for i := 0; !differ && i < len(was); i++ {
		differ = was[i] != is[i]
	}
	if !differ {
		return
	}
	fmt.Fprintf(b, "  %s\n", name)
	for i := range max(len(was), len(is)) {
		switch {
		case i < len(was) && i < len(is) && was[i] == is[i]:
			fmt.Fprintf(b, "    both      %s\n", was[i])
			continue
		case i < len(was):
			fmt.Fprintf(b, "    recorded  %s\n", was[i])
		default:
			fmt.Fprintf(b, "    recorded  nothing more\n")
		}
		if i < len(is) {
			fmt.Fprintf(b, "    replayed  %s\n", is[i])
		} else {
			fmt.Fprintf(b, "    replayed  nothing more\n")
		}
	}
}

// entries returns the elements of a list as compact JSON.
func entries[T any](list []T) []string {
	var all []string
	for _, v := range list {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			panic(fmt.Sprintf("cli: a line of a trace does not marshal: %v", err))
		}
		all = append(all, strings.TrimSpace(b.String()))
	}
	return all
}

// seconds formats a time in milliseconds as seconds.
func seconds(ms float64) string { return fmt.Sprintf("%.3f s", ms/1000) }
