//go:build !onnx || !cgo || !(linux || darwin)

package onnx

import "context"

// Built reports whether the program can run networks.
const Built = false

// Session is a placeholder for a network, which this program cannot run.
type Session struct{}

// Open returns [ErrMissing].
func Open(_, _ string) (*Session, error) { return nil, ErrMissing }

// Run returns [ErrMissing].
func (*Session) Run(context.Context, string, ...Tensor) ([]float32, error) { return nil, ErrMissing }

// Close does nothing.
func (*Session) Close() error { return nil }
