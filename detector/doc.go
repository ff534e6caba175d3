// Package detector is the folder of the voice activity detectors, one package
// each: silero (the model) and energy (without a model). It holds no code. Its
// tests run all detectors over the same recordings and print what each one
// finds:
//
//	go test -v -run TestReport ./detector
package detector
