package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/internal/eval"
)

// evalCmd measures the ears on the user's recordings.
type evalCmd struct {
	Path      string   `arg:"" name:"folder" help:"The folder with the manifest eval.yaml, or a manifest."`
	Config    string   `placeholder:"FILE" help:"A config file, whose speech engines are measured."`
	Only      []string `sep:"," enum:"voice,endpointing,barge-in,echo,words,answers" placeholder:"PART" help:"Measure only this part: voice, endpointing, barge-in, echo, words or answers. May be repeated."`
	Sample    int      `placeholder:"N" help:"Take at most N recordings of each set."`
	EchoCalls int      `default:"20" placeholder:"N" help:"The number of calls with an echo (default 20)."`
	Record    string   `placeholder:"FILE" help:"Write what the turn controller was told in the calls of the part endpointing."`
	Recorded  string   `placeholder:"FILE" help:"Sweep the part endpointing over what --record has written."`
	SVG       string   `name:"svg" placeholder:"DIR" help:"Write the curves as pictures into this folder."`
	JSON      bool     `name:"json" help:"Print the report with all curves as JSON."`
	Verbose   bool     `help:"Print each recording that went wrong on the standard error."`
}

// Help returns the long help.
func (evalCmd) Help() string {
	return `Measures on recordings who is speaking, when they have finished, what stops the agent, and what is understood, in calls in virtual time, and prints each figure with its goal and published figures of others. Data that was seen when the engine was made and unseen data have columns of their own; goals are for unseen data. Exit status 1 if a goal is missed. docs/eval.md has a manifest and public recordings.

Keys of a recording; those of its set hold for it too:

  file        WAV, any rate, mono or the mean of its channels; up to 10 min
  kind        speech: free speech; answer: to the question for a slot;
              interruption, backchannel: said over the agent; noise; room: an
              impulse response
  split       seen by those who chose the engine's parameters, or unseen (the
              default)
  speaker     figures show the range over the speakers
  text        what is said
  slot        of an answer: pin (6 digits), digit, number (0 to 9), people
              (1 to 8), day, hour, sure, city or note
  value       of an answer, in the agent's words
  speech      sections with speech, in seconds: [[from, to], ...]
  pauses      where the speaker may hesitate, in seconds: a seeded silence of
              200 to 1200 ms is put in

Parts, with their recordings and figures:

  voice        with speech; noise: each detector's area under the curve, by
               set and with noise 10 dB below the speech; noise taken for
               speech
  endpointing  speech and answer with pauses, or with speech and a text or a
               slot: of a timer, easyturn and auto, turns cut off against dead
               air, the time from the last word to the end of the turn. For
               "10 % on the other voices" the silence is chosen on all other
               speakers
  barge-in     interruption, speech with text, backchannel, noise: over an
               agent that talks, interruptions that stop it within 2 s, the
               time to yield, and the others that stop it within 1 s
  echo         noise, room, and interruption or speech with text: calls with
               the agent's voice in the microphone in which it interrupts or
               answers itself, and interruptions that are caught
  words        speech with text: words substituted, inserted or left out
  answers      answer with value: right, wrong one taken, asked again, not
               heard, with min_confidence 0.7; telephone recordings (8 kHz)
               apart`
}

// Run runs the command.
func (c *evalCmd) Run(s *streams) error {
	if c.Sample < 0 || c.EchoCalls < 0 {
		return badInputf("--sample and --echo-calls must be 0 or more")
	}
	finish := func(bool) error { return nil }
	o := app.EvalOptions{Config: c.Config, Manifest: c.Path, Sample: c.Sample, Parts: c.Only, EchoCalls: c.EchoCalls}
	if c.Recorded != "" {
		f, err := open(c.Recorded)
		if err != nil {
			return err
		}
		defer f.Close()
		o.Recorded = f
	}
	if c.Record != "" {
		w, done, err := c.record()
		if err != nil {
			return err
		}
		o.Record, finish = w, done
	}
	out := terminal(s.err)
	o.Progress = func(part string, done, all int) { fmt.Fprintf(out, "%s%s: %d of %d", clearLine, part, done, all) }
	if c.Verbose {
		o.Detail = func(line string) { fmt.Fprintln(s.err, line) }
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := app.Eval(ctx, o)
	fmt.Fprint(out, clearLine)
	if also := finish(err == nil); err == nil && also != nil {
		return also
	}
	if err != nil {
		return callError(err)
	}
	return c.show(s, report)
}

// show writes the report and its pictures. It returns an error if a goal is missed.
func (c *evalCmd) show(s *streams, report *eval.Report) (err error) {
	if c.SVG != "" {
		if err := writePictures(c.SVG, report.Curves); err != nil {
			return err
		}
	}
	if c.JSON {
		err = s.writeIndented(report)
	} else {
		err = s.printf("%s, %d recordings\n%s", report.Data, report.Recordings, report.Table())
	}
	if err == nil && report.Missed() {
		return errFinding
	}
	return err
}

// record opens the file of --record. It gets its name when finish is called with complete true;
// else it is removed, and a file of that name stays as it was.
func (c *evalCmd) record() (w *bufio.Writer, finish func(complete bool) error, err error) {
	switch info, err := os.Stat(c.Record); {
	case c.Recorded != "":
		return nil, nil, badInputf("--record writes calls, and --recorded holds none: expected one of them")
	case len(c.Only) > 0 && !slices.Contains(c.Only, eval.PartEndpointing):
		return nil, nil, badInputf("--record writes the calls of the part endpointing: expected it in --only")
	case err == nil && !info.Mode().IsRegular():
		return nil, nil, badInputf("--record %s: expected the name of a file", c.Record)
	}
	f, err := os.CreateTemp(filepath.Dir(c.Record), "."+filepath.Base(c.Record)+".*") // mode 0600: it contains what was said
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err // without the temporary name
		}
		return nil, nil, badInputf("--record %s: %w", c.Record, err)
	}
	w = bufio.NewWriter(f)
	return w, func(complete bool) error {
		err := errors.Join(w.Flush(), f.Close())
		if err == nil && complete {
			return os.Rename(f.Name(), c.Record)
		}
		return errors.Join(err, os.Remove(f.Name()))
	}, nil
}

// writePictures writes the curves into a folder, which is made if it is not there.
func writePictures(dir string, curves []eval.Curve) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return badFile(err)
	}
	for i := range curves {
		if err := writeFile(filepath.Join(dir, curves[i].Name+".svg"), curves[i].WriteSVG); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return badFile(err)
	}
	return errors.Join(write(f), f.Close())
}
