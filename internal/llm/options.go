package llm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/internal/httpclient"
)

// Options configures a model of a vendor with one host of its own. The field Model is required;
// zero values of the others select the defaults.
type Options struct {
	// BaseURL is the part of the URL before the path of the requests; the vendor's if empty.
	BaseURL string
	// Model is the name of the model.
	Model string
	// KeyEnv is the environment variable with the key. If it is empty, the vendor's host gets
	// the vendor's variable and other hosts get no key.
	KeyEnv string
	// Headers are sent with every request. Their values do not appear in errors.
	Headers map[string]string

	// MaxTokens limits the length of a reply; 0 means the adapter's or the server's default.
	MaxTokens int
	// Window is the number of tokens that the model takes; 0 means that no request is cut:
	// see [Cut].
	Window      int
	Temperature *float64 // nil means the server's default
	// Extra contains additional members of the request. They must be encodable as JSON.
	Extra map[string]any

	Limits

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

// Service describes a vendor to the options.
type Service struct {
	Name    string   // of the adapter; begins messages
	BaseURL string   // by default
	Ending  string   // of the URL that people may take for the base URL
	Keys    []string // headers for keys, in canonical form
	Members []string // of the request, which the adapter writes itself
	Hottest float64  // the highest temperature
}

// Validate returns an error for the first invalid option.
func (o Options) Validate(s Service) error {
	base, err := ParseBase(s.Name, o.BaseURL, s.BaseURL)
	if err != nil {
		return err
	}
	switch {
	case strings.HasSuffix(base.Path, s.Ending):
		return fmt.Errorf("%s: the base URL must not include %s", s.Name, s.Ending)
	case o.Temperature != nil && !(*o.Temperature >= 0 && *o.Temperature <= s.Hottest):
		return fmt.Errorf("%s: temperature is %g: expected 0 to %g", s.Name, *o.Temperature, s.Hottest)
	}
	if err := CheckCommon(s.Name, o.Model, o.MaxTokens, o.Window, o.Limits); err != nil {
		return err
	}
	if err := CheckHeaders(s.Name, o.Headers, s.Keys); err != nil {
		return err
	}
	_, err = Extra(s.Name, o.Extra, s.Members)
	return err
}

// CheckCommon returns an error for the first invalid option among those that all adapters have.
func CheckCommon(name, model string, maxTokens, window int, limits Limits) error {
	switch {
	case strings.TrimSpace(model) == "":
		return fmt.Errorf("%s: Model must be set", name)
	case maxTokens < 0:
		return fmt.Errorf("%s: max tokens is %d: expected 0 or more", name, maxTokens)
	case window < 0:
		return fmt.Errorf("%s: window is %d: expected 0 or more", name, window)
	case window > 0 && window <= cmp.Or(maxTokens, answerTokens):
		return fmt.Errorf("%s: window is %d: expected more than the %d tokens of an answer", name, window, cmp.Or(maxTokens, answerTokens))
	}
	if err := limits.Validate(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Open returns the config of a model of a vendor. It reads the key, with which sign completes the
// headers; urls returns the URLs of the requests and of the list of models. The caller completes
// the config with the wire.
func (o Options) Open(s Service, sign func(h http.Header, key string), urls func(base *url.URL) (requests, list *url.URL)) (Config, error) {
	if err := o.Validate(s); err != nil {
		return Config{}, err
	}
	base, err := ParseBase(s.Name, o.BaseURL, s.BaseURL)
	if err != nil {
		return Config{}, err
	}
	key, err := Key(s.Name, o.keyEnv(s), o.Getenv)
	if err != nil {
		return Config{}, err
	}
	h := Header(o.Headers)
	sign(h, key)
	requests, list := urls(base)
	return Config{
		Vendor: s.Name, Model: o.Model, URL: requests.String(), List: list.String(), Header: h, Secrets: Secrets(key, o.Headers),
		Limits: o.Limits, Window: o.Window, MaxTokens: o.MaxTokens, Report: o.Report, Transport: o.Transport,
	}, nil
}

// keyEnv returns the environment variable with the key, or "" for a server without one.
func (o Options) keyEnv(s Service) string {
	return cmp.Or(o.KeyEnv, VendorKey(cmp.Or(o.BaseURL, s.BaseURL)))
}

// ForeignKey returns the host that the key of o belongs to if it is not that of BaseURL: see
// [ForeignHost].
func (o Options) ForeignKey(s Service) string {
	return ForeignHost(o.keyEnv(s), cmp.Or(o.BaseURL, s.BaseURL))
}

// ParseBase parses a base URL, or the default if it is empty.
func ParseBase(name, base, standard string) (*url.URL, error) {
	u, err := httpclient.ParseBase(cmp.Or(base, standard), "must be an http or https URL like "+standard, "https", "http")
	if err != nil {
		return nil, fmt.Errorf("%s: the base URL %w", name, err)
	}
	return u, nil
}

var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110, section 5.6.2

// CheckHeaders returns an error for a header that must not be set or is invalid. The headers in
// keys, in canonical form, carry keys.
func CheckHeaders(vendor string, headers map[string]string, keys []string) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		switch canonical := http.CanonicalHeaderKey(name); {
		case !token.MatchString(name):
			return fmt.Errorf("%s: %q is not a valid header name", vendor, name)
		case slices.Contains(keys, canonical):
			return fmt.Errorf("%s: the header %s must not be set: the key comes from an environment variable", vendor, name)
		case canonical == "Content-Type" || canonical == "Content-Length" || canonical == "Accept" || canonical == "Host":
			return fmt.Errorf("%s: the header %s must not be set: the protocol defines it", vendor, name)
		case !Printable(headers[name]):
			return fmt.Errorf("%s: the value of the header %s must not contain line breaks or control characters", vendor, name)
		}
	}
	return nil
}

// Printable reports whether a text is a valid header value.
func Printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// Key returns the key in an environment variable, or an empty string if env is empty.
func Key(vendor, env string, getenv func(string) string) (string, error) {
	if env == "" {
		return "", nil
	}
	if getenv == nil {
		getenv = os.Getenv
	}
	key := strings.TrimSpace(getenv(env))
	if key == "" {
		return "", fmt.Errorf("%s: the environment variable %s is not set: it must contain the language model's key", vendor, env)
	}
	if !Printable(key) {
		return "", fmt.Errorf("%s: the key in the environment variable %s must not contain line breaks or control characters", vendor, env)
	}
	return key, nil
}

// Header returns the headers of every request, without the key.
func Header(own map[string]string) http.Header {
	h := make(http.Header)
	for name, value := range own {
		h.Set(name, value)
	}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream")
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", "hocket")
	}
	return h
}

// Secrets returns a replacer that removes the key and header values from messages.
// Short header values are not removed, since they are words like "true".
func Secrets(key string, headers map[string]string) *strings.Replacer {
	values := slices.Collect(maps.Values(headers))
	values = slices.DeleteFunc(values, func(v string) bool { return len(v) < 8 })
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	if key != "" {
		pairs = append(pairs, key, "[key]")
	}
	for _, value := range values {
		pairs = append(pairs, value, "[header]")
	}
	return strings.NewReplacer(pairs...)
}

// Extra encodes additional members for the end of a request. The adapter writes members itself.
func Extra(vendor string, extra map[string]any, members []string) ([]byte, error) {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if slices.Contains(members, name) {
			return nil, fmt.Errorf("%s: the extra member %q must not be set: the package sets it", vendor, name)
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("%s: the extra member %q: %w", vendor, name, err)
		}
		value, err := json.Marshal(extra[name])
		if err != nil {
			return nil, fmt.Errorf("%s: the extra member %q: %w", vendor, name, err)
		}
		b = append(append(append(append(b, ','), key...), ':'), value...)
	}
	return b, nil
}
