package failure

import (
	"net/http"
	"testing"
	"time"
)

// FuzzRetryAfter checks that a requested delay is within its limits.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range [][3]string{
		{"", "3", ""},
		{"1500", "", ""},
		{"NaN", "-Inf", ""},
		{"", "Mon, 05 Jan 2026 09:00:05 GMT", "Mon, 05 Jan 2026 09:00:00 GMT"},
		{"1e400", "0x1p-2", ""},
		{"", "Mon, 05 Jan 9999 09:00:05 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, ms, after, date string) {
		h := http.Header{"Retry-After-Ms": {ms}, "Retry-After": {after}, "Date": {date}}
		if d := After(h, time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)); d < 0 || d > maxAfter {
			t.Fatalf("%q, %q, %q is %v", ms, after, date, d)
		}
	})
}
