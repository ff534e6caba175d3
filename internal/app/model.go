package app

import (
	"fmt"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/openai"
)

// NewModel makes the language model that the config names, and what ends it. It
// is nil where the config names none.
func NewModel(c config.Model) (_ port.Model, end func() error, err error) {
	if c == (config.Model{}) {
		return nil, func() error { return nil }, nil
	}
	m, err := openai.New(openai.Options{
		Model: c.Name, BaseURL: c.BaseURL, KeyEnv: c.KeyEnv, APIVersion: c.APIVersion,
		Organization: c.Organization, MaxTokens: int(c.MaxTokens),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("model: %w", err)
	}
	return m, m.Close, nil
}
