package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/httpclient"
)

// DefaultBaseURL is the endpoint of OpenAI.
const DefaultBaseURL = "https://api.openai.com/v1"

// The environment variables of the key if [Options].KeyEnv is empty.
const (
	OpenAIKeyEnv = "OPENAI_API_KEY"
	AzureKeyEnv  = "AZURE_OPENAI_API_KEY"
)

// The names of the member that limits the length of a reply.
const (
	FieldMaxTokens           = "max_tokens"
	FieldMaxCompletionTokens = "max_completion_tokens"
)

// Options configures a [Model]. The field Model is required; zero values of the
// others select the defaults.
type Options struct {
	// BaseURL is the part of the URL before /chat/completions; [DefaultBaseURL] if
	// empty. For Azure with an APIVersion it is the resource
	// (https://NAME.openai.azure.com).
	BaseURL string
	// Model is the name of the model, or of the deployment at Azure.
	Model string
	// KeyEnv is the environment variable with the key. If it is empty, the endpoints of
	// [Vendors] use the vendor's, Azure [AzureKeyEnv], and other servers no key, so that
	// one vendor's key is not sent to another by default.
	KeyEnv string
	// Organization and Project are the values of OpenAI's headers of that name.
	Organization, Project string
	// Headers are sent with every request. Their values do not appear in errors.
	Headers map[string]string
	// APIVersion selects Azure's deployment URLs ("2024-10-21"): the path contains
	// the deployment and the key is sent in the header api-key. Azure's newer path
	// (/openai/v1) does not need it.
	APIVersion string

	// MaxTokens limits the length of a reply; 0 means the server's default.
	MaxTokens int
	// MaxTokensField is the request's member for MaxTokens. If empty, it is
	// [FieldMaxCompletionTokens] for OpenAI and Azure and [FieldMaxTokens] for
	// others.
	MaxTokensField string
	Temperature    *float64 // 0 to 2; nil means the server's default
	Seed           *int64   // nil means the server's default
	// NoUsage omits stream_options, which old servers refuse. Replies then have no
	// token counts.
	NoUsage bool
	// Extra contains additional members of the request, for example
	// {"reasoning_effort": "low"}. They must be encodable as JSON.
	Extra map[string]any

	// Connect limits the time to establish a connection and its TLS session; 5 s if
	// 0.
	Connect time.Duration
	// FirstChunk limits the time from the request to the first event; 30 s if 0.
	FirstChunk time.Duration
	// Stall limits the time between events; 15 s if 0. The time that emit takes is
	// not counted, and comments are not events.
	Stall time.Duration
	// MaxEvent limits the size of an event in bytes; 1 MiB if 0.
	MaxEvent int
	// MaxReply limits the size of the server's response in bytes; 8 MiB if 0.
	MaxReply int

	// Report, if not nil, is called after every request, by the goroutine of its
	// Reply before Reply returns. It must not block.
	Report func(Report)

	// Getenv returns the value of an environment variable; os.Getenv if nil.
	Getenv func(string) string
	// Transport sends the requests. If it is nil, the Model uses its own, with
	// Connect and the environment's proxy. Connect does not apply to another
	// transport.
	Transport http.RoundTripper
}

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if _, err := parseBase(o.BaseURL); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(o.Model) == "":
		return errors.New("openai: Model must be set")
	case o.APIVersion != "" && o.BaseURL == "":
		return errors.New("openai: an API version requires Azure's base URL of the resource, https://NAME.openai.azure.com")
	case o.MaxTokens < 0:
		return fmt.Errorf("openai: max tokens is %d: expected 0 or more", o.MaxTokens)
	case o.MaxTokensField != "" && o.MaxTokensField != FieldMaxTokens && o.MaxTokensField != FieldMaxCompletionTokens:
		return fmt.Errorf("openai: max tokens field is %q: expected %s or %s", o.MaxTokensField, FieldMaxTokens, FieldMaxCompletionTokens)
	case o.Temperature != nil && !(*o.Temperature >= 0 && *o.Temperature <= 2):
		return fmt.Errorf("openai: temperature is %g: expected 0 to 2", *o.Temperature)
	case o.Connect < 0 || o.FirstChunk < 0 || o.Stall < 0:
		return errors.New("openai: connect, first chunk and stall must not be negative")
	case o.MaxEvent < 0 || o.MaxReply < 0:
		return errors.New("openai: max event and max reply must not be negative")
	}
	if err := o.validateHeaders(); err != nil {
		return err
	}
	_, err := extraMembers(o.Extra)
	return err
}

// Headers set by the package, in canonical form.
const (
	headerAuth   = "Authorization"
	headerAPIKey = "Api-Key"
	headerOrg    = "Openai-Organization"
	headerProj   = "Openai-Project"
)

var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110, section 5.6.2

