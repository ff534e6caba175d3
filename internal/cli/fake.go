package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"time"

	"github.com/hocketvoice/hocket/internal/app"
)

// fakeCmd places a call as a carrier would.
type fakeCmd struct {
	Carrier string `arg:"" enum:"twilio,telnyx" help:"The carrier: twilio or telnyx."`

	URL       string        `name:"url" placeholder:"URL" help:"server.CARRIER.url of the server's config."`
	Server    string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where the server listens, without TLS, whatever the URL is."`
	API       string        `name:"api" default:"127.0.0.1:8090" placeholder:"HOST:PORT" help:"Where the API of Telnyx listens: server.telnyx.api_url of the server's config."`
	PublicKey bool          `help:"Print the public key of Telnyx for TELNYX_API_KEY, and place no call."`
	From      string        `default:"+15550100001" placeholder:"NUMBER" help:"The caller's number."`
	To        string        `default:"+15550100002" placeholder:"NUMBER" help:"The number that is called."`
	Say       []string      `sep:"none" placeholder:"FILE" help:"A WAV file that the caller says when the agent has spoken. May be repeated."`
	Heard     string        `placeholder:"FILE" help:"Write what the telephone plays to a WAV file."`
	Most      time.Duration `default:"2m" placeholder:"DURATION" help:"The longest call."`
}

// Help returns the long help.
func (fakeCmd) Help() string {
	return `Signs its requests with the secret that the server has, too: TWILIO_AUTH_TOKEN, or TELNYX_API_KEY, from which the public key of the fake follows. The caller says each recording when the agent has spoken, and hangs up when it has answered the last one. What the carrier would not allow fails the command.`
}

// Run runs the command.
func (c *fakeCmd) Run(s *streams) error {
	name := map[string]string{"twilio": app.DefaultTwilioSecretEnv, "telnyx": app.DefaultTelnyxKeyEnv}[c.Carrier]
	key := os.Getenv(name)
	if key == "" {
		return badInputf("the environment variable %s is not set: expected the secret that the server has", name)
	}
	if c.PublicKey {
		_, err := fmt.Fprintln(s.out, app.FakePublicKey(key))
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := app.FakeCallOptions{
		Carrier: c.Carrier, URL: c.URL, Server: c.Server, Key: key, From: c.From, To: c.To, Say: c.Say, Heard: c.Heard, Most: c.Most,
		Note: func(note string) { fmt.Fprintln(s.out, note) },
	}
	if c.Carrier == "telnyx" {
		api, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.API)
		if err != nil {
			return badInputf("--api: %w", err)
		}
		o.API = api
	}
	res, err := app.FakeCall(ctx, o)
	if err != nil {
		return callError(err)
	}
	_, err = fmt.Fprintf(s.out, "the %s has hung up after %.1f s, in which the agent spoke for %.1f s\n", res.By, res.Length.Seconds(), res.Spoken.Seconds())
	return err
}
