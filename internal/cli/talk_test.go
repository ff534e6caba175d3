//go:build !sound

package cli

import (
	"strings"
	"testing"
)

// TestTalkWithoutSoundDevices checks that talk and call --play name the cause when they
// cannot use a sound device.
func TestTalkWithoutSoundDevices(t *testing.T) {
	for _, args := range [][]string{
		{"talk", "--agent", flights},
		{"call", "--agent", flights, "--say", "hello", "--play"},
	} {
		out, stderr, status := run(t, "", args...)
		if strings.Contains(stderr, "this binary was built without the") {
			t.Skip("there are no speech engines")
		}
		if status != statusFinding || out != "" || !strings.Contains(stderr, "no sound device") {
			t.Errorf("%v: status %d, %q, %q", args, status, out, stderr)
		}
	}
}
