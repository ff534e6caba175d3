// Package silero is the voice activity detector Silero VAD, version 6, computed
// in Go over the published weights. Version 5 is the same network, and its file
// is read as well.
//
// It decides one thing: how likely a window of 32 ms holds speech. It never
// decides whether somebody has the floor (package turn does), never resamples
// and never looks for its weights on its own: the caller names a file, hands
// over a [Model], or builds the program with the tag silero_embed.
//
// A [Model] holds the weights, about 0.9 MB, and is shared by every stream. A
// stream holds the network's memory of one sound, the window that is being
// filled and its working space, about 14 KB.
//
// The network is the 16 kHz branch of the graph that snakers4/silero-vad
// publishes under the MIT licence: 64 samples of left context and 512 new ones,
// reflected by 64 on the right; a short-time Fourier transform of 256 points
// every 128 samples; its magnitude; four convolutions over time, each with a
// ReLU; one LSTM cell of 128; ReLU; a weighted sum; a sigmoid. The tests compare
// it with onnxruntime, window by window.
//
// The weights are never part of the repository. The file that the tests know is
// silero_vad_v6.onnx of the npm package @ricky0123/vad-web, version 0.0.31.
package silero
