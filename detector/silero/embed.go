//go:build silero_embed

package silero

import _ "embed"

// The weights are put here before the program is built with this tag; the
// folder keeps them out of the repository.
//
//go:embed weights/silero_vad_v6.onnx
var embedded []byte

// Embedded returns the ONNX file that is built into the program, and whether
// there is one. The caller must not change the bytes.
func Embedded() ([]byte, bool) { return embedded, true }
