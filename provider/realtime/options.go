package realtime

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/httpclient"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// DefaultURL is the endpoint of OpenAI.
const DefaultURL = "wss://api.openai.com/v1/realtime"

// The environment variables of the key if [Options].KeyEnv is empty.
const (
	OpenAIKeyEnv = "OPENAI_API_KEY"
	AzureKeyEnv  = "AZURE_OPENAI_API_KEY"
)

// The values of [Options].Detection.
const (
	DetectServer   = "server_vad"   // the service detects turns by silence
	DetectSemantic = "semantic_vad" // the service detects turns by what is said
	DetectNone     = "none"         // the caller ends turns with Commit
)

// The values of [Options].Format.
const (
	FormatPCM  = "pcm"  // 24 kHz
	FormatPCMU = "pcmu" // 8 kHz, G.711
	FormatPCMA = "pcma" // 8 kHz, G.711
)

// The defaults of [Options].
const (
	DefaultSilence     = 500 * time.Millisecond
	DefaultThreshold   = 0.5
	DefaultEagerness   = "auto"
	DefaultTranscriber = "gpt-4o-mini-transcribe"
)

// Options configures a [Service]. The field Model is required; zero values of the others
// select the defaults.
type Options struct {
	// Model is the name of the model, or of the deployment at Azure.
	Model string
	// URL is the endpoint, a URL of the scheme wss or ws; [DefaultURL] if empty. For Azure it
	// is wss://NAME.openai.azure.com/openai/v1/realtime.
	URL string
	// KeyEnv is the environment variable with the key. If it is empty, OpenAI gets
	// [OpenAIKeyEnv], Azure [AzureKeyEnv], and other servers no key, so that one vendor's key
	// is not sent to another by default.
	KeyEnv string
	// APIVersion selects Azure's preview ("2024-10-01-preview"), which has another path and
	// the beta dialect.
	APIVersion string
	// Beta selects the beta dialect, for servers that know no other.
	Beta bool
	// Entra, if not nil, gets the tokens of Azure in place of a key.
	Entra *Entra
	// Secrets is the URL at which a POST with the key returns a client secret, which then
	// opens the connection in place of the key ("/v1/realtime/client_secrets"). If it is
	// empty, the key opens it.
	Secrets string

	Voice string // the service's name for a voice; its default if empty
	// Detection says who detects turns; [DetectServer] if empty.
	Detection string
	Silence   time.Duration // that ends a turn; [DefaultSilence] if 0; for [DetectServer]
	Threshold float64       // of the probability of speech, up to 1; [DefaultThreshold] if 0; for [DetectServer]
	Eagerness string        // "low", "medium", "high" or "auto"; [DefaultEagerness] if empty; for [DetectSemantic]
	// Transcriber is the model that writes down what the user says; [DefaultTranscriber]
	// if empty, "none" for no transcripts.
	Transcriber string
	Noise       string // "near_field" or "far_field": the kind of microphone; empty for neither
	Format      string // of the sound in both directions; [FormatPCM] if empty
	MaxTokens   int    // of one answer; the service's default if 0

	// Connect limits the time to open a session; 5 s if 0.
	Connect time.Duration
	// Ping is the time between the signs of life that are asked of the service; 1 s if 0.
	Ping time.Duration
	// Silent is how long the service may owe a sign of life; 3 s if 0.
	Silent time.Duration

	// Getenv returns the value of an environment variable; os.Getenv if nil.
	Getenv func(string) string
	// Transport sends the requests. If it is nil, the Service uses its own, with the
	// environment's proxy.
	Transport http.RoundTripper
	// Now returns the time; time.Now if nil.
	Now func() time.Time
}

// Entra describes an application of Microsoft Entra that may use the resource.
type Entra struct {
	Tenant, Client string
	SecretEnv      string // the environment variable with the application's secret; "AZURE_CLIENT_SECRET" if empty
	Scope          string // "https://cognitiveservices.azure.com/.default" if empty
	// Authority is the URL of the service for tokens; "https://login.microsoftonline.com" if
	// empty.
	Authority string
}

