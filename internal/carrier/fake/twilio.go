package fake

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // Twilio's signatures are HMAC-SHA1
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// TwilioOptions describes a call of a Twilio number. Secret and URL are required.
type TwilioOptions struct {
	// Secret is the account's auth token, which signs requests.
	Secret string
	// URL is that of the server's option: the webhook is its path /voice.
	URL string
	// Client sends the webhook and opens the stream; http.DefaultClient if nil.
	Client *http.Client
	// From and To are the numbers.
	From, To string
}

// TwilioSignature returns the signature of a request with the parameters of its body.
func TwilioSignature(secret, address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(secret))
	text := address
	for _, name := range slices.Sorted(maps.Keys(form)) {
		text += name + form.Get(name)
	}
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// RingTwilio begins a call: it posts the webhook and opens the stream that the answer names. It
// returns an error if the server refuses the call.
func RingTwilio(ctx context.Context, o TwilioOptions) (*Call, error) {
	o.Client = cmp.Or(o.Client, http.DefaultClient)
	call := "CA" + rand.Text()
	form := url.Values{"CallSid": {call}, "AccountSid": {"AC1"}, "From": {o.From}, "To": {o.To}, "Direction": {"inbound"}, "CallStatus": {"ringing"}}
	address := strings.TrimRight(o.URL, "/") + "/voice"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Twilio-Signature", TwilioSignature(o.Secret, address, form))
	resp, err := o.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server responded %s: %s", resp.Status, strings.TrimSpace(string(body)))
	}
	var answer struct {
		XMLName xml.Name `xml:"Response"`
		Connect *struct {
			Stream struct {
				URL        string `xml:"url,attr"`
				Parameters []struct {
					Name  string `xml:"name,attr"`
					Value string `xml:"value,attr"`
				} `xml:"Parameter"`
			}
		}
		Reject *struct {
			Reason string `xml:"reason,attr"`
		}
	}
	switch err := xml.Unmarshal(body, &answer); {
	case err != nil:
		return nil, fmt.Errorf("the answer %.200q is no TwiML: %w", body, err)
	case answer.Reject != nil:
		return nil, fmt.Errorf("the server refuses the call: %s", answer.Reject.Reason)
	case answer.Connect == nil || !strings.HasPrefix(answer.Connect.Stream.URL, "wss://") || strings.Contains(answer.Connect.Stream.URL, "?"):
		return nil, fmt.Errorf("the answer %.200q connects no stream: expected a URL of the scheme wss without a query", body)
	}
	stream := answer.Connect.Stream
	parameters := make(map[string]string)
	for _, p := range stream.Parameters {
		parameters[p.Name] = p.Value
	}
	return Dial(ctx, Options{
		Dialect: "twilio", URL: stream.URL, Client: o.Client, Stream: "MZ" + rand.Text(), Call: call, From: o.From, To: o.To,
		Parameters: parameters, Header: http.Header{"X-Twilio-Signature": {TwilioSignature(o.Secret, stream.URL, nil)}},
	})
}
