package llm

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tmaxmax/go-sse"
)

// FuzzServerError checks that any error response becomes one short line without the
// key.
func FuzzServerError(f *testing.F) {
	const testKey = "sk-test-0123456789abcdef"
	m := New(Config{Vendor: "vendor", Secrets: Secrets(testKey, map[string]string{"X-Gateway": "gateway-secret"})})
	if got := m.failure("UNKNOWN", "you sent %s and %s", testKey, "gateway-secret").Error(); got != "UNKNOWN: vendor: you sent [key] and [header]" {
		f.Errorf("%q", got)
	}
	f.Add([]byte(`{"error":{"message":"Incorrect API key provided: ` + testKey + `","type":"x","code":"invalid_api_key"}}`))
	f.Add([]byte(`[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"30s"}]}}]`))
	f.Add([]byte(`{"response":{"error":{"code":"server_error","message":"x"}}}`))
	f.Add([]byte(`{"error":"x"}`))
	f.Add([]byte(`{"object":"error","message":"x","code":400}`))
	f.Add([]byte(`{"detail":[1]}`))
	f.Add([]byte(`<html>`))
	f.Add([]byte(`{"error":{"message":"a\u0000\n\u2028b","code":1e99}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		failure := m.reported(body)
		text := failure.Error()
		if strings.Contains(text, testKey) || strings.ContainsAny(text, "\n\r\x00\u2028") || len(text) > 1500 || failure.Code == "" {
			t.Errorf("%q", text)
		}
	})
}

func TestBoundedKeepsTheReason(t *testing.T) {
	b := &bounded{r: strings.NewReader("12345"), left: 3}
	got, err := io.ReadAll(b)
	if string(got) != "123" || !errors.Is(err, errTooLong) || !errors.Is(b.err, errTooLong) {
		t.Errorf("%q, error %v, kept %v", got, err, b.err)
	}
	boom := errors.New("boom")
	b = &bounded{r: io.MultiReader(strings.NewReader("data: {"), iotest.ErrReader(boom)), left: 100}
	var told error
	for _, err := range sse.Read(b, nil) {
		told = err
	}
	if errors.Is(told, boom) {
		t.Error("the parser tells what happened: there is no need to keep it any more")
	}
	if !errors.Is(b.err, boom) {
		t.Errorf("kept %v", b.err)
	}
	b = &bounded{r: strings.NewReader("1"), left: 3}
	if _, err := io.ReadAll(b); err != nil || b.err != nil {
		t.Errorf("error %v, kept %v", err, b.err)
	}
}
