package openai

import (
	"net/url"
	"strings"
)

// Vendor is a company that offers models over the protocol of this package.
type Vendor struct {
	Name    string
	BaseURL string
	KeyEnv  string // the customary environment variable for the key
	Model   string // a small, fast model for conversations
}

// Vendors returns the known vendors, OpenAI first. Azure is not among them, since each
// of its customers has a host of its own.
func Vendors() []Vendor {
	return []Vendor{
		{"OpenAI", DefaultBaseURL, OpenAIKeyEnv, "gpt-4o-mini"},
		{"Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "llama-3.3-70b-versatile"},
		{"Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral-small-latest"},
		{"Google", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", "gemini-2.5-flash"},
		{"Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "claude-haiku-4-5"},
		{"OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openai/gpt-4o-mini"},
		{"Together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", "meta-llama/Llama-3.3-70B-Instruct-Turbo"},
		{"DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-chat"},
		{"xAI", "https://api.x.ai/v1", "XAI_API_KEY", "grok-3-mini"},
	}
}

// host returns the host of a vendor's URL.
func (v Vendor) host() string {
	u, err := url.Parse(v.BaseURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// vendorKey returns the environment variable with the key for an endpoint, or "" if the
// endpoint does not belong to a vendor or is not reached over TLS.
func vendorKey(base string) string {
	u, err := parseBase(base)
	if err != nil || u.Scheme != "https" {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if strings.HasSuffix(host, ".openai.azure.com") {
		return AzureKeyEnv
	}
	for _, v := range Vendors() {
		if host == v.host() {
			return v.KeyEnv
		}
	}
	return ""
}

// ForeignKey returns the host that the key of o belongs to if KeyEnv names a vendor's
// customary variable but BaseURL is not that vendor's over TLS, and "" otherwise. New
// accepts such options, since both fields were set explicitly.
func (o Options) ForeignKey() string {
	env := o.withDefaults().KeyEnv
	if env == "" || vendorKey(o.BaseURL) == env {
		return ""
	}
	if env == AzureKeyEnv {
		return "openai.azure.com"
	}
	for _, v := range Vendors() {
		if env == v.KeyEnv {
			return v.host()
		}
	}
	return ""
}
