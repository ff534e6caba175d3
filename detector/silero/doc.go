// Package silero implements the voice activity detector Silero VAD, version 6, in
// Go with the published weights. It can also read version 5, which is the same
// network.
//
// It computes the probability that a window of 32 ms contains speech. It does not
// decide who has the floor (package turn does), resample, or search for weights:
// the caller names a file, passes a [Model], or builds the program with the tag
// silero_embed.
//
// A [Model] contains the weights, about 0.9 MB, and is shared by all streams. A
// stream contains the network's state, the current window and its working memory,
// about 14 KB.
//
// The network is the 16 kHz branch of the graph that snakers4/silero-vad publishes
// under the MIT license: 64 samples of left context and 512 new ones, reflected by
// 64 on the right; a short-time Fourier transform of 256 points every 128 samples;
// its magnitude; four convolutions over time, each with a ReLU; one LSTM cell of
// 128; ReLU; a weighted sum; a sigmoid. Tests compare it with onnxruntime, window
// by window.
//
// The repository does not contain the weights. Tests use the file
// silero_vad_v6.onnx of the npm package @ricky0123/vad-web, version 0.0.31.
package silero
