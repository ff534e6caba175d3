package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/detector/silero"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/leg/device"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// callRate is the sampling rate of a call from files.
const callRate = file.DefaultRate

// callerVoice speaks the caller's texts: another one than the agent's.
const callerVoice = "rms"

// ErrInput is among the causes of an error about a file that the user named.
var ErrInput = errors.New("bad input")

// inputError is an error of what the user gave.
type inputError struct{ error }

// Is lets errors.Is find ErrInput.
func (e inputError) Is(target error) bool { return target == ErrInput }

// Unwrap gives the error itself.
func (e inputError) Unwrap() error { return e.error }

// CallerLine is something the caller says: the sound of a file, or a text that
// is spoken.
type CallerLine struct {
	File, Text string
	BargeIn    time.Duration // see [file.Utterance]
}

// CallOptions describe a call with a caller made of given utterances.
type CallOptions struct {
	Agent  string // path of a file or folder
	Config string // path of a config file; may be empty
	Lines  []CallerLine
	Store  string // file that keeps the call's state; may be empty
	Resume string // id of a conversation in it to go on with; may be empty

	Out, Mix, Trace string // files to write; empty: none
	TraceFeatures   bool
	Realtime        bool
	Play            bool // play both sides aloud; the call is held in real time
	// Day is the date on which virtual time begins, at noon; today's if zero.
	Day time.Time
	// Watch sees every step, for who prints the conversation.
	Watch func(session.Step)
	// Said sees every turn that has ended.
	Said func(session.Spoken)
	// Note takes remarks about the set-up, a line each.
	Note func(string)
}

// CallResult is what remains of a call.
type CallResult struct {
	Duration time.Duration // of the call, in its own time
	Took     time.Duration // of the wall clock
	Virtual  bool
}

// Call holds a call. Files that it cannot finish are removed, the trace
// excepted, which tells what happened.
func Call(ctx context.Context, o CallOptions) (result CallResult, err error) {
	o.Realtime = o.Realtime || o.Play
	p, err := prepare(o)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, p.speech.Close()) }()
	utterances, err := caller(ctx, o.Lines, p.speech.Synthesizer)
	if err != nil {
		return result, inputError{err}
	}
	outputs := &outputs{}
	defer func() { err = errors.Join(err, outputs.finish(err == nil)) }()
	out, err1 := outputs.sound(o.Out)
	mix, err2 := outputs.sound(o.Mix)
	trace, err3 := outputs.trace(o.Trace)
	if err := errors.Join(err1, err2, err3); err != nil {
		return result, inputError{err}
	}
	leg, err := file.New(file.Options{
		Rate: callRate, Utterances: utterances, Realtime: o.Realtime, Out: out, Mix: mix,
	})
	if err != nil {
		return result, err
	}
	outputs.close = append(outputs.close, leg.Close)
	if !o.Play {
		return hold(ctx, o, p, "file", leg, trace)
	}
	speaker, err := device.OpenSpeaker(device.Options{Rate: callRate})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, speaker.Close()) }()
	return hold(ctx, o, p, "file", &aloud{leg, speaker}, trace)
}

// prepared is what a call needs of its agent and its config.
type prepared struct {
	agent  *settings.Agent
	opts   Options
	speech *Speech
}

// prepare reads the agent and the config of a call, makes its speech engines, and remarks
// what is worth it.
func prepare(o CallOptions) (p prepared, err error) {
	if p.agent, err = loadAgent(o.Agent, o.Config); err != nil {
		return p, err
	}
	if p.opts, err = agentOptions(p.agent, o.Config); err != nil {
		return p, inputError{err}
	}
	if o.Trace != "" && p.opts.Conversation.Privacy == conv.PrivacyNone {
		return p, inputError{errors.New("a trace holds what was said, and privacy is none: expected another privacy, or no trace")}
	}
	if p.speech, err = NewSpeech(p.opts.Speech); err != nil || o.Note == nil {
		return p, err
	}
	p.opts.remark(settings.AgentName(o.Agent), o.Note)
	for _, problem := range p.agent.Problems {
		o.Note(problem.String())
	}
	for _, n := range p.speech.Notes {
		o.Note(n)
	}
	return p, nil
}

