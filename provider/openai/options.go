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
)

// DefaultBaseURL is the endpoint of OpenAI itself.
const DefaultBaseURL = "https://api.openai.com/v1"

// The environment variables that hold the key where [Options].KeyEnv is empty.
const (
	OpenAIKeyEnv = "OPENAI_API_KEY"
	AzureKeyEnv  = "AZURE_OPENAI_API_KEY"
)

// The names that servers have for the bound on a reply.
const (
	FieldMaxTokens           = "max_tokens"
	FieldMaxCompletionTokens = "max_completion_tokens"
)

// Options configure a [Model]. Model alone must be set; the zero value of every
// other field is its default.
type Options struct {
	// BaseURL is what stands before /chat/completions; [DefaultBaseURL] if empty.
	// For Azure with an APIVersion it is the resource
	// (https://NAME.openai.azure.com).
	BaseURL string
	// Model is the model's name, or that of the deployment at Azure.
	Model string
	// KeyEnv names the environment variable that holds the key. If it is empty,
	// OpenAI's own endpoint takes [OpenAIKeyEnv], Azure [AzureKeyEnv], and other
	// servers get no key: the key of one vendor never goes to another by default.
	KeyEnv string
	// Organization and Project are OpenAI's headers of that name.
	Organization, Project string
	// Headers are sent with every request. Their values are kept out of errors
	// as the key is.
	Headers map[string]string
	// APIVersion makes the endpoint one of Azure's deployments
	// ("2024-10-21"): the path names the deployment and the key goes into the
	// header api-key. Azure's newer path (/openai/v1) needs none of this.
	APIVersion string

	// MaxTokens bounds a reply; 0 leaves it to the server.
	MaxTokens int
	// MaxTokensField is the member of the request that carries MaxTokens:
	// [FieldMaxCompletionTokens] for OpenAI and Azure, [FieldMaxTokens] for others
	// if empty.
	MaxTokensField string
	Temperature    *float64 // 0 to 2; nil leaves it to the server
	Seed           *int64   // nil leaves it to the server
	// NoUsage leaves stream_options out, which old servers refuse; replies then
	// come without a count of tokens.
	NoUsage bool
	// Extra are further members of the request, for example
	// {"reasoning_effort": "low"}. They must marshal to JSON.
	Extra map[string]any

	// Connect bounds the time until a connection and its TLS session are there;
	// 5 s if 0.
	Connect time.Duration
	// FirstChunk bounds the time from the request to the first event; 30 s if 0.
	FirstChunk time.Duration
	// Stall bounds the time between events; 15 s if 0. The time that emit takes
	// does not count, and comments are not events.
	Stall time.Duration
	// MaxEvent bounds one event, in bytes; 1 MiB if 0.
	MaxEvent int
	// MaxReply bounds the whole answer of the server, in bytes; 8 MiB if 0.
	MaxReply int

	// Report, if set, is told about every request when it is over, on the
	// goroutine of its Reply, before that returns. It must not block.
	Report func(Report)

	// Getenv looks an environment variable up; os.Getenv if nil.
	Getenv func(string) string
	// Transport carries the requests; nil is one of the Model's own, with Connect
	// and the proxy of the environment. Connect does not bind another.
	Transport http.RoundTripper
}

// Validate reports the first setting that cannot work.
func (o Options) Validate() error {
	if _, err := parseBase(o.BaseURL); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(o.Model) == "":
		return errors.New("openai: no model is named")
	case o.APIVersion != "" && o.BaseURL == "":
		return errors.New("openai: an API version is Azure's, and needs the base URL of the resource, https://NAME.openai.azure.com")
	case o.MaxTokens < 0:
		return fmt.Errorf("openai: max tokens is %d, expected 0 or more", o.MaxTokens)
	case o.MaxTokensField != "" && o.MaxTokensField != FieldMaxTokens && o.MaxTokensField != FieldMaxCompletionTokens:
		return fmt.Errorf("openai: max tokens field is %q, expected %s or %s", o.MaxTokensField, FieldMaxTokens, FieldMaxCompletionTokens)
	case o.Temperature != nil && !(*o.Temperature >= 0 && *o.Temperature <= 2):
		return fmt.Errorf("openai: temperature is %g, expected 0 to 2", *o.Temperature)
	case o.Connect < 0 || o.FirstChunk < 0 || o.Stall < 0:
		return errors.New("openai: connect, first chunk and stall are times, expected 0 or more")
	case o.MaxEvent < 0 || o.MaxReply < 0:
		return errors.New("openai: max event and max reply are sizes in bytes, expected 0 or more")
	}
	if err := o.validateHeaders(); err != nil {
		return err
	}
	_, err := extraMembers(o.Extra)
	return err
}

