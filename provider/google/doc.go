// Package google implements port.Model with Google's Gemini API.
//
// The package writes the documented JSON itself. Google's own SDK, google.golang.org/genai, makes
// a program 11 MB larger (20.3 instead of 8.9 MB, Go 1.26, linux/amd64), because it brings gRPC,
// OpenCensus and the credentials of Google Cloud, and reads environment variables. The wire needs
// none of them.
//
// Source: https://ai.google.dev/api/generate-content.
package google
