package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/internal/model"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
)

// liveTime limits the test of one service.
const liveTime = 20 * time.Second

// Live is what a service did when it was tried.
type Live struct {
	Kind  string // "thinks", "hears" or "speaks"
	Name  string // of the vendor or the server
	Model string // empty for the service's own
	// First is the time to the first piece of an answer or of sound, or from the end of speech to
	// the final words. Cancel is the time from the end of the context, or the close of the stream,
	// until nothing more of the service arrives.
	First, Cancel time.Duration
	Err           error
}

// CheckLive tries the language models and speech services that a config names, or whose vendor's
// key is in the environment, one after the other, and calls tell with each result. It sends each
// a few words, which the vendor may charge. c may be nil.
func CheckLive(ctx context.Context, c *config.Config, tell func(Live)) error {
	if c == nil {
		c = &config.Config{}
	}
	for _, m := range liveModels(c) {
		one := Live{Kind: "thinks", Name: model.Host(m), Model: m.Name}
		tryOne(ctx, &one, func(ctx context.Context) error { return liveModel(ctx, m, &one) })
		tell(one)
	}
	for _, v := range Vendors() {
		own := v.of(&c.Speech).get()
		if strings.TrimSpace(os.Getenv(cmp.Or(own.KeyEnv, v.KeyEnv))) == "" && own == (config.Vendor{}) {
			continue
		}
		if v.hears() {
			one := Live{Kind: "hears", Name: v.Name, Model: cmp.Or(own.RecognizerModel, v.Hears.Model)}
			tryOne(ctx, &one, func(ctx context.Context) error { return v.liveRecognizer(ctx, own, &one) })
			tell(one)
		}
		if v.speaks() {
			one := Live{Kind: "speaks", Name: v.Name, Model: cmp.Or(own.SynthesizerModel, v.Speaks.Model, own.Voice, v.Speaks.Voice)}
			tryOne(ctx, &one, func(ctx context.Context) error { return v.liveSynthesizer(ctx, own, &one) })
			tell(one)
		}
	}
	return ctx.Err()
}

// tryOne runs one test within its time.
func tryOne(ctx context.Context, one *Live, test func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	one.Err = test(ctx)
}

// liveModels returns the models of a config, and those of the vendors whose key is in the
// environment and is not that of one of them.
func liveModels(c *config.Config) []config.Model {
	list := slices.Clone(c.Models)
	if c.Model.Name != "" {
		list = append([]config.Model{c.Model}, list...)
	}
	for _, v := range llm.Vendors() {
		known := slices.ContainsFunc(list, func(m config.Model) bool {
			return m.KeyEnv == v.KeyEnv || llm.VendorKey(model.BaseURL(m)) == v.KeyEnv
		})
		if !known && strings.TrimSpace(os.Getenv(v.KeyEnv)) != "" {
			list = append(list, config.Model{Name: v.Model, API: v.API, BaseURL: v.BaseURL})
		}
	}
	return list
}

// liveModel asks a model for a few words, twice: once to the end, and once until they begin.
func liveModel(ctx context.Context, c config.Model, one *Live) error {
	c.MaxTokens = cmp.Or(c.MaxTokens, 200)
	m, err := model.New(c)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	r := port.Request{
		Instructions: "This is a test of the connection.",
		Messages:     []port.Message{{Role: "user", Content: "Please count from one to twenty, in words."}},
	}
	start := time.Now()
	err = m.Reply(ctx, r, func(port.Delta) error {
		if one.First == 0 {
			one.First = time.Since(start)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case one.First == 0:
		return errors.New("the model answered nothing")
	}
	one.Cancel, err = cancelled(ctx, func(ctx context.Context, began func()) error {
		return m.Reply(ctx, r, func(port.Delta) error { began(); return nil })
	})
	return err
}

// cancelled runs f, ends its context when f says that something has begun, and returns how long f
// then took.
func cancelled(ctx context.Context, f func(ctx context.Context, began func()) error) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var at time.Time
	err := f(ctx, func() {
		if at.IsZero() {
			at = time.Now()
			cancel()
		}
	})
	switch {
	case at.IsZero() && err == nil:
		return 0, errors.New("the second answer was empty")
	case at.IsZero():
		return 0, err
	case err != nil && !errors.Is(err, context.Canceled):
		return 0, err
	}
	return time.Since(at), nil
}

// liveSynthesizer has a service speak a few words, twice.
func (v Vendor) liveSynthesizer(ctx context.Context, own config.Vendor, one *Live) error {
	s, err := v.synthesizer(own)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	u := port.Utterance{Text: "This is a test of the connection."}
	start := time.Now()
	err = s.Speak(ctx, u, func(port.Speech) error {
		if one.First == 0 {
			one.First = time.Since(start)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case one.First == 0:
		return errors.New("the service sent no sound")
	}
	one.Cancel, err = cancelled(ctx, func(ctx context.Context, began func()) error {
		return s.Speak(ctx, u, func(port.Speech) error { began(); return nil })
	})
	return err
}

// What a recognizer is tried with: half a second of silence, which any service takes.
const (
	liveRate   = 16000
	liveFrames = 25
)

// liveRecognizer sends a service some sound and waits for its final words, which are none.
func (v Vendor) liveRecognizer(ctx context.Context, own config.Vendor, one *Live) error {
	r, err := v.recognizer(own)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	final := make(chan struct{}, 1)
	s, err := r.Open(ctx, port.RecognizerConfig{Rate: liveRate}, func(t port.Transcript) {
		if t.Final {
			select {
			case final <- struct{}{}:
			default:
			}
		}
	})
	if err != nil {
		return err
	}
	frame := audio.Frame{Rate: liveRate, PCM: make([]int16, liveRate/50)}
	send := func() error {
		if err := s.Write(frame); err != nil {
			return err
		}
		frame.Pos += audio.Pos(len(frame.PCM))
		return wait.For(ctx, audio.FrameDuration)
	}
	err = s.Begin()
	for range liveFrames {
		if err == nil {
			err = send()
		}
	}
	if err == nil {
		err = s.Finalize()
	}
	end := time.Now()
	for err == nil && one.First == 0 {
		select {
		case <-final:
			one.First = max(time.Since(end), 1)
		default:
			err = send() // the stream goes on, and tells what is wrong with it
		}
	}
	start := time.Now()
	closing := s.Close()
	one.Cancel = time.Since(start)
	return errors.Join(err, closing)
}
