package app

import (
	"context"
	"errors"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/leg/device"
	"github.com/hocketvoice/hocket/leg/file"
)

// Talk runs a call with the person at the microphone and speaker of this computer until
// the agent ends it. When the context person ends, the person has hung up. Lines, Out,
// Mix, Play and Day of the options are not used.
func Talk(ctx, person context.Context, o CallOptions) (result CallResult, err error) {
	o.Realtime = true
	p, err := prepare(o)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, p.speech.Close()) }()
	if p.speech.Recognizer == nil || p.speech.Synthesizer == nil {
		return result, errors.New("a call needs a speech recognizer and a voice: expected them in the build or in a config file")
	}
	outputs := &outputs{}
	defer func() { err = errors.Join(err, outputs.finish(err == nil)) }()
	trace, err := outputs.trace(o.Trace)
	if err != nil {
		return result, inputError{err}
	}
	leg, err := device.Open(device.Options{})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, leg.Close()) }()
	defer context.AfterFunc(person, leg.HangUp)()
	return runCall(ctx, o, p, "device", leg, trace)
}

// aloud is a leg that also plays both sides of a call from files on the speaker.
type aloud struct {
	*file.Leg
	speaker *device.Speaker
}

// Read implements port.Leg.
func (a *aloud) Read(ctx context.Context) (audio.Frame, error) {
	f, err := a.Leg.Read(ctx)
	a.speaker.Play(device.Caller, f.PCM)
	return f, err
}

// Write implements port.Leg.
func (a *aloud) Write(ctx context.Context, f audio.Frame) error {
	a.speaker.Play(device.Agent, f.PCM)
	return a.Leg.Write(ctx, f)
}
