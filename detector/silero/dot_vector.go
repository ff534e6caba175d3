//go:build !purego

package silero

import "github.com/tphakala/simd/f32"

// dot returns the inner product of two slices of equal length, with the vector
// instructions of amd64 (AVX-512, AVX, SSE) and arm64 (NEON), selected at run time.
func dot(a, b []float32) float32 { return f32.DotProductUnsafe(a, b) }
