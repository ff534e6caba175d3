//go:build !purego

package silero

import "github.com/tphakala/simd/f32"

// dot is the inner product of two slices of one length, with the vector
// instructions of amd64 (AVX-512, AVX, SSE) and arm64 (NEON), chosen when the
// program runs.
func dot(a, b []float32) float32 { return f32.DotProductUnsafe(a, b) }