// invalidURL is what the URLs of keys and tokens must be.
const invalidURL = "must be an http or https URL without a user name"

var entraName = regexp.MustCompile(`^[0-9A-Za-z.-]+$`)

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if _, err := parseURL(o.URL); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(o.Model) == "":
		return errors.New("realtime: Model must be set")
	case o.APIVersion != "" && o.URL == "":
		return errors.New("realtime: an API version requires Azure's URL of the resource, wss://NAME.openai.azure.com")
	case o.Detection != "" && !slices.Contains([]string{DetectServer, DetectSemantic, DetectNone}, o.Detection):
		return fmt.Errorf("realtime: detection is %q: expected %s, %s or %s", o.Detection, DetectServer, DetectSemantic, DetectNone)
	case o.Eagerness != "" && !slices.Contains([]string{"low", "medium", "high", "auto"}, o.Eagerness):
		return fmt.Errorf("realtime: eagerness is %q: expected low, medium, high or auto", o.Eagerness)
	case o.Noise != "" && o.Noise != "near_field" && o.Noise != "far_field":
		return fmt.Errorf("realtime: noise is %q: expected near_field or far_field", o.Noise)
	case o.Format != "" && !slices.Contains([]string{FormatPCM, FormatPCMU, FormatPCMA}, o.Format):
		return fmt.Errorf("realtime: format is %q: expected %s, %s or %s", o.Format, FormatPCM, FormatPCMU, FormatPCMA)
	case o.Silence < 0 || o.Connect < 0 || o.Ping < 0 || o.Silent < 0:
		return errors.New("realtime: silence, connect, ping and silent must not be negative")
	case !(o.Threshold >= 0 && o.Threshold <= 1):
		return fmt.Errorf("realtime: threshold is %g: expected 0 to 1", o.Threshold)
	case o.MaxTokens < 0:
		return fmt.Errorf("realtime: max tokens is %d: expected 0 or more", o.MaxTokens)
	}
	if o.Secrets != "" {
		if _, err := httpclient.ParseURL(o.Secrets, invalidURL, "https", "http"); err != nil {
			return fmt.Errorf("realtime: secrets %w", err)
		}
		if o.Entra != nil {
			return errors.New("realtime: secrets and entra must not both be set")
		}
	}
	return o.Entra.validate()
}

func (e *Entra) validate() error {
	if e == nil {
		return nil
	}
	switch {
	case !entraName.MatchString(e.Tenant):
		return errors.New("realtime: the tenant of entra must be set: a name or an id of letters, digits, dots and hyphens")
	case !entraName.MatchString(e.Client):
		return errors.New("realtime: the client of entra must be set: the id of the application")
	}
	if e.Authority != "" {
		if _, err := httpclient.ParseURL(e.Authority, invalidURL, "https", "http"); err != nil {
			return fmt.Errorf("realtime: the authority of entra %w", err)
		}
	}
	return nil
}

// parseURL parses the endpoint.
func parseURL(text string) (*url.URL, error) {
	if text == "" {
		text = DefaultURL
	}
	u, err := httpclient.ParseBase(text, "must be a wss or ws URL like "+DefaultURL, "wss", "ws")
	if err != nil {
		return nil, fmt.Errorf("realtime: the URL %w", err)
	}
	return u, nil
}

