//go:build peers && pocketsphinx && cgo

package leg_test

import (
	"testing"

	"github.com/hocketvoice/hocket/internal/nettest"
)

// Speech is recognized after a network that loses every tenth packet and delays the
// others by up to 60 ms.
func TestAloneRecognitionBehindBadNetwork(t *testing.T) {
	r := recognizer(t)
	list := phrases(t, 9)
	for _, c := range []struct{ loss, most float64 }{{0, 0.2}, {0.1, 0.35}} {
		got, st, lag := errorRate(t, r, list, nettest.Weather{Loss: c.loss, Jitter: shaken}, len(list))
		for try := 1; lag > keepsUp; try++ {
			if try == 3 {
				t.Skipf("this machine is too busy for %d calls: they lag %v behind", len(list), lag)
			}
			got, st, lag = errorRate(t, r, list, nettest.Weather{Loss: c.loss, Jitter: shaken}, len(list))
		}
		if got > c.most {
			t.Errorf("loss %v: %.0f%% of the words are wrong, want at most %.0f%%", c.loss, 100*got, 100*c.most)
		}
		if c.loss > 0 && (st.Lost == 0 || st.Recovered < st.Lost/3) {
			t.Errorf("of %d lost packets %d are recovered", st.Lost, st.Recovered)
		}
	}
}
