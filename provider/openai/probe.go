package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// probeTime limits a Probe.
const probeTime = 10 * time.Second

// Probe asks the server for its list of models and returns a [*port.Failure] if it is not
// reached or refuses the key. It costs nothing and says nothing about the model: servers that
// do not have the list, or not this model in it, pass.
func (m *Model) Probe(ctx context.Context) error {
	probe, cancel := context.WithTimeoutCause(ctx, probeTime, &silence{"no list of its models", probeTime})
	defer cancel()
	url, ok := strings.CutSuffix(m.url, "/chat/completions")
	if !ok {
		return nil // Azure's deployments
	}
	req, err := http.NewRequestWithContext(probe, http.MethodGet, url+"/models", http.NoBody)
	if err != nil {
		return fmt.Errorf("openai: %w", err)
	}
	req.Header = m.header.Clone()
	req.Header.Del("Content-Type")
	req.Header.Set("Accept", "application/json")
	res, err := m.client.Do(req)
	if err != nil {
		return m.broken(ctx, probe, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if err != nil {
		return m.broken(ctx, probe, err)
	}
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusPaymentRequired, http.StatusProxyAuthRequired:
		return m.refused(res, body)
	default:
		return nil
	}
}
