// Package smartturn hears whether a speaker who is silent has finished, with the network Smart
// Turn v3 (pipecat-ai/smart-turn). It implements port.EndOfTurn.
//
// The network reads the last eight seconds of a turn as a log-mel spectrogram, the one of
// Whisper, which the package computes in Go. The ONNX Runtime computes the network
// (internal/onnx); it is not part of every build, and [New] then returns an error that says so.
//
// A computation takes a tenth of a second of one core. It must therefore be asked for at a
// pause alone, never for each frame. All models of a process compute one at a time.
package smartturn
