package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/leg/telnyx"
	"github.com/hocketvoice/hocket/leg/twilio"
)

// FakeCallOptions configures a call that a fake of a carrier places. Carrier, URL, Server and Key
// are required.
type FakeCallOptions struct {
	Carrier string       // twilio or telnyx
	URL     string       // server.CARRIER.url of the server's config
	Server  string       // host:port at which the server is reached, without TLS
	API     net.Listener // where the API of Telnyx is served; FakeCall closes it
	Key     string       // the auth token of Twilio, or the API key of Telnyx
	From    string       // number
	To      string       // number
	Say     []string     // paths of sound files that the caller says, each when the agent has spoken
	Heard   string       // path of a sound file for what the telephone plays; may be empty
	Most    time.Duration
	Pause   time.Duration // of the agent, before the caller speaks; twice that before the caller hangs up; 1 s if 0
	Note    func(string)  // if not nil, receives what happens
}

// FakeCallResult is the end of a call.
type FakeCallResult struct {
	Length time.Duration // of the stream
	Spoken time.Duration // by the agent
	Said   int           // files that the caller has said
	By     string        // who has ended the call: caller or agent
}

const (
	callerPause = time.Second      // of silence, before the caller speaks; twice that before the caller hangs up
	fakeStart   = 30 * time.Second // maximum time until the stream begins
	fakeEnd     = 10 * time.Second // maximum time until a call that was hung up is over
)

// FakePublicKey returns the key with which a server verifies the webhooks of the fake of Telnyx for
// an API key.
func FakePublicKey(key string) string { return fake.TelnyxPublicKey(key) }

// FakeCall calls a server as a carrier would. It returns an error if the server does not answer, or
// does what the carrier would not allow.
func FakeCall(ctx context.Context, o FakeCallOptions) (res FakeCallResult, err error) {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.API != nil {
		defer o.API.Close()
	}
	check := map[string]func(string) error{"twilio": twilio.CheckURL, "telnyx": telnyx.CheckURL}[o.Carrier]
	if check == nil {
		return res, inputError{fmt.Errorf("the carrier is %q: expected twilio or telnyx", o.Carrier)}
	}
	if err := check(o.URL); err != nil {
		return res, inputError{fmt.Errorf("the URL is invalid: %w", err)}
	}
	var lines [][]int16
	for _, path := range o.Say {
		pcm, err := readSound(path)
		if err != nil {
			return res, inputError{err}
		}
		lines = append(lines, pcm)
	}
	var files outputs
	heard, err := files.sound(o.Heard)
	if err != nil {
		return res, inputError{err}
	}
	defer func() { err = errors.Join(err, files.finish(err == nil)) }()
	client := &http.Client{Transport: reachTransport(o.Server)}
	defer client.CloseIdleConnections()
	ring := ringTelnyx
	if o.Carrier == "twilio" {
		ring = ringTwilio
	}
	call, end, err := ring(ctx, client, o)
	if err != nil {
		return res, fmt.Errorf("the call is not answered: %w", err)
	}
	o.Note("the call is answered")
	var over bool
	res.Said, over, err = speak(ctx, call, lines, o)
	err = errors.Join(err, end(!over))
	res.By = "caller"
	if over {
		res.By = "agent"
	}
	_, rate := call.Rates()
	pcm := call.Played()
	res.Length = audio.Pos(len(pcm)).Duration(rate)
	for frame := audio.FrameSamples(rate); len(pcm) >= frame; pcm = pcm[frame:] {
		if audio.Peak(pcm[:frame]) > 0 {
			res.Spoken += audio.FrameDuration
		}
	}
	if heard != nil {
		w, wrong := audio.NewWAVWriter(heard, audio.WAVWriterOptions{Rate: rate})
		if wrong == nil {
			wrong = errors.Join(w.Write(call.Played()), w.Close())
		}
		err = errors.Join(err, wrong)
	}
	return res, err
}

