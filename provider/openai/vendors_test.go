package openai

import (
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/llm"
)

// TestVendorsKeyGoesToTheVendor checks that without KeyEnv each vendor's own host gets
// its own key, over TLS, and no other host gets a key.
func TestVendorsKeyGoesToTheVendor(t *testing.T) {
	env := func(name string) string { return "secret of " + name }
	for _, v := range llm.Vendors() {
		own := Options{BaseURL: v.BaseURL, Model: v.Model, Getenv: env}.withDefaults()
		if key, err := llm.Key("openai", own.KeyEnv, env); err != nil || key != "secret of "+v.KeyEnv {
			t.Errorf("%s gets %q, %v", v.Name, key, err)
		}
		for _, url := range []string{
			strings.Replace(v.BaseURL, "https:", "http:", 1),
			strings.Replace(v.BaseURL, v.Host(), v.Host()+".example", 1),
			strings.Replace(v.BaseURL, v.Host(), "evil-"+v.Host(), 1),
			"http://localhost:11434/v1",
		} {
			other := Options{BaseURL: url, Model: "m", Getenv: env}.withDefaults()
			if key, err := llm.Key("openai", other.KeyEnv, env); err != nil || key != "" {
				t.Errorf("%s gets %q, %v", url, key, err)
			}
			if host := (Options{BaseURL: url, KeyEnv: v.KeyEnv}).ForeignKey(); host != v.Host() {
				t.Errorf("the key of %s for %s is told to belong to %q", v.Name, url, host)
			}
		}
		if host := (Options{BaseURL: v.BaseURL, KeyEnv: v.KeyEnv}).ForeignKey(); host != "" {
			t.Errorf("the own key of %s is told to belong to %q", v.Name, host)
		}
	}
	if host := (Options{BaseURL: "http://localhost:1/v1", KeyEnv: "MY_KEY"}).ForeignKey(); host != "" {
		t.Errorf("MY_KEY is told to belong to %q", host)
	}
	if host := (Options{BaseURL: "http://localhost:1", APIVersion: "2024-10-21"}).ForeignKey(); host != "openai.azure.com" {
		t.Errorf("Azure's key at a host that says it is Azure is told to belong to %q", host)
	}
	if host := (Options{BaseURL: "https://x.openai.azure.com", KeyEnv: AzureKeyEnv}).ForeignKey(); host != "" {
		t.Errorf("Azure's key at Azure is told to belong to %q", host)
	}
}
