package anthropic

import (
	"errors"
	"net/url"

	"github.com/hocketvoice/hocket/internal/llm"
)

// The defaults.
const (
	DefaultBaseURL   = "https://api.anthropic.com/v1"
	KeyEnv           = "ANTHROPIC_API_KEY"
	DefaultMaxTokens = 4096 // a request must have a limit, and the smallest models take no more
)

// version is that of the API, which every request names.
const version = "2026-10-21"

// Headers of requests, in canonical form.
const (
	headerKey     = "X-Api-Key"
	headerAuth    = "Authorization"
	headerVersion = "Anthropic-Version"
)

// Options configures a [Model]. The Temperature must be nil: the API has none.
type Options struct{ llm.Options }

// service describes Anthropic's API to the options.
func service() llm.Service {
	return llm.Service{
		Name: "anthropic", BaseURL: DefaultBaseURL, Ending: "/messages", Keys: []string{headerKey, headerAuth},
		Members: []string{"model", "messages", "system", "tools", "tool_choice", "stream", "max_tokens", "temperature"},
	}
}

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if o.Temperature != nil {
		return errors.New("anthropic: Temperature must not be set: the API has none since its version " + version)
	}
	return o.withDefaults().Options.Validate(service())
}

// withDefaults returns o with defaults in place of zero fields.
func (o Options) withDefaults() Options {
	if o.MaxTokens == 0 {
		o.MaxTokens = DefaultMaxTokens
	}
	return o
}

// ForeignKey returns the host that the key of o belongs to if KeyEnv names the customary variable
// of a vendor but BaseURL is not that vendor's over TLS, and "" otherwise.
func (o Options) ForeignKey() string { return o.Options.ForeignKey(service()) }

// endpoints returns the URLs of the requests and of the list of models.
func endpoints(base *url.URL) (requests, list *url.URL) {
	return base.JoinPath("messages"), base.JoinPath("models")
}
