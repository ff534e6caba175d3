package porttest

import (
	"io"
	"strings"
	"testing"
)

// TestHostedOptions checks that options are refused with an error that contains their key, by
// each of the functions that open something with them, and accepted if the key is empty.
func TestHostedOptions[O any](t *testing.T, cases map[string]O, open ...func(O) (io.Closer, error)) {
	for want, o := range cases {
		for i, open := range open {
			c, err := open(o)
			switch {
			case err == nil && want != "":
				t.Errorf("%+v is accepted by function %d, want %q", o, i, want)
			case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
				t.Errorf("%+v: %v, want %q", o, err, want)
			}
			if err == nil {
				_ = c.Close() // nothing was done with it
			}
		}
	}
}

// HostedEnv returns the environment in which every variable is the key of services under test.
func HostedEnv(string) string { return HostedKey }
