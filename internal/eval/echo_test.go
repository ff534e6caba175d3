//go:build pocketsphinx && flite && silero_embed && cgo

package eval

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// TestEarsEcho: the agent hears its own voice, and neither stops for it nor answers it; it does
// stop for a caller who speaks over the echo. A few of the calls belong to every test run;
// `make ears` holds all of them.
func TestEarsEcho(t *testing.T) {
	if raceDetector {
		t.Skip("most of it is decoding, three times as slow with the race detector")
	}
	data, err := ReadEchoData(filepath.Join("..", "..", "..", "shared", "data"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recordings are not here: shared/data is a folder beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	data.Voice = "rms" // not the agent's
	n := 8
	if os.Getenv("HOCKET_LONG") != "" {
		n = 200
	}
	s := services(t)
	var mu sync.Mutex
	var sum EchoFigures
	t.Run("calls", func(t *testing.T) {
		for i, c := range EchoCalls(data, 14, n) {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				h, err := c.Hold(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				mu.Lock()
				sum.Add(h)
				mu.Unlock()
				if h.Own() || slices.Contains(h.Yields, -1) {
					t.Logf("%v: %d stops and %d turns of its own; yields %v", &c, h.Stops, h.Turns, h.Yields)
				}
			})
		}
	})
	if sum.Over == 0 {
		t.Fatal("nobody interrupted the agent")
	}
	t.Logf("%d calls with an echo: %d interrupt themselves or answer their own words; %d of %d interruptions caught (%.1f %%), after %v (median), %v (90 %%); %d turns of noise",
		sum.Calls, sum.Own, sum.Caught, sum.Over, share(sum.Caught, sum.Over), sum.Median, sum.Slow, sum.Noise)
	if sum.Own > 0 {
		t.Errorf("%d of %d calls interrupt themselves", sum.Own, sum.Calls)
	}
	if share(sum.Caught, sum.Over) < 95 {
		t.Errorf("%d of %d interruptions were caught", sum.Caught, sum.Over)
	}
}
