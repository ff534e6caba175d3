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
	"slices"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/detector/silero"
	"github.com/hocketvoice/hocket/internal/chain"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/leg/device"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// callRate is the sampling rate of a call from files.
const callRate = file.DefaultRate

// callerVoice speaks the caller's texts. It differs from the agent's voice.
const callerVoice = "rms"

// ErrInput is wrapped by errors about the user's input, such as files and options.
var ErrInput = errors.New("bad input")

// inputError is an error about the user's input.
type inputError struct{ error }

// Is reports whether target is ErrInput.
func (e inputError) Is(target error) bool { return target == ErrInput }

// Unwrap returns the wrapped error.
func (e inputError) Unwrap() error { return e.error }

// CallerLine is what the caller says at once: the sound of a file, or a text that
// is synthesized.
type CallerLine struct {
	File, Text string
	BargeIn    time.Duration // see [file.Utterance]
}

// CallOptions configures a call whose caller says the given lines.
type CallOptions struct {
	Agent  string // path of a file or folder
	Config string // path of a config file; may be empty
	Lines  []CallerLine
	Store  string // the store of the conversation; may be empty
	Resume string // id of a stored conversation to resume; may be empty

	Out, Mix, Trace string // files to write; empty: none
	TraceFeatures   bool
	Realtime        bool
	Play            bool // play both sides aloud; implies Realtime
	// Echo is the agent's voice in the caller's microphone.
	Echo file.Echo
	// Day is the date on which virtual time begins, at noon; today if zero.
	Day time.Time
	// Watch, if not nil, is called for every step.
	Watch func(session.Step)
	// Said, if not nil, is called for every finished turn.
	Said func(session.Spoken)
	// Note, if not nil, receives remarks about the setup, one line each.
	Note func(string)
}

// CallResult is the result of a call.
type CallResult struct {
	Duration time.Duration // in the call's own time
	Took     time.Duration // of the wall clock
	Virtual  bool          // in virtual time
}

// Call runs a call. If it fails, the incomplete sound files are removed; the trace stays,
// since it shows what happened.
func Call(ctx context.Context, o CallOptions) (result CallResult, err error) {
	o.Realtime = o.Realtime || o.Play
	p, err := prepare(o)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, p.speech.Close()) }()
	o.Realtime = o.Realtime || p.speech.Hosted
	if p.opts.Upstream.Name != "" && !o.Realtime {
		o.Realtime = true
		if o.Note != nil {
			o.Note("in real time, since a speech-to-speech service answers")
		}
	}
	utterances, err := caller(ctx, o.Lines, p.speech.Caller)
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
		Echo: o.Echo,
	})
	if err != nil {
		return result, err
	}
	outputs.close = append(outputs.close, leg.Close)
	if !o.Play {
		return runCall(ctx, o, p, "file", leg, trace)
	}
	speaker, err := device.OpenSpeaker(device.Options{Rate: callRate})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, speaker.Close()) }()
	return runCall(ctx, o, p, "file", &aloud{leg, speaker}, trace)
}

// prepared contains the parts of a call.
type prepared struct {
	agent  *settings.Agent
	opts   Options
	speech *Speech
}

// prepare loads the agent and the config of a call, opens the speech engines, and passes
// remarks about them to o.Note.
func prepare(o CallOptions) (p prepared, err error) {
	if p.agent, err = loadAgent(o.Agent, o.Config); err != nil {
		return p, err
	}
	if p.opts, err = agentOptions(p.agent, o.Config); err != nil {
		return p, inputError{err}
	}
	if o.Trace != "" && p.opts.Conversation.Privacy == conv.PrivacyNone {
		return p, inputError{errors.New("a trace contains what was said, which privacy none forbids: expected another privacy or no trace")}
	}
	p.speech, err = NewSpeech(p.opts.Speech)
	if missing(err) && p.opts.Upstream.Name != "" && !slices.ContainsFunc(o.Lines, func(l CallerLine) bool { return l.File == "" }) {
		p.speech, err = &Speech{}, nil // nothing is left for the engines to do
	}
	if err != nil || o.Note == nil {
		return p, err
	}
	p.speech.Report = func(w chain.Switch) { o.Note(describe(w)) }
	if p.speech.Hosted && !o.Realtime {
		o.Note("the call runs in real time: it has speech engines that are reached over a network")
	}
	p.opts.remark(p.agent, settings.AgentName(o.Agent), o.Note)
	for _, n := range p.speech.Notes {
		o.Note(n)
	}
	return p, nil
}