// hold runs the session to the end of the call. source is the kind of the leg, as the
// store has it.
func hold(ctx context.Context, o CallOptions, p prepared, source string, leg port.Leg, trace io.Writer) (_ CallResult, err error) {
	kept, err := keep(ctx, o.Store, o.Resume, p.agent, settings.AgentName(o.Agent), source, p.opts.Store)
	if err != nil {
		return CallResult{}, err
	}
	defer func() { err = errors.Join(err, kept.close()) }() //nolint:contextcheck // an end is not cut short
	if err := kept.goOn(ctx, &p.agent, &p.opts, o.Config, o.Note); err != nil {
		return CallResult{}, err
	}
	agent, opts, speech := p.agent, p.opts, p.speech
	conversation := opts.Conversation
	conversation.Agent = agent.Agent
	tools, err := OpenTools(ctx, opts.Tools)
	if err != nil {
		return CallResult{}, inputError{err}
	}
	defer func() { err = errors.Join(err, tools.Close()) }()
	flows, may, err := tools.For(ctx, agent)
	if err != nil {
		return CallResult{}, inputError{err}
	}
	var open models
	defer func() { err = errors.Join(err, open.close()) }()
	mind, err := open.get(opts.Model)
	if err != nil {
		return CallResult{}, inputError{err}
	}
	id := "call" // the same arguments give the same trace
	if o.Store != "" {
		id = kept.id
	}
	if o.Note != nil {
		if o.Store != "" {
			o.Note(fmt.Sprintf("the conversation is %s in %s", id, StoreName(o.Store)))
		}
		kept.points.Behind = noteBehind(o.Note)
	}
	location := cmp.Or(kept.location, opts.Location)
	s, err := session.New(session.Options{
		ID: id, Keys: kept.id, Checkpoints: kept.points, Restore: kept.restore, Conv: conversation, AgentFiles: agent.Files, Leg: leg,
		Recognizer: speech.Recognizer, Synthesizer: speech.Synthesizer, Detector: speech.Detector,
		Model: mind.port(), Tools: flows, ModelTools: may, Instructions: agent.Instructions(),
		Voice: opts.Voice, Turn: opts.Turn, Onset: opts.Onset, Stability: opts.Stability, Location: location,
		Trace: trace, TraceFeatures: o.TraceFeatures,
	})
	if err != nil {
		return CallResult{}, err
	}
	if o.Watch != nil {
		s.OnStep(o.Watch)
	}
	if o.Said != nil {
		s.OnSpoken(o.Said)
	}
	began := time.Now()
	day := o.Day
	if day.IsZero() {
		day = began.In(cmp.Or(location, time.UTC))
	}
	start := Noon(day, location)
	if o.Realtime {
		start = began
		err = s.Run(ctx)
	} else {
		err = s.RunVirtual(ctx, start)
	}
	if _, failed := mind.Failed(); failed != nil && o.Note != nil {
		o.Note(failed.Error())
	}
	return CallResult{
		Duration: s.State().Since.Sub(start), Took: time.Since(began), Virtual: !o.Realtime,
	}, err
}

// Noon is the middle of a day in a time zone, UTC if it is nil: a conversation of a day
// that was named begins then, wherever the program runs.
func Noon(day time.Time, location *time.Location) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, cmp.Or(location, time.UTC))
}

// agentOptions are the options of conversations with the agent: the config file's, with the
// agent's settings over them and the defaults of calls below. path may be empty: there is no
// config file then.
func agentOptions(def *settings.Agent, path string) (Options, error) {
	installation, err := loadInstallation(path)
	if err != nil {
		return Options{}, settings.InFile(err, "the agent's file "+def.Files[0].Name)
	}
	return optionsOf(def, installation)
}

// loadInstallation reads a config file, nil if path is empty.
func loadInstallation(path string) (*config.Config, error) {
	if path == "" {
		return nil, nil
	}
	return config.Load(path)
}

