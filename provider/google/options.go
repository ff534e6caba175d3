package google

import (
	"fmt"
	"net/url"
	"regexp"

	"github.com/hocketvoice/hocket/internal/llm"
)

// The defaults.
const (
	DefaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"
	KeyEnv         = "GEMINI_API_KEY"
)

// headerKey carries the key, in canonical form.
const headerKey = "X-Goog-Api-Key"

// Options configures a [Model].
type Options struct {
	llm.Options
	// Thinking is the number of tokens that the model may spend on thoughts; nil means its
	// default, which most models need for a while before they answer.
	Thinking *int
}

// service describes Google's API to the options.
func service() llm.Service {
	return llm.Service{
		Name: "google", BaseURL: DefaultBaseURL, Ending: "/models", Keys: []string{headerKey, "Authorization"},
		Members: []string{"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"},
		Hottest: 2,
	}
}

var modelName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if err := o.Options.Validate(service()); err != nil {
		return err
	}
	if !modelName.MatchString(o.Model) {
		return fmt.Errorf("google: Model is %q: expected a name such as gemini-2.5-flash", o.Model)
	}
	return nil
}

// ForeignKey returns the host that the key of o belongs to if KeyEnv names the customary variable
// of a vendor but BaseURL is not that vendor's over TLS, and "" otherwise.
func (o Options) ForeignKey() string { return o.Options.ForeignKey(service()) }

// endpoints returns the URLs of the requests and of the list of models.
func (o Options) endpoints(base *url.URL) (requests, list *url.URL) {
	requests = base.JoinPath("models", o.Model+":streamGenerateContent")
	requests.RawQuery = "alt=sse"
	return requests, base.JoinPath("models")
}
