//go:build !silero_embed

package silero

// Embedded returns the ONNX file built into the program, and whether there is one.
// The caller must not modify the bytes.
func Embedded() ([]byte, bool) { return nil, false }
