//go:build !onnx || !cgo || !(linux || darwin)

package onnx

import (
	"errors"
	"strings"
	"testing"
)

func TestOpenSaysWhatIsMissing(t *testing.T) {
	s, err := Open("libonnxruntime.so", "network.onnx")
	if s != nil || !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "-tags onnx") {
		t.Errorf("Open = %v, %v, expected ErrMissing", s, err)
	}
}
