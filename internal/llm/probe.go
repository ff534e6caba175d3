package llm

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// probeTime limits a Probe.
const probeTime = 10 * time.Second

// Probe requests the server's list of models. It returns a [*port.Failure] if the
// server cannot be reached or refuses the key. The request uses no tokens and does not
// check the model: Probe returns nil if the server has no list, or if its list does not
// contain the model.
func (m *Model) Probe(ctx context.Context) error {
	probe, cancel := context.WithTimeoutCause(ctx, probeTime, &silence{"no list of its models", probeTime})
	defer cancel()
	if m.c.List == "" {
		return nil
	}
	req, err := http.NewRequestWithContext(probe, http.MethodGet, m.c.List, http.NoBody)
	if err != nil {
		return fmt.Errorf("%s: %w", m.c.Vendor, err)
	}
	req.Header = m.c.Header.Clone()
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
	if readServerError(body).badKey() {
		return m.refused(res, body)
	}
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusPaymentRequired, http.StatusProxyAuthRequired:
		return m.refused(res, body)
	default:
		return nil
	}
}
