//go:build onnx && cgo && (linux || darwin)

package onnx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Built reports whether the program can run networks.
const Built = true

// apiVersion is the version of the C API that is asked for. Newer libraries have it as well.
const apiVersion = 17

// The functions of the C API, by their place in its table (onnxruntime_c_api.h). Places never
// change; new functions are appended.
const (
	getErrorMessage      = 2
	createEnv            = 3
	createSession        = 7
	run                  = 9
	createSessionOptions = 10
	setOptimization      = 23
	setIntraThreads      = 24
	setInterThreads      = 25
	createRunOptions     = 39
	setTerminate         = 46
	createTensor         = 49
	tensorData           = 51
	elementType          = 60
	elementCount         = 64
	typeAndShape         = 65
	createMemoryInfo     = 69
	releaseStatus        = 93
	releaseSession       = 95
	releaseValue         = 96
	releaseRunOptions    = 97
	releaseShape         = 99
	releaseOptions       = 100
	functions            = 101
)

// Values of the enumerations of the C API.
const (
	logFatal      = 4 // errors are returned
	optimizeAll   = 99
	typeFloat     = 1
	typeInt64     = 7
	deviceMemory  = 0 // OrtDeviceAllocator
	memoryDefault = 0 // OrtMemTypeDefault
	maxOutput     = 1 << 26
)

// library is the ONNX Runtime of this process.
type library struct {
	api    *[functions]uintptr
	env    uintptr
	memory uintptr
}

// loaded is the library that the process has opened. One is enough: the path of another is
// ignored.
var loaded struct {
	sync.Mutex
	lib *library
}

// load opens the library, unless it is open. A failure is tried again by the next call.
func load(path string) (*library, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.lib != nil {
		return loaded.lib, nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("onnx: the ONNX Runtime is not installed: %w", err)
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("onnx: open %s: %w", path, err)
	}
	base, err := purego.Dlsym(handle, "OrtGetApiBase")
	if err != nil {
		return nil, fmt.Errorf("onnx: %s is not the ONNX Runtime: %w", path, err)
	}
	table, _, _ := purego.SyscallN(base)
	getAPI := (*uintptr)(pointer(table))
	api, _, _ := purego.SyscallN(*getAPI, apiVersion)
	if api == 0 {
		return nil, fmt.Errorf("onnx: %s is too old: expected a version of the ONNX Runtime from 1.%d on", path, apiVersion)
	}
	l := &library{api: (*[functions]uintptr)(pointer(api))}
	name := cString("hocket")
	if err := l.call(createEnv, logFatal, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&l.env))); err != nil {
		return nil, fmt.Errorf("onnx: start: %w", err)
	}
	if err := l.call(createMemoryInfo, deviceMemory, memoryDefault, uintptr(unsafe.Pointer(&l.memory))); err != nil {
		return nil, fmt.Errorf("onnx: start: %w", err)
	}
	loaded.lib = l
	return l, nil
}

// pointer returns an address of C's memory as a pointer.
func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// cString returns a text as C's strings are.
func cString(s string) []byte { return append([]byte(s), 0) }

// raw calls a function of the API and returns its result. Arguments of the form
// uintptr(unsafe.Pointer(p)) stay where they are during the call.
//
//go:uintptrescapes
func (l *library) raw(f int, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(l.api[f], args...)
	return r
}

// call is like raw, for a function that returns a status.
//
//go:uintptrescapes
func (l *library) call(f int, args ...uintptr) error {
	status := l.raw(f, args...)
	if status == 0 {
		return nil
	}
	defer l.raw(releaseStatus, status)
	return errors.New(goString(l.raw(getErrorMessage, status)))
}

// goString copies a string of C, up to a limit.
func goString(addr uintptr) string {
	const limit = 1000
	if addr == 0 {
		return "unknown error"
	}
	p := (*byte)(pointer(addr))
	n := 0
	for n < limit && *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// Session is a network. It is safe for concurrent use; Close must not be called during a Run.
type Session struct {
	lib  *library
	addr uintptr
}

// Open opens the library at a path, unless the process has opened one already, and reads the
// network in a file.
func Open(library, network string) (*Session, error) {
	l, err := load(library)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(network); err != nil {
		return nil, fmt.Errorf("onnx: the network is not installed: %w", err)
	}
	var options uintptr
	if err := l.call(createSessionOptions, uintptr(unsafe.Pointer(&options))); err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", network, err)
	}
	defer l.raw(releaseOptions, options)
	for _, set := range [][2]uintptr{{setOptimization, optimizeAll}, {setIntraThreads, 1}, {setInterThreads, 1}} {
		if err := l.call(int(set[0]), options, set[1]); err != nil {
			return nil, fmt.Errorf("onnx: %s: %w", network, err)
		}
	}
	s := &Session{lib: l}
	path := cString(network)
	if err := l.call(createSession, l.env, uintptr(unsafe.Pointer(&path[0])), options, uintptr(unsafe.Pointer(&s.addr))); err != nil {
		return nil, fmt.Errorf("onnx: read %s: %w", network, err)
	}
	return s, nil
}

