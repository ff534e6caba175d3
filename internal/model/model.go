package model

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/provider/anthropic"
	"github.com/hocketvoice/hocket/provider/google"
	"github.com/hocketvoice/hocket/provider/openai"
)

// protocol is what the adapter of a described model knows of it.
type protocol struct {
	baseURL  string // by default
	validate func() error
	foreign  func() string
	open     func() (*llm.Model, error)
}

// of returns the protocol of a described model.
func of(c config.Model) protocol {
	own := llm.Options{Model: c.Name, BaseURL: c.BaseURL, KeyEnv: c.KeyEnv, MaxTokens: int(c.MaxTokens), Window: int(c.Window)}
	switch c.API {
	case llm.Messages:
		o := anthropic.Options{Options: own}
		return protocol{anthropic.DefaultBaseURL, o.Validate, o.ForeignKey, func() (*llm.Model, error) { return anthropic.New(o) }}
	case llm.Gemini:
		o := google.Options{Options: own}
		return protocol{google.DefaultBaseURL, o.Validate, o.ForeignKey, func() (*llm.Model, error) { return google.New(o) }}
	default:
		o := openai.Options{
			Model: c.Name, API: c.API, BaseURL: c.BaseURL, KeyEnv: c.KeyEnv, APIVersion: c.APIVersion,
			Organization: c.Organization, MaxTokens: int(c.MaxTokens), Window: int(c.Window),
		}
		return protocol{openai.DefaultBaseURL, o.Validate, o.ForeignKey, func() (*llm.Model, error) { return openai.New(o) }}
	}
}

// BaseURL returns the URL of a described model's server.
func BaseURL(c config.Model) string { return cmp.Or(c.BaseURL, of(c).baseURL) }

// Host returns the host of a described model's server, for people.
func Host(c config.Model) string {
	base := BaseURL(c)
	if u, err := url.Parse(base); err == nil {
		return u.Host
	}
	return base
}

// New returns a described model. It does not contact the server.
func New(c config.Model) (*llm.Model, error) {
	m, err := of(c).open()
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

// Open returns the model that an agent's own files describe, or nil if they describe none. The
// caller has read the files with settings.OfAgent, which returns c.
func Open(c *config.Config) (*llm.Model, error) {
	if c.Model == (config.Model{}) {
		return nil, nil
	}
	if problems := Problems(c); len(problems) > 0 {
		return nil, problems
	}
	if err := ForeignKey(c); err != nil {
		return nil, err
	}
	return New(c.Model)
}

// ForeignKey returns an error if the model of an agent's own file would send a vendor's key to
// another server.
func ForeignKey(c *config.Config) error {
	return c.ForeignKey(of(c.Model).foreign(), "model", "api_version")
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
			p := c.Problem(key+".base_url", "does not begin with http:// or https://: expected a URL such as "+of(m).baseURL)
			p.Suggestion = url
			all = append(all, p)
		} else if err := of(m).validate(); err != nil {
			if m.BaseURL != "" && strings.Contains(err.Error(), "URL") {
				key += ".base_url"
			}
			_, text, _ := strings.Cut(err.Error(), ": ") // without the name of the adapter
			all = append(all, c.Problem(key, text))
		} else if own := m.API == llm.Messages || m.API == llm.Gemini; own && (m.APIVersion != "" || m.Organization != "") {
			all = append(all, c.Problem(key, fmt.Sprintf("has api_version or organization, which the API %q does not have", m.API)))
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