func (o Options) validateHeaders() error {
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		switch canonical := http.CanonicalHeaderKey(name); {
		case !token.MatchString(name):
			return fmt.Errorf("openai: %q is not a valid header name", name)
		case canonical == headerAuth || canonical == headerAPIKey:
			return fmt.Errorf("openai: the header %s must not be set: the key comes from an environment variable", name)
		case canonical == "Content-Type" || canonical == "Content-Length" || canonical == "Accept" || canonical == "Host":
			return fmt.Errorf("openai: the header %s must not be set: the protocol defines it", name)
		case !printable(o.Headers[name]):
			return fmt.Errorf("openai: the value of the header %s must not contain line breaks or control characters", name)
		}
	}
	for _, v := range []string{o.Organization, o.Project} {
		if !printable(v) {
			return errors.New("openai: organization and project must not contain control characters")
		}
	}
	return nil
}

// printable reports whether a text is a valid header value.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// parseBase parses a base URL.
func parseBase(base string) (*url.URL, error) {
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := httpclient.ParseBase(base, "must be an http or https URL like "+DefaultBaseURL, "https", "http")
	if err != nil {
		return nil, fmt.Errorf("openai: the base URL %w", err)
	}
	if strings.HasSuffix(u.Path, "/chat/completions") {
		return nil, errors.New("openai: the base URL must not include /chat/completions")
	}
	return u, nil
}

// withDefaults returns o with defaults in place of zero fields.
func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&o.Connect, 5 * time.Second},
		{&o.FirstChunk, 30 * time.Second},
		{&o.Stall, 15 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if o.MaxEvent == 0 {
		o.MaxEvent = 1 << 20
	}
	if o.MaxReply == 0 {
		o.MaxReply = 8 << 20
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.MaxTokensField == "" {
		o.MaxTokensField = FieldMaxTokens
		if o.azure() || o.vendor() {
			o.MaxTokensField = FieldMaxCompletionTokens
		}
	}
	if o.KeyEnv == "" && o.APIVersion != "" {
		o.KeyEnv = AzureKeyEnv
	} else if o.KeyEnv == "" {
		o.KeyEnv = vendorKey(o.BaseURL)
	}
	return o
}

// vendor reports whether the endpoint is OpenAI's.
func (o Options) vendor() bool {
	u, err := parseBase(o.BaseURL)
	return err == nil && u.Scheme == "https" && strings.EqualFold(u.Hostname(), "api.openai.com")
}

// azure reports whether the endpoint is an Azure deployment.
func (o Options) azure() bool {
	u, err := parseBase(o.BaseURL)
	return o.APIVersion != "" ||
		err == nil && u.Scheme == "https" && strings.HasSuffix(strings.ToLower(u.Hostname()), ".openai.azure.com")
}

// endpoint returns the URL of the requests.
func (o Options) endpoint() (*url.URL, error) {
	u, err := parseBase(o.BaseURL)
	if err != nil {
		return nil, err
	}
	if o.APIVersion == "" {
		return u.JoinPath("chat", "completions"), nil
	}
	if !strings.HasSuffix(u.Path, "/openai") {
		u = u.JoinPath("openai")
	}
	u = u.JoinPath("deployments", url.PathEscape(o.Model), "chat", "completions")
	u.RawQuery = url.Values{"api-version": {o.APIVersion}}.Encode()
	return u, nil
}

// key returns the key, or an empty string for a server without one.
func (o Options) key() (string, error) {
	if o.KeyEnv == "" {
		return "", nil
	}
	key := strings.TrimSpace(o.Getenv(o.KeyEnv))
	if key == "" {
		return "", fmt.Errorf("openai: the environment variable %s is not set: it must contain the language model's key", o.KeyEnv)
	}
	if !printable(key) {
		return "", fmt.Errorf("openai: the key in the environment variable %s must not contain line breaks or control characters", o.KeyEnv)
	}
	return key, nil
}

// transport returns the Model's own transport. It disables compression, since a
// compressor would delay the stream.
func (o Options) transport() *http.Transport {
	dialer := &net.Dialer{Timeout: o.Connect, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    o.Connect,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    256, // up to the number of calls, each of which waits for its next turn
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// members returns the request's members that the package writes itself.
func members() []string {
	return []string{
		"model", "messages", "tools", "stream", "stream_options", "response_format", "n",
		FieldMaxTokens, FieldMaxCompletionTokens, "temperature", "seed",
	}
}

// extraMembers encodes the extra members for the end of a request.
func extraMembers(extra map[string]any) ([]byte, error) {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if slices.Contains(members(), name) {
			return nil, fmt.Errorf("openai: the extra member %q must not be set: the package sets it", name)
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("openai: the extra member %q: %w", name, err)
		}
		value, err := json.Marshal(extra[name])
		if err != nil {
			return nil, fmt.Errorf("openai: the extra member %q: %w", name, err)
		}
		b = append(append(append(append(b, ','), key...), ':'), value...)
	}
	return b, nil
}
