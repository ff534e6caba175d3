package telnyx

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/httpclient"
	"github.com/hocketvoice/hocket/internal/wire/mediastream"
)

// DefaultAPI is the base URL of Telnyx's API.
const DefaultAPI = "https://api.telnyx.com/v2"

// Options configures a [Server]. Key, PublicKey, URL and Start are required.
type Options struct {
	// Key is the API key with which commands are sent.
	Key string
	// PublicKey is the account's public key in base64, with which webhooks are verified.
	PublicKey string
	// URL is where Telnyx reaches the handler, of the scheme https. The webhook of the number's
	// application is its path /voice.
	URL string
	// API is the base URL of the API; [DefaultAPI] if empty.
	API string
	// Codec is the format of the agent's sound: PCMU, PCMA, G722 or L16; PCMU if empty. The
	// person's sound may come in another of them.
	Codec string
	// Connection is Telnyx's name (connection_id) of the application with which calls are placed.
	Connection string
	// Linger is how long a stream that was lost in the middle of a call is waited for; 30 s if 0.
	Linger time.Duration
	// Client sends the commands; one with its own connections if nil. Each attempt has a time
	// limit.
	Client *http.Client
	// Vouch, if not nil, is called for each request that Telnyx has signed, or with the token of
	// a stream.
	Vouch func(ctx context.Context)
	// Admit, if not nil, decides whether a call is answered. If it returns an error that wraps
	// [ErrBusy], the caller hears a busy tone, and otherwise that the call is rejected.
	Admit func(ctx context.Context, c Incoming) error
	// Start begins the conversation of a call. It must not wait for the end of the
	// conversation. From then on the leg is the caller's, who must close it, which hangs up;
	// after an error Start must have closed it.
	Start func(ctx context.Context, c Incoming, leg Leg) error
	// Ended, if not nil, is called once for each call that was admitted, when Telnyx says that it
	// is over.
	Ended func(c Incoming, h Hangup)
	// Failed, if not nil, is called when a call that was admitted could not begin or not be hung
	// up, and when Telnyx refuses its sound. The error contains no numbers. Requests without a valid signature or token, which
	// anybody can send, are not reported.
	Failed func(err error)
}

// codec is a format of sound with the rate that Telnyx's documentation gives it.
type codec struct {
	clock int
	mediastream.Format
}

// codecs are the formats that a stream may have in both directions. The rate of G722 is the clock
// of its packets.
var codecs = map[string]codec{
	"PCMU": {8000, mediastream.Format{Encoding: mediastream.MuLaw, Rate: 8000}},
	"PCMA": {8000, mediastream.Format{Encoding: mediastream.ALaw, Rate: 8000}},
	"G722": {8000, mediastream.Format{Encoding: mediastream.G722, Rate: 16000}},
	"L16":  {16000, mediastream.Format{Encoding: mediastream.LinearBE, Rate: 16000}},
}

// withDefaults returns the options with their defaults, or an error if an option is invalid.
func (o Options) withDefaults() (Options, error) {
	o.API, o.Codec = cmp.Or(o.API, DefaultAPI), cmp.Or(o.Codec, "PCMU")
	o.Linger = cmp.Or(o.Linger, 30*time.Second)
	if o.Key == "" {
		return o, errors.New("telnyx: the API key is empty")
	}
	if _, err := ParseKey(o.PublicKey); err != nil {
		return o, fmt.Errorf("telnyx: the public key is invalid: %w", err)
	}
	if err := CheckURL(o.URL); err != nil {
		return o, fmt.Errorf("telnyx: the URL is invalid: %w", err)
	}
	if err := CheckAPI(o.API); err != nil {
		return o, fmt.Errorf("telnyx: the URL of the API is invalid: %w", err)
	}
	if _, ok := codecs[o.Codec]; !ok {
		return o, fmt.Errorf("telnyx: the codec is %q: expected one of %s", o.Codec, strings.Join(Codecs(), ", "))
	}
	if o.Start == nil {
		return o, errors.New("telnyx: Start is nil")
	}
	return o, nil
}

// Codecs returns the values of [Options.Codec].
func Codecs() []string { return slices.Sorted(maps.Keys(codecs)) }

// ParseKey parses a public key of [Options.PublicKey]. The error does not contain text.
func ParseKey(text string) (ed25519.PublicKey, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != ed25519.PublicKeySize {
		return nil, errors.New("expected 32 bytes in base64")
	}
	return b, nil
}

// CheckURL returns an error if text is not valid as [Options.URL]. The error does not contain
// text.
func CheckURL(text string) error {
	_, err := httpclient.ParseBase(text, "expected one such as https://voice.example.com/telnyx", "https")
	return err
}

// CheckAPI returns an error if text is not valid as [Options.API]. The error does not contain
// text.
func CheckAPI(text string) error {
	_, err := httpclient.ParseBase(text, "expected one such as "+DefaultAPI, "https", "http")
	return err
}
