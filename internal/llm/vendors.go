package llm

import (
	"net/url"
	"strings"
)

// The names of the protocols.
const (
	Chat      = "chat"      // OpenAI's chat completions
	Responses = "responses" // OpenAI's Responses API
	Messages  = "anthropic" // Anthropic's Messages API
	Gemini    = "google"    // Google's Gemini API
)

// APIs returns the names of the protocols, that of most servers first.
func APIs() []string { return []string{Chat, Responses, Messages, Gemini} }

// Vendor is a company that offers language models.
type Vendor struct {
	Name    string
	API     string // the protocol
	BaseURL string
	KeyEnv  string // the customary environment variable for the key
	Model   string // a small, fast model for conversations
}

// AzureKeyEnv is the customary variable for a key of Azure OpenAI, each of whose customers has a
// host of its own.
const AzureKeyEnv = "AZURE_OPENAI_API_KEY"

const azure = "openai.azure.com"

// Vendors returns the known vendors, OpenAI first.
func Vendors() []Vendor {
	return []Vendor{
		{"OpenAI", Chat, "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-4o-mini"},
		{"Anthropic", Messages, "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "claude-haiku-4-5"},
		{"Google", Gemini, "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY", "gemini-2.5-flash"},
		{"Groq", Chat, "https://api.groq.com/openai/v1", "GROQ_API_KEY", "llama-3.3-70b-versatile"},
		{"Mistral", Chat, "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral-small-latest"},
		{"OpenRouter", Chat, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openai/gpt-4o-mini"},
		{"Together", Chat, "https://api.together.xyz/v1", "TOGETHER_API_KEY", "meta-llama/Llama-3.3-70B-Instruct-Turbo"},
		{"DeepSeek", Chat, "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-chat"},
		{"xAI", Chat, "https://api.x.ai/v1", "XAI_API_KEY", "grok-3-mini"},
	}
}

// Host returns the host of a vendor's URL.
func (v Vendor) Host() string { return hostname(v.BaseURL) }

// hostname returns the host of a URL in small letters, or "".
func hostname(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// VendorKey returns the environment variable with the key for an endpoint, or "" if the
// endpoint does not belong to a vendor or is not reached over TLS.
func VendorKey(base string) string {
	if !strings.HasPrefix(strings.ToLower(base), "https:") {
		return ""
	}
	host := hostname(base)
	if strings.HasSuffix(host, "."+azure) {
		return AzureKeyEnv
	}
	for _, v := range Vendors() {
		if host == v.Host() {
			return v.KeyEnv
		}
	}
	return ""
}

// ForeignHost returns the host that the key in env belongs to if env is a vendor's customary
// variable but base is not that vendor's over TLS, and "" otherwise.
func ForeignHost(env, base string) string {
	if env == "" || VendorKey(base) == env {
		return ""
	}
	if env == AzureKeyEnv {
		return azure
	}
	for _, v := range Vendors() {
		if env == v.KeyEnv {
			return v.Host()
		}
	}
	return ""
}
