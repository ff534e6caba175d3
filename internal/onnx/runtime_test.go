//go:build onnx && cgo && (linux || darwin)

package onnx

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// installed returns the path of the library, or skips the test.
func installed(t *testing.T) string {
	t.Helper()
	path := filepath.Join("..", "..", "third_party", "models", Library())
	if _, err := os.Stat(path); err != nil {
		t.Skip("the ONNX Runtime is not installed: make deps")
	}
	return path
}

func open(t *testing.T, name string) *Session {
	t.Helper()
	s, err := Open(installed(t), filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestRun adds floats and integers, at once by several goroutines.
func TestRun(t *testing.T) {
	s := open(t, "sum.onnx")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				x, k := []float32{0.5, float32(i), -1}, []int64{1, 2, int64(i)}
				got, err := s.Run(t.Context(), "y", Tensor{"x", []int64{3}, x, nil}, Tensor{"k", []int64{3}, nil, k})
				if want := []float32{1.5, float32(i) + 2, float32(i) - 1}; err != nil || !slices.Equal(got, want) {
					t.Errorf("Run = %v, %v, expected %v", got, err, want)
				}
			}
		})
	}
	all.Wait()
}

// TestRunRefuses: wrong inputs are errors that say what is wrong.
func TestRunRefuses(t *testing.T) {
	s := open(t, "sum.onnx")
	x, k := Tensor{"x", []int64{2}, []float32{1, 2}, nil}, Tensor{"k", []int64{2}, nil, []int64{1, 2}}
	for _, tc := range []struct {
		name, output, want string
		in                 []Tensor
	}{
		{"no input", "y", "no input", nil},
		{"one input", "y", "k", []Tensor{x}},
		{"unknown output", "z", "z", []Tensor{x, k}},
		{"unknown input", "y", "v", []Tensor{x, {"v", []int64{2}, nil, []int64{1, 2}}}},
		{"too few values", "y", "has 2 values: expected 3", []Tensor{x, {"k", []int64{3}, nil, []int64{1, 2}}}},
		{"a negative dimension", "y", "positive dimensions", []Tensor{x, {"k", []int64{-2}, nil, []int64{1, 2}}}},
		{"no shape", "y", "has 2 values", []Tensor{x, {"k", nil, nil, []int64{1, 2}}}},
		{"both kinds", "y", "either floats or integers", []Tensor{x, {"k", []int64{1}, []float32{1}, []int64{1}}}},
		{"the wrong kind", "y", "data type", []Tensor{x, {"k", []int64{2}, []float32{1, 2}, nil}}},
	} {
		if got, err := s.Run(t.Context(), tc.output, tc.in...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, %v, expected an error with %q", tc.name, got, err, tc.want)
		}
	}
	if got, err := s.Run(t.Context(), "y", x, k); err != nil || len(got) != 2 {
		t.Errorf("after errors: %v, %v", got, err)
	}
}

// TestRunEndsWithItsContext: the end of the context ends a computation that would take minutes.
func TestRunEndsWithItsContext(t *testing.T) {
	s := open(t, "endless.onnx")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, "y", Tensor{"x", []int64{1}, []float32{1}, nil})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected the context's error", err)
	}
}

// TestOpenRefuses: what is not there or is something else is an error, and the library is tried
// again.
func TestOpenRefuses(t *testing.T) {
	library := installed(t)
	if _, err := Open(library, filepath.Join("testdata", "none.onnx")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing network: %v", err)
	}
	if _, err := Open(library, filepath.Join("testdata", "networks.py")); err == nil || !strings.Contains(err.Error(), "networks.py") {
		t.Errorf("a file that is no network: %v", err)
	}
	loaded.Lock()
	before := loaded.lib
	loaded.lib = nil
	loaded.Unlock()
	defer func() {
		loaded.Lock()
		loaded.lib = before
		loaded.Unlock()
	}()
	if _, err := load(filepath.Join(t.TempDir(), Library())); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("a missing library: %v", err)
	}
	if _, err := load(filepath.Join("testdata", "sum.onnx")); err == nil || !strings.Contains(err.Error(), "sum.onnx") {
		t.Errorf("a file that is no library: %v", err)
	}
}

// TestClosed: a closed network is an error.
func TestClosed(t *testing.T) {
	s := open(t, "sum.onnx")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, err := s.Run(t.Context(), "y", Tensor{"x", []int64{1}, []float32{1}, nil}); err == nil {
		t.Error("a closed network runs")
	}
}
