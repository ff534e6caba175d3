package model

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/provider/openai"
)

// Options returns the options of a described model.
func Options(c config.Model) openai.Options {
	return openai.Options{
		Model: c.Name, BaseURL: c.BaseURL, KeyEnv: c.KeyEnv, APIVersion: c.APIVersion,
		Organization: c.Organization, MaxTokens: int(c.MaxTokens),
	}
}

// Open returns the model that an agent's own files describe, or nil if they describe none. The
// caller has read the files with settings.OfAgent, which returns c.
func Open(c *config.Config) (*openai.Model, error) {
	if c.Model == (config.Model{}) {
		return nil, nil
	}
	if problems := Problems(c); len(problems) > 0 {
		return nil, problems
	}
	if err := ForeignKey(c); err != nil {
		return nil, err
	}
	m, err := openai.New(Options(c.Model))
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

// ForeignKey returns an error if the model of an agent's own file would send a vendor's key to
// another server.
func ForeignKey(c *config.Config) error {
	return c.ForeignKey(Options(c.Model).ForeignKey(), "model", "api_version")
}

// Problems returns the problems of the sections model and models. Keys are checked when the
// models are opened.
func Problems(c *config.Config) config.Problems {
	var all config.Problems
	one := func(key string, m config.Model) {
		if m.Name == "" {
			return // nothing, or reported already
		}
		if url := baseURL(m.BaseURL); url != m.BaseURL {
			p := c.Problem(key+".base_url", "does not begin with http:// or https://: expected a URL such as "+openai.DefaultBaseURL)
			p.Suggestion = url
			all = append(all, p)
		} else if err := Options(m).Validate(); err != nil {
			if m.BaseURL != "" {
				key += ".base_url"
			}
			all = append(all, c.Problem(key, strings.TrimPrefix(err.Error(), "openai: ")))
		}
	}
	one("model", c.Model)
	for i, m := range c.Models {
		key := fmt.Sprintf("models[%d]", i)
		one(key, m)
		if m.Name != "" && slices.ContainsFunc(c.Models[:i], func(o config.Model) bool { return o.Name == m.Name }) {
			all = append(all, c.Problem(key+".name", fmt.Sprintf("is %q: another model has this name", m.Name)))
		}
	}
	return all
}

// baseURL adds the likely scheme to a URL without one.
func baseURL(text string) string {
	if text == "" || strings.Contains(text, "://") || strings.Contains(text, "@") {
		return text
	}
	host, _, _ := strings.Cut(text, "/")
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if ip := net.ParseIP(strings.Trim(host, "[]")); host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsPrivate()) {
		return "http://" + text
	}
	return "https://" + text
}
