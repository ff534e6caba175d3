package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/provider/realtime"
)

// UpstreamOptions returns the options of a described speech-to-speech service.
func UpstreamOptions(c config.Upstream) realtime.Options {
	o := realtime.Options{
		Model: c.Name, URL: c.URL, KeyEnv: c.KeyEnv, APIVersion: c.APIVersion, Beta: c.Beta, Secrets: c.Secrets,
		Voice: c.Voice, Detection: c.Detection, Silence: time.Duration(c.Silence), Threshold: float64(c.Threshold),
		Eagerness: c.Eagerness, Transcriber: c.Transcriber, Noise: c.Noise, Format: c.Format, MaxTokens: int(c.MaxTokens),
	}
	if c.Entra != (config.Entra{}) {
		o.Entra = &realtime.Entra{Tenant: c.Entra.Tenant, Client: c.Entra.Client, SecretEnv: c.Entra.SecretEnv}
	}
	return o
}

// ForeignUpstreamKey returns an error if the service of an agent's own file would send a vendor's
// key to another server.
func ForeignUpstreamKey(c *config.Config) error {
	if c.Upstream.Name == "" {
		return nil
	}
	host := UpstreamOptions(c.Upstream).ForeignKey()
	if host == "" {
		return nil
	}
	key := "upstream.secrets"
	if c.Sets("upstream.key_env") {
		key = "upstream.key_env"
	}
	return config.Problems{c.Problem(key, "the key belongs to "+host+": only a config file (--config) may send it to another server")}
}

// UpstreamProblems returns the problems of the sections upstream and upstreams. Keys are checked
// when the services are opened.
func UpstreamProblems(c *config.Config) config.Problems {
	var all config.Problems
	one := func(key string, u config.Upstream) {
		if u.Name == "" {
			return // nothing, or reported already
		}
		if err := UpstreamOptions(u).Validate(); err != nil {
			message := strings.TrimPrefix(err.Error(), "realtime: ")
			if strings.HasPrefix(message, "the URL") || strings.HasPrefix(message, "an API version") {
				key += ".url"
			}
			all = append(all, c.Problem(key, message))
		}
	}
	one("upstream", c.Upstream)
	for i, u := range c.Upstreams {
		key := fmt.Sprintf("upstreams[%d]", i)
		one(key, u)
		if u.Name != "" && slices.ContainsFunc(c.Upstreams[:i], func(o config.Upstream) bool { return o.Name == u.Name }) {
			all = append(all, c.Problem(key+".name", fmt.Sprintf("is %q: another service has this name", u.Name)))
		}
	}
	return all
}
