//go:build unix

package cli

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// context sets or reads the context of the conversation with the caller's token.
func (c *caller) context(method, body string) (status int, answer string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.urls[0]+"/v1/conversations/"+c.id+"/context", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.access)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(b))
}

// TestContextCrossesNodes checks that the context is set at a server that does not hold
// the conversation, and that what the client was told is there when another server goes
// on with it, after the one that held it was killed without a warning.
func TestContextCrossesNodes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 2, server.Database(t))
	c := &caller{t: t, urls: h.from(0)}
	if !c.call(map[string]any{"transport": "text"}) || !c.follow() {
		t.Fatal("a conversation does not begin")
	}
	c.urls = h.from(1)
	const want = `{"files":{"main.go":{"line":3}},"preferences":{"language":"de"}}`
	if status, answer := c.context("PATCH", want); status != http.StatusOK || answer != want {
		t.Fatalf("status %d, %s", status, answer)
	}
	h.nodes[0].kill()
	c.urls = c.urls[:1]
	c.comeBack()
	if status, answer := c.context("GET", ""); status != http.StatusOK || answer != want {
		t.Errorf("at the other server: status %d, %s", status, answer)
	}
	c.leave()
}
