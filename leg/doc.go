// Package leg is the folder of the call legs, one package each: file (a caller
// made of recordings) and webrtc (browsers), among others. It holds no code. Its
// tests hold legs and speech recognition together: what a network leaves of the
// words.
//
//	go test -tags pocketsphinx -run '^$' -bench Recognition -benchtime 1x ./leg
package leg
