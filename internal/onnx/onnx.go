package onnx

import (
	"errors"
	"fmt"
	"runtime"
)

// ErrMissing is the error of [Open] in a program that was built without the tag onnx.
var ErrMissing = errors.New("onnx: this program was built without the ONNX Runtime; build with: go build -tags onnx (CGO_ENABLED=1)")

// Library returns the name of the file in which the ONNX Runtime is installed.
func Library() string {
	if runtime.GOOS == "darwin" {
		return "libonnxruntime.dylib"
	}
	return "libonnxruntime.so"
}

// Tensor is an input of a network. Exactly one of Float and Int has the values, row by row.
type Tensor struct {
	Name  string
	Shape []int64
	Float []float32
	Int   []int64
}

// check returns an error if the values do not fill the shape.
func (t Tensor) check() error {
	if (t.Float == nil) == (t.Int == nil) {
		return fmt.Errorf("onnx: input %s: expected either floats or integers", t.Name)
	}
	n := int64(1)
	for _, d := range t.Shape {
		if d < 1 || d > 1<<31 || n > 1<<31 {
			return fmt.Errorf("onnx: input %s has the shape %v: expected positive dimensions", t.Name, t.Shape)
		}
		n *= d
	}
	if have := int64(len(t.Float) + len(t.Int)); have != n {
		return fmt.Errorf("onnx: input %s has %d values: expected %d for the shape %v", t.Name, have, n, t.Shape)
	}
	return nil
}
