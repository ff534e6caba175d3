package openai

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/llm"
)

// DefaultBaseURL is the endpoint of OpenAI.
const DefaultBaseURL = "https://api.openai.com/v1"

// The environment variables of the key if [Options].KeyEnv is empty.
const (
	OpenAIKeyEnv = "OPENAI_API_KEY"
	AzureKeyEnv  = llm.AzureKeyEnv
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
	// known vendors use the vendor's, Azure [AzureKeyEnv], and other servers no key, so that
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

	// API is [llm.Chat] or [llm.Responses]; the former if empty.
	API string

	// MaxTokens limits the length of a reply; 0 means the server's default.
	MaxTokens int
	// Window is the number of tokens that the model takes; 0 means that no request is cut:
	// see [llm.Cut].
	Window int
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
	case o.API != "" && o.API != llm.Chat && o.API != llm.Responses:
		return fmt.Errorf("openai: API is %q: expected %s or %s", o.API, llm.Chat, llm.Responses)
	case o.APIVersion != "" && o.BaseURL == "":
		return errors.New("openai: an API version requires Azure's base URL of the resource, https://NAME.openai.azure.com")
	case o.APIVersion != "" && o.API == llm.Responses:
		return errors.New("openai: the Responses API has no API version: expected Azure's base URL https://NAME.openai.azure.com/openai/v1")
	case o.MaxTokensField != "" && o.MaxTokensField != FieldMaxTokens && o.MaxTokensField != FieldMaxCompletionTokens:
		return fmt.Errorf("openai: max tokens field is %q: expected %s or %s", o.MaxTokensField, FieldMaxTokens, FieldMaxCompletionTokens)
	case o.Temperature != nil && !(*o.Temperature >= 0 && *o.Temperature <= 2):
		return fmt.Errorf("openai: temperature is %g: expected 0 to 2", *o.Temperature)
	}
	if err := llm.CheckCommon("openai", o.Model, o.MaxTokens, o.Window, o.limits()); err != nil {
		return err
	}
	if err := llm.CheckHeaders("openai", o.Headers, []string{headerAuth, headerAPIKey}); err != nil {
		return err
	}
	for _, v := range []string{o.Organization, o.Project} {
		if !llm.Printable(v) {
			return errors.New("openai: organization and project must not contain control characters")
		}
	}
	_, err := llm.Extra("openai", o.Extra, o.members())
	return err
}

// limits returns the limits of the requests.
func (o Options) limits() llm.Limits {
	return llm.Limits{Connect: o.Connect, FirstChunk: o.FirstChunk, Stall: o.Stall, MaxEvent: o.MaxEvent, MaxReply: o.MaxReply}
}

// Headers set by the package, in canonical form.
const (
	headerAuth   = "Authorization"
	headerAPIKey = "Api-Key"
	headerOrg    = "Openai-Organization"
	headerProj   = "Openai-Project"
)

// parseBase parses a base URL.
func parseBase(base string) (*url.URL, error) {
	u, err := llm.ParseBase("openai", base, DefaultBaseURL)
	if err != nil {
		return nil, err
	}
	for _, ending := range []string{"/chat/completions", "/responses"} {
		if strings.HasSuffix(u.Path, ending) {
			return nil, fmt.Errorf("openai: the base URL must not include %s", ending)
		}
	}
	return u, nil
}

// withDefaults returns o with defaults in place of zero fields.
func (o Options) withDefaults() Options {
	if o.MaxTokensField == "" {
		o.MaxTokensField = FieldMaxTokens
		if o.azure() || o.vendor() {
			o.MaxTokensField = FieldMaxCompletionTokens
		}
	}
	if o.KeyEnv == "" && o.APIVersion != "" {
		o.KeyEnv = AzureKeyEnv
	} else if o.KeyEnv == "" {
		o.KeyEnv = llm.VendorKey(cmp.Or(o.BaseURL, DefaultBaseURL))
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
	if o.API == llm.Responses {
		return u.JoinPath("responses"), nil
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

// ForeignKey returns the host that the key of o belongs to if KeyEnv names a vendor's
// customary variable but BaseURL is not that vendor's over TLS, and "" otherwise. New
// accepts such options, since both fields were set explicitly.
func (o Options) ForeignKey() string {
	return llm.ForeignHost(o.withDefaults().KeyEnv, cmp.Or(o.BaseURL, DefaultBaseURL))
}

// members returns the request's members that the package writes itself.
func (o Options) members() []string {
	if o.API == llm.Responses {
		return responsesMembers()
	}
	return []string{
		"model", "messages", "tools", "stream", "stream_options", "response_format", "n",
		FieldMaxTokens, FieldMaxCompletionTokens, "temperature", "seed",
	}
}
