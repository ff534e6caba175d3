// Package detector contains no code. Its subdirectories are the voice activity
// detectors: silero (a neural network) and energy (without a model). Its tests run
// all detectors over the same recordings and print their results:
//
//	go test -v -run TestReport ./detector
package detector