// The package's own headers, in canonical form.
const (
	headerAuth   = "Authorization"
	headerAPIKey = "Api-Key"
	headerOrg    = "Openai-Organization"
	headerProj   = "Openai-Project"
)

var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110, 5.6.2

func (o Options) validateHeaders() error {
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		switch canonical := http.CanonicalHeaderKey(name); {
		case !token.MatchString(name):
			return fmt.Errorf("openai: %q is no name of a header", name)
		case canonical == headerAuth || canonical == headerAPIKey:
			return fmt.Errorf("openai: the header %s carries the key, which comes from an environment variable that the options name", name)
		case canonical == "Content-Type" || canonical == "Content-Length" || canonical == "Accept" || canonical == "Host":
			return fmt.Errorf("openai: the header %s is the protocol's own", name)
		case !printable(o.Headers[name]):
			return fmt.Errorf("openai: the value of the header %s holds a line break or a control character", name)
		}
	}
	for _, v := range []string{o.Organization, o.Project} {
		if !printable(v) {
			return errors.New("openai: organization and project go into headers, expected no control character in them")
		}
	}
	return nil
}

// printable says whether a text may be the value of a header.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// parseBase reads a base URL; the error never shows it, for it may hold a
// password.
func parseBase(base string) (*url.URL, error) {
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("openai: the base URL is no http or https address, expected one like %s", DefaultBaseURL)
	case u.User != nil:
		return nil, errors.New("openai: the base URL holds a user name, expected none: the key comes from an environment variable")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("openai: the base URL holds a query or a fragment, expected neither")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	if strings.HasSuffix(u.Path, "/chat/completions") {
		return nil, errors.New("openai: the base URL ends with /chat/completions, expected what stands before it")
	}
	return u, nil
}

// withDefaults returns o with every zero field set that has a default.
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
	if o.KeyEnv == "" && o.azure() {
		o.KeyEnv = AzureKeyEnv
	} else if o.KeyEnv == "" && o.vendor() {
		o.KeyEnv = OpenAIKeyEnv
	}
	return o
}

// vendor says whether the endpoint is OpenAI's own.
func (o Options) vendor() bool {
	u, err := parseBase(o.BaseURL)
	return err == nil && u.Scheme == "https" && strings.EqualFold(u.Hostname(), "api.openai.com")
}

// azure says whether the endpoint is one of Azure's.
func (o Options) azure() bool {
	u, err := parseBase(o.BaseURL)
	return o.APIVersion != "" ||
		err == nil && u.Scheme == "https" && strings.HasSuffix(strings.ToLower(u.Hostname()), ".openai.azure.com")
}

// endpoint is the address of the requests.
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

// key fetches the key; it is empty for a server that gets none.
func (o Options) key() (string, error) {
	if o.KeyEnv == "" {
		return "", nil
	}
	key := strings.TrimSpace(o.Getenv(o.KeyEnv))
	if key == "" {
		return "", fmt.Errorf("openai: the environment variable %s is not set, expected the key of the language model in it", o.KeyEnv)
	}
	if !printable(key) {
		return "", fmt.Errorf("openai: the key in the environment variable %s holds a line break or a control character", o.KeyEnv)
	}
	return key, nil
}

// transport is the Model's own way to its server. A stream is not compressed: a
// compressor holds pieces back.
func (o Options) transport() *http.Transport {
	dialer := &net.Dialer{Timeout: o.Connect, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    o.Connect,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    256, // as many as there are calls; each waits for its next turn
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// members are the members of a request that the package writes itself.
func members() []string {
	return []string{
		"model", "messages", "tools", "stream", "stream_options", "response_format", "n",
		FieldMaxTokens, FieldMaxCompletionTokens, "temperature", "seed",
	}
}

// extraMembers writes the extra members as they stand at the end of a request.
func extraMembers(extra map[string]any) ([]byte, error) {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if slices.Contains(members(), name) {
			return nil, fmt.Errorf("openai: the extra member %q is written by the package itself, expected another", name)
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
