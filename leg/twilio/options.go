package twilio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/httpclient"
)

// DefaultAPI is the base URL of Twilio's API.
const DefaultAPI = "https://api.twilio.com/2010-04-01"

// Options configures a [Server]. Secret, URL and Start are required.
type Options struct {
	// Secret is the account's auth token, with which Twilio signs its requests.
	Secret string
	// URL is where Twilio reaches the handler, of the scheme https. The webhook of the number
	// is its path /voice. The address of a request is never taken from the request itself.
	URL string
	// Account is Twilio's name of the account (AC...). It is required to place calls.
	Account string
	// API is the base URL of the API; [DefaultAPI] if empty.
	API string
	// Client sends commands; one with its own connections if nil. Each attempt has a time limit.
	Client *http.Client
	// Linger is how long a stream that was lost in the middle of a call is waited for; 30 s if 0.
	Linger time.Duration
	// Vouch, if not nil, is called for each request that Twilio has signed.
	Vouch func(ctx context.Context)
	// Admit, if not nil, decides whether a call is answered. If it returns an error that wraps
	// [ErrBusy], the caller hears a busy tone, and otherwise that the number is not in service.
	Admit func(ctx context.Context, c Incoming) error
	// Start begins the conversation of a call. It must not wait for the end of the
	// conversation. From then on the leg is the caller's, who must close it; after an error
	// Start must have closed it.
	Start func(ctx context.Context, c Incoming, leg Leg) error
	// Failed, if not nil, is called when a call that was admitted could not begin, or a stream
	// that Twilio has signed is refused. The error contains no numbers. Requests without a valid
	// signature, which anybody can send, are not reported.
	Failed func(err error)
}

// withDefaults returns the options with their defaults, or an error if an option is invalid.
func (o Options) withDefaults() (Options, error) {
	o.API = strings.TrimRight(cmp.Or(o.API, DefaultAPI), "/")
	o.Linger = cmp.Or(o.Linger, 30*time.Second)
	switch err := CheckURL(o.URL); {
	case o.Secret == "":
		return o, errors.New("twilio: the auth token is empty")
	case err != nil:
		return o, fmt.Errorf("twilio: the URL is invalid: %w", err)
	case CheckAPI(o.API) != nil:
		return o, fmt.Errorf("twilio: the URL of the API is invalid: %w", CheckAPI(o.API))
	case o.Start == nil:
		return o, errors.New("twilio: Start is nil")
	default:
		return o, nil
	}
}

// CheckAPI returns an error if text is not valid as [Options.API]. The error does not contain
// text.
func CheckAPI(text string) error {
	_, err := httpclient.ParseBase(text, "expected one such as "+DefaultAPI, "https", "http")
	return err
}

// CheckURL returns an error if text is not valid as [Options.URL]. The error does not contain
// text.
func CheckURL(text string) error {
	_, err := httpclient.ParseBase(text, "expected one such as https://voice.example.com/twilio", "https")
	return err
}
