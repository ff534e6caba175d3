//go:build !cgo || !sound

package device

import "fmt"

func openDevice(int, int, int, func(_, _ []int16), func()) (stream, error) {
	return nil, fmt.Errorf("%w: this build has no support for them (it needs cgo and the build tag sound)", ErrNoSound)
}
