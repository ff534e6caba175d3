// Package onnx runs neural networks in the ONNX format with the shared library of the ONNX
// Runtime, which it opens at run time. It is built with the tag "onnx" on Linux and macOS;
// without it, [Open] returns [ErrMissing] and the program needs no dynamic linker.
//
// The library is opened once for the process and never closed. A [Session] uses one thread
// for each Run, the caller's.
package onnx