// optionsOf are the options of conversations with the agent in an installation, which may
// be nil.
func optionsOf(def *settings.Agent, installation *config.Config) (Options, error) {
	c, err := settings.OfAgent(def.Files)
	if err != nil {
		return Options{}, err
	}
	own := c.Model
	if installation != nil {
		c = c.Or(installation)
	} else if err := foreignKey(c); err != nil {
		return Options{}, err
	}
	if c.Model, err = agentModel(def, own, installation); err != nil {
		return Options{}, err
	}
	opts, err := NewOptions(c)
	if err != nil {
		return Options{}, err
	}
	opts.Options = opts.ForCalls(c, def.Language())
	if err := opts.withoutModel(def); err != nil {
		return Options{}, err
	}
	return forTrainedDetector(opts), nil
}

// loadAgent reads an agent to be used with a config file, which may be empty.
func loadAgent(path, config string) (*settings.Agent, error) {
	def, err := settings.LoadAgent(path)
	if err != nil && config != "" {
		err = settings.InFile(err, "the config file "+config)
	}
	if err != nil {
		return nil, inputError{err}
	}
	return def, nil
}

// forTrainedDetector sets what differs where the config's detector is a trained one.
func forTrainedDetector(o Options) Options {
	if _, ok := silero.Embedded(); o.Speech.Detector != "energy" && (ok || o.Speech.Silero.Weights != "") {
		o.Options = o.Trained()
	}
	return o
}

// caller makes the caller's utterances.
func caller(ctx context.Context, lines []CallerLine, voice port.Synthesizer) ([]file.Utterance, error) {
	utterances := make([]file.Utterance, 0, len(lines))
	for _, l := range lines {
		if l.File == "" {
			spoken, err := file.Say(ctx, voice, callerVoice, l.Text)
			if err != nil {
				return nil, err
			}
			spoken[0].BargeIn = l.BargeIn
			utterances = append(utterances, spoken...)
			continue
		}
		pcm, err := readSound(l.File)
		if err != nil {
			return nil, err
		}
		utterances = append(utterances, file.Utterance{PCM: pcm, BargeIn: l.BargeIn})
	}
	return utterances, nil
}

// longestUtterance bounds what a caller says in one go.
const longestUtterance = 5 * time.Minute

// readSound reads a WAV file as mono sound of the call's rate.
func readSound(path string) (pcm []int16, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, settings.Plain(err)
	}
	defer f.Close()
	r, err := audio.NewWAVReader(f, audio.WAVReaderOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	rate := r.Format().Rate
	limit := int(audio.PosOf(longestUtterance, rate))
	buf := make([]int16, 4096)
	for {
		n, err := r.ReadMono(buf)
		pcm = append(pcm, buf[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(pcm) > limit {
			return nil, fmt.Errorf("%s: longer than %v, the most that a caller says at once", path, longestUtterance)
		}
	}
	if len(pcm) == 0 {
		return nil, fmt.Errorf("%s: there is no sound in it", path)
	}
	if rate == callRate {
		return pcm, nil
	}
	pcm, err = audio.Resample(pcm, rate, callRate)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return pcm, nil
}

// outputs are the files of a call. They appear under their names when they are
// whole.
type outputs struct {
	files []*os.File
	names []string // what each is renamed to; empty: it has its name
	close []func() error
}

// sound makes a file that is renamed at the end.
func (o *outputs) sound(path string) (io.Writer, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err // the other name is nobody's concern
		}
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	o.files, o.names = append(o.files, f), append(o.names, path)
	return f, nil
}

// trace makes a file that keeps what it has.
func (o *outputs) trace(path string) (io.Writer, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) // it holds what was said
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, settings.Plain(err))
	}
	o.files, o.names = append(o.files, f), append(o.names, "")
	return f, nil
}

// finish closes the files and, if the call was held, gives them their names.
func (o *outputs) finish(held bool) error {
	var errs []error
	for _, c := range o.close {
		errs = append(errs, c())
	}
	for i, f := range o.files {
		temp := f.Name()
		errs = append(errs, f.Close())
		switch {
		case o.names[i] == "":
		case held:
			errs = append(errs, os.Rename(temp, o.names[i])) // 0600: it holds a voice
		default:
			errs = append(errs, os.Remove(temp))
		}
	}
	return errors.Join(errs...)
}
