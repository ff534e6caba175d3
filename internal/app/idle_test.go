package app

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/waittest"
)

// BenchmarkIdle measures the memory of an idle conversation by text: that of a server with a
// store after a garbage collection, divided by the conversations. Goal: 300 KB.
func BenchmarkIdle(b *testing.B) {
	const conversations = 1000
	for range b.N {
		before, goroutines := inUse(), runtime.NumGoroutine()
		r := serve(b, fmt.Sprintf("server: {max_conversations: %d, drain: off}\nstore: {path: %q}\n", conversations, filepath.Join(b.TempDir(), "calls.db")))
		empty := inUse()
		for range conversations {
			ask(b, http.MethodPost, r.url+"/v1/conversations", `{"transport": "text"}`)
		}
		waittest.Until(b, "the end of all greetings", r.ended, func() bool {
			return strings.Count(ask(b, http.MethodGet, r.url+"/v1/conversations", ""), `"phase":"listening.ready"`) == conversations
		})
		http.DefaultClient.CloseIdleConnections()
		b.ReportMetric(float64(inUse()-empty)/conversations/1024, "KB/conversation")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/conversations, "goroutines/conversation")
		b.ReportMetric(float64(empty-before)/1024, "KB/server")
		if err := r.end(); err != nil {
			b.Error(err)
		}
	}
}

// inUse returns the memory of the heap and of the stacks after a garbage collection.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // pools keep what they have for one more
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// ask makes a request that succeeds.
func ask(b *testing.B, method, url, body string) string {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		b.Fatalf("%s %s: %v, status %d: %s", method, url, err, resp.StatusCode, text)
	}
	return string(text)
}
