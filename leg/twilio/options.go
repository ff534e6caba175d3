package twilio

import (
	"context"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/internal/httpclient"
)

// Options configures a [Server]. Secret, URL and Start are required.
type Options struct {
	// Secret is the account's auth token, with which Twilio signs its requests.
	Secret string
	// URL is where Twilio reaches the handler, of the scheme https. The webhook of the number
	// is its path /voice. The address of a request is never taken from the request itself.
	URL string
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

// validate returns an error if an option is invalid.
func (o *Options) validate() error {
	switch err := CheckURL(o.URL); {
	case o.Secret == "":
		return errors.New("twilio: the auth token is empty")
	case err != nil:
		return fmt.Errorf("twilio: the URL is invalid: %w", err)
	case o.Start == nil:
		return errors.New("twilio: Start is nil")
	default:
		return nil
	}
}

// CheckURL returns an error if text is not valid as [Options.URL]. The error does not contain
// text.
func CheckURL(text string) error {
	_, err := httpclient.ParseBase(text, "expected one such as https://voice.example.com/twilio", "https")
	return err
}