// withDefaults returns o with defaults in place of zero fields.
func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&o.Silence, DefaultSilence}, {&o.Connect, 5 * time.Second}, {&o.Ping, time.Second}, {&o.Silent, 3 * time.Second}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	for _, d := range []struct {
		field *string
		value string
	}{
		{&o.Detection, DetectServer},
		{&o.Eagerness, DefaultEagerness},
		{&o.Transcriber, DefaultTranscriber},
		{&o.Format, FormatPCM},
	} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	if o.Threshold == 0 {
		o.Threshold = DefaultThreshold
	}
	if o.KeyEnv == "" {
		o.KeyEnv = vendorKey(o.URL)
	}
	if o.Entra != nil {
		e := *o.Entra
		for _, d := range []struct {
			field *string
			value string
		}{
			{&e.SecretEnv, "AZURE_CLIENT_SECRET"},
			{&e.Scope, "https://cognitiveservices.azure.com/.default"},
			{&e.Authority, "https://login.microsoftonline.com"},
		} {
			if *d.field == "" {
				*d.field = d.value
			}
		}
		o.Entra = &e
	}
	o.Beta = o.Beta || o.APIVersion != ""
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// vendorKey returns the environment variable with the key for an endpoint, or "" if the
// endpoint belongs to neither vendor or is not reached over TLS.
func vendorKey(text string) string {
	u, err := parseURL(text)
	if err != nil || u.Scheme != "wss" {
		return ""
	}
	switch host := strings.ToLower(u.Hostname()); {
	case host == "api.openai.com":
		return OpenAIKeyEnv
	case azureHost(host):
		return AzureKeyEnv
	default:
		return ""
	}
}

// azureHost reports whether a host is one of Azure OpenAI. Each customer has its own.
func azureHost(host string) bool {
	for _, domain := range []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"} {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

// ForeignKey returns the host that the key of o belongs to if KeyEnv names a vendor's
// customary variable but URL is not that vendor's over TLS, and "" otherwise. The same holds
// for the URL of the secrets. New accepts such options, since the fields were set explicitly.
func (o Options) ForeignKey() string {
	env := o.withDefaults().KeyEnv
	owner := map[string]string{OpenAIKeyEnv: "api.openai.com", AzureKeyEnv: "openai.azure.com"}[env]
	if owner == "" {
		return ""
	}
	if vendorKey(o.URL) != env {
		return owner
	}
	if o.Secrets != "" {
		u, err := url.Parse(o.Secrets)
		if err != nil || u.Scheme != "https" || vendorKey("wss://"+u.Host) != env {
			return owner
		}
	}
	return ""
}

// azure reports whether the endpoint is Azure's.
func (o Options) azure() bool {
	u, err := parseURL(o.URL)
	return o.APIVersion != "" || err == nil && azureHost(strings.ToLower(u.Hostname()))
}

// endpoint returns the URL of the connections.
func (o Options) endpoint() (string, error) {
	u, err := parseURL(o.URL)
	if err != nil {
		return "", err
	}
	if o.APIVersion != "" {
		if !strings.HasSuffix(u.Path, "/openai/realtime") {
			u = u.JoinPath("openai", "realtime")
		}
		u.RawQuery = url.Values{"api-version": {o.APIVersion}, "deployment": {o.Model}}.Encode()
		return u.String(), nil
	}
	u.RawQuery = url.Values{"model": {o.Model}}.Encode()
	return u.String(), nil
}

// format returns the format of the sound in the terms of the protocol.
func (o Options) format() wire.Format {
	switch o.Format {
	case FormatPCMU:
		return wire.Format{Type: wire.PCMU}
	case FormatPCMA:
		return wire.Format{Type: wire.PCMA}
	default:
		return wire.Format{Type: wire.PCM, Rate: 24000}
	}
}

// detection returns the configuration of the turns. The service neither answers nor interrupts
// by itself.
func (o Options) detection() *wire.TurnDetection {
	switch o.Detection {
	case DetectNone:
		return nil
	case DetectSemantic:
		return &wire.TurnDetection{Type: wire.SemanticVAD, Eagerness: o.Eagerness}
	default:
		return &wire.TurnDetection{
			Type: wire.ServerVAD, Threshold: o.Threshold, PrefixPaddingMS: int(prefix.Milliseconds()),
			SilenceDurationMS: int(o.Silence.Milliseconds()),
		}
	}
}

// prefix is the sound before a voice that the service counts as part of it.
const prefix = 300 * time.Millisecond
