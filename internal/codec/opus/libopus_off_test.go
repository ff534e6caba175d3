//go:build !cgo || !libopus

package opus

import "testing"

func TestAgainstLibopus(t *testing.T) {
	t.Skip("libopus is not there: install libopus-dev and test with -tags 'libopus nolibopusfile'")
}