// runCall runs the session to the end of the call. transport is the kind of the leg, as
// it is stored.
func runCall(ctx context.Context, o CallOptions, p prepared, transport string, leg port.Leg, trace io.Writer) (_ CallResult, err error) {
	st, err := openStorage(ctx, o.Store, o.Resume, p.agent, settings.AgentName(o.Agent), transport, p.opts.Store)
	if err != nil {
		return CallResult{}, err
	}
	defer func() { err = errors.Join(err, st.close()) }() //nolint:contextcheck // close has a timeout of its own
	if err := st.useVersion(ctx, &p.agent, &p.opts, o.Config, o.Note); err != nil {
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
	flowTools, modelTools, err := tools.For(ctx, agent)
	if err != nil {
		return CallResult{}, inputError{err}
	}
	var open models
	defer func() { err = errors.Join(err, open.close()) }()
	mind, err := open.get(opts.Model)
	if err != nil {
		return CallResult{}, inputError{err}
	}
	var services upstreams
	defer func() { err = errors.Join(err, services.close()) }()
	service, err := services.get(opts.Upstream)
	if err != nil {
		return CallResult{}, inputError{err}
	}
	id := "call" // always the same, so that the same arguments give the same trace
	if o.Store != "" {
		id = st.id
	}
	if o.Note != nil {
		if o.Store != "" {
			o.Note(fmt.Sprintf("the conversation is %s in %s", id, StoreName(o.Store)))
		}
		st.points.Behind = noteBehind(o.Note)
	}
	location := cmp.Or(st.location, opts.Location)
	how := session.Options{
		ID: id, Keys: st.id, Checkpoints: st.points, Restore: st.restore, Conv: conversation, AgentFiles: agent.Files, Leg: leg,
		Recognizer: speech.Recognizer, Synthesizer: speech.Synthesizer, Detector: speech.Detector, EndOfTurn: speech.EndOfTurn,
		Model: mind.port(), Tools: flowTools, ModelTools: modelTools, Instructions: agent.Instructions(),
		Voice: opts.Voice, Turn: opts.Turn, Onset: opts.Onset, Stability: opts.Stability, Echo: opts.Echo, Location: location,
		Trace: trace, TraceFeatures: o.TraceFeatures,
	}
	useUpstream(&how, service, agent)
	s, err := session.New(how)
	if err != nil {
		return CallResult{}, err
	}
	o.observe(s)
	began := time.Now()
	start := o.noon(began, location)
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

// observe lets the caller see what happens in the session.
func (o *CallOptions) observe(s *session.Session) {
	if o.Watch != nil {
		s.OnStep(o.Watch)
	}
	if o.Said != nil {
		s.OnSpoken(o.Said)
	}
}

// noon returns when virtual time begins, in the time zone of the conversation.
func (o CallOptions) noon(now time.Time, location *time.Location) time.Time {
	if o.Day.IsZero() {
		return Noon(now.In(cmp.Or(location, time.UTC)), location)
	}
	return Noon(o.Day, location)
}

// agentOptions returns the options of conversations with the agent. The agent's settings
// take precedence over the config file, and that over the defaults of calls. path is
// empty if there is no config file.
func agentOptions(def *settings.Agent, path string) (Options, error) {
	installation, err := loadInstallation(path)
	if err != nil {
		return Options{}, settings.InFile(err, "the agent's file "+def.Files[0].Name)
	}
	return optionsOf(def, installation)
}

// loadInstallation loads a config file. It returns nil if path is empty.
func loadInstallation(path string) (*config.Config, error) {
	if path == "" {
		return nil, nil
	}
	return config.Load(path)
}

// optionsOf returns the options of conversations with the agent. installation is the
// config file, or nil.
func optionsOf(def *settings.Agent, installation *config.Config) (Options, error) {
	c, err := settings.OfAgent(def.Files)
	if err != nil {
		return Options{}, err
	}
	own, ownUpstream := c.Model, c.Upstream
	if installation != nil {
		c = c.Or(installation)
		ownConnections(c, installation)
	} else if err := foreignKeys(c); err != nil {
		return Options{}, err
	}
	if c.Model, err = agentModel(def, own, installation); err != nil {
		return Options{}, err
	}
	if c.Upstream, err = agentUpstream(def, ownUpstream, installation); err != nil {
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

// loadAgent loads an agent. config is the config file it is used with, for error
// messages, or empty.
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

// forTrainedDetector adapts the options if the config's detector is a trained one.
func forTrainedDetector(o Options) Options {
	if _, ok := silero.Embedded(); o.Speech.Detector != "energy" && (ok || o.Speech.Silero.Weights != "") {
		o.Options = o.Trained()
	}
	return o
}

// caller returns the caller's utterances.
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

// longestUtterance is the maximum length of one utterance of the caller.
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
	if pcm, err = r.ReadAllMono(limit + 1); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(pcm) > limit {
		return nil, fmt.Errorf("%s: the sound is longer than %v, the maximum of one utterance", path, longestUtterance)
	}
	if len(pcm) == 0 {
		return nil, fmt.Errorf("%s: the file contains no sound", path)
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

// outputs are the files that a call writes. A sound file gets its name when it is
// complete.
type outputs struct {
	files []*os.File
	names []string // final name of each file; empty if it has its name already
	close []func() error
}

// sound creates a temporary file, which finish renames to path. It returns nil if path is
// empty.
func (o *outputs) sound(path string) (io.Writer, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err // without the temporary name
		}
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	o.files, o.names = append(o.files, f), append(o.names, path)
	return f, nil
}

// trace creates a file that is not removed if the call fails. It returns nil if path is
// empty.
func (o *outputs) trace(path string) (io.Writer, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) // it contains what was said
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, settings.Plain(err))
	}
	o.files, o.names = append(o.files, f), append(o.names, "")
	return f, nil
}

// finish closes the files. If complete is true it gives the temporary ones their names;
// otherwise it removes them.
func (o *outputs) finish(complete bool) error {
	var errs []error
	for _, c := range o.close {
		errs = append(errs, c())
	}
	for i, f := range o.files {
		temp := f.Name()
		errs = append(errs, f.Close())
		switch {
		case o.names[i] == "":
		case complete:
			errs = append(errs, os.Rename(temp, o.names[i])) // the mode stays 0600: the file contains a voice
		default:
			errs = append(errs, os.Remove(temp))
		}
	}
	return errors.Join(errs...)
}