// Close frees the network.
func (s *Session) Close() error {
	if s.addr != 0 {
		s.lib.raw(releaseSession, s.addr)
		s.addr = 0
	}
	return nil
}

// Run computes one output of the network. It returns ctx.Err() when ctx ends, which it notices
// between two operators.
func (s *Session) Run(ctx context.Context, output string, inputs ...Tensor) (_ []float32, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.addr == 0 {
		return nil, errors.New("onnx: the network is closed")
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	pinned := func(text string) *byte {
		b := cString(text)
		pins.Pin(&b[0])
		return &b[0]
	}
	names, values := make([]*byte, len(inputs)), make([]uintptr, len(inputs))
	defer func() {
		for _, v := range values {
			s.release(v)
		}
	}()
	for i, t := range inputs {
		names[i] = pinned(t.Name)
		if values[i], err = s.tensor(t, &pins); err != nil {
			return nil, err
		}
	}
	if len(inputs) == 0 {
		return nil, errors.New("onnx: no input")
	}
	var options uintptr
	if err := s.lib.call(createRunOptions, uintptr(unsafe.Pointer(&options))); err != nil {
		return nil, fmt.Errorf("onnx: run: %w", err)
	}
	defer s.lib.raw(releaseRunOptions, options)
	defer s.interrupt(ctx, options)()

	outputs, out := [1]*byte{pinned(output)}, [1]uintptr{}
	err = s.lib.call(run, s.addr, options,
		uintptr(unsafe.Pointer(&names[0])), uintptr(unsafe.Pointer(&values[0])), uintptr(len(inputs)),
		uintptr(unsafe.Pointer(&outputs[0])), 1, uintptr(unsafe.Pointer(&out[0])))
	defer s.release(out[0])
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("onnx: run: %w", err)
	}
	return s.floats(out[0])
}

// interrupt makes the end of ctx end the run with these options, until the function that it
// returns is called.
func (s *Session) interrupt(ctx context.Context, options uintptr) func() {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		_ = s.lib.call(setTerminate, options) // it cannot fail
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}

// tensor returns a value over the numbers of an input, which must stay pinned.
func (s *Session) tensor(t Tensor, pins *runtime.Pinner) (value uintptr, err error) {
	if err := t.check(); err != nil {
		return 0, err
	}
	var data unsafe.Pointer
	size, kind := uintptr(4*len(t.Float)), uintptr(typeFloat)
	if t.Int != nil {
		data, size, kind = unsafe.Pointer(&t.Int[0]), uintptr(8*len(t.Int)), typeInt64
	} else {
		data = unsafe.Pointer(&t.Float[0])
	}
	pins.Pin(data)
	shape := t.Shape
	if len(shape) == 0 {
		return 0, fmt.Errorf("onnx: input %s has no shape", t.Name)
	}
	if err := s.lib.call(createTensor, s.lib.memory, uintptr(data), size,
		uintptr(unsafe.Pointer(&shape[0])), uintptr(len(shape)), kind, uintptr(unsafe.Pointer(&value))); err != nil {
		return 0, fmt.Errorf("onnx: input %s: %w", t.Name, err)
	}
	return value, nil
}

func (s *Session) release(value uintptr) {
	if value != 0 {
		s.lib.raw(releaseValue, value)
	}
}

// floats copies the numbers of a value.
func (s *Session) floats(value uintptr) ([]float32, error) {
	var info, n, data uintptr
	var kind int32
	if err := s.lib.call(typeAndShape, value, uintptr(unsafe.Pointer(&info))); err != nil {
		return nil, fmt.Errorf("onnx: the output: %w", err)
	}
	defer s.lib.raw(releaseShape, info)
	if err := s.lib.call(elementType, info, uintptr(unsafe.Pointer(&kind))); err != nil {
		return nil, fmt.Errorf("onnx: the output: %w", err)
	}
	if err := s.lib.call(elementCount, info, uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, fmt.Errorf("onnx: the output: %w", err)
	}
	if kind != typeFloat || n > maxOutput {
		return nil, fmt.Errorf("onnx: the output has %d values of type %d: expected at most %d floats", n, kind, maxOutput)
	}
	if n == 0 {
		return nil, nil
	}
	if err := s.lib.call(tensorData, value, uintptr(unsafe.Pointer(&data))); err != nil {
		return nil, fmt.Errorf("onnx: the output: %w", err)
	}
	out := make([]float32, n)
	copy(out, unsafe.Slice((*float32)(pointer(data)), n))
	return out, nil
}
