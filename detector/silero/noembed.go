//go:build !silero_embed

package silero

// Embedded returns the ONNX file that is built into the program, and whether
// there is one. The caller must not change the bytes.
func Embedded() ([]byte, bool) { return nil, false }
