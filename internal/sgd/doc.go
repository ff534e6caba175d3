// Package sgd measures the dialogue engine on conversations of others, the Schema-Guided
// Dialogue dataset. It is tests alone: it reads files that are not in this repository, which no
// test of a deterministic package may need, and skips where they are absent.
package sgd