// reachTransport returns a transport that reaches a server at host:port, without TLS, whatever the
// address of a request.
func reachTransport(server string) *http.Transport {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, network, server)
	}
	return &http.Transport{DialContext: dial, DialTLSContext: dial}
}

// ending waits for the end of a call, on behalf of the caller or of the agent. It returns an error if
// the agent's end is not the call's, or for what the server has done that the carrier does not allow.
type ending func(byCaller bool) error

// ringTwilio begins a call of Twilio's.
func ringTwilio(ctx context.Context, client *http.Client, o FakeCallOptions) (*fake.Call, ending, error) {
	ctx, cancel := context.WithTimeout(ctx, fakeStart)
	defer cancel()
	account := fake.NewTwilio(fake.TwilioOptions{Secret: o.Key, URL: o.URL, Client: client, From: o.From, To: o.To})
	c := account.Ring() //nolint:contextcheck // webhooks have a time limit of their own
	call, err := c.Stream(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, account.Close())
	}
	return call, func(byCaller bool) error {
		if byCaller {
			c.HangUp()
		}
		limit := time.NewTimer(fakeEnd)
		defer limit.Stop()
		select {
		case <-c.Over():
			return account.Close()
		case <-limit.C:
			return errors.Join(fmt.Errorf("the agent has ended the stream, and the call goes on after %v", fakeEnd), account.Close())
		}
	}, nil
}

// ringTelnyx begins a call of Telnyx's, whose API is served until the end of the call.
func ringTelnyx(ctx context.Context, client *http.Client, o FakeCallOptions) (*fake.Call, ending, error) {
	account := fake.NewTelnyx(fake.TelnyxOptions{Key: o.Key, Webhook: strings.TrimRight(o.URL, "/") + "/voice", Client: client})
	api := &http.Server{Handler: account, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- api.Serve(o.API) }()
	stop := func() error {
		err := errors.Join(api.Close(), account.Close())
		if wrong := <-served; !errors.Is(wrong, http.ErrServerClosed) {
			err = errors.Join(err, wrong)
		}
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, fakeStart)
	defer cancel()
	c := account.Ring(o.From, o.To) //nolint:contextcheck // webhooks have a time limit of their own
	call, err := c.Stream(waiting)
	if err != nil {
		for _, webhook := range account.Refused() {
			err = fmt.Errorf("%w; the server refused the webhook %s", err, webhook)
		}
		return nil, nil, errors.Join(err, stop())
	}
	return call, func(byCaller bool) error {
		if byCaller {
			c.HangUp()
		}
		limit := time.NewTimer(fakeEnd)
		defer limit.Stop()
		var err error
		select {
		case <-c.Over():
			<-call.Over()
		case <-limit.C:
			err = fmt.Errorf("the agent has ended the stream, and not hung up within %v", fakeEnd)
		}
		return errors.Join(err, stop())
	}, nil
}

// speak says each line when the agent has spoken. It returns when the agent has answered the last
// one, when the call is over, or after a time, with the number of lines.
func speak(ctx context.Context, call *fake.Call, lines [][]int16, o FakeCallOptions) (said int, over bool, err error) {
	rate, _ := call.Rates()
	pause := cmp.Or(o.Pause, callerPause)
	limit := time.NewTimer(o.Most)
	defer limit.Stop()
	for {
		spoke, silent := call.Answered()
		switch {
		case spoke && silent >= pause && said < len(lines):
			pcm := lines[said]
			if rate != callRate {
				if pcm, err = audio.Resample(pcm, callRate, rate); err != nil {
					return said, false, err
				}
			}
			call.Say(pcm)
			said++
		case spoke && silent >= 2*pause && said == len(lines):
			return said, false, nil
		}
		select {
		case <-call.Over():
			return said, true, nil
		case <-limit.C:
			return said, false, fmt.Errorf("the agent has not answered within %v", o.Most)
		case <-ctx.Done():
			return said, false, ctx.Err()
		case <-time.After(audio.FrameDuration):
		}
	}
}
