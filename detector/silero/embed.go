//go:build silero_embed

package silero

import _ "embed"

// The file must be placed here before a build with this tag. The folder is not in
// the repository.
//
//go:embed weights/silero_vad_v6.onnx
var embedded []byte

// Embedded returns the ONNX file built into the program, and whether there is one.
// The caller must not modify the bytes.
func Embedded() ([]byte, bool) { return embedded, true }
