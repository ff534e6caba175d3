package failure

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		ms, after, date string
		want            time.Duration
	}{
		{"", "", "", 0},
		{"", "20", "", 20 * time.Second},
		{"", "0.5", "", time.Second / 2},
		{"250", "20", "", 250 * time.Millisecond},
		{"", "-3", "", 0},
		{"", "NaN", "", 0},
		{"", "1e300", "", maxAfter},
		{"", "soon", "", 0},
		{"", "Sat, 01 Aug 2026 12:00:09 GMT", "", 9 * time.Second},
		{"", "Sat, 01 Aug 2026 12:00:09 GMT", "Sat, 01 Aug 2026 12:00:05 GMT", 4 * time.Second},
		{"", "Sat, 01 Aug 2026 11:00:00 GMT", "", 0},
	} {
		h := http.Header{}
		for name, value := range map[string]string{"Retry-After-Ms": test.ms, "Retry-After": test.after, "Date": test.date} {
			if value != "" {
				h.Set(name, value)
			}
		}
		if got := After(h, now); got != test.want {
			t.Errorf("%v: %v, expected %v", h, got, test.want)
		}
	}
}
