// Package provider contains no code. Its subdirectories are the speech services and
// models, one package for each vendor or protocol, which internal/app chooses and
// builds. The tests of this package check them against the rules of their ports.
package provider
