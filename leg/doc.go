// Package leg contains no code. Its subdirectories are the call legs: device (the
// microphone and speaker of this machine), file (a simulated caller), realtime (clients
// of the OpenAI Realtime protocol), text (a conversation by text) and webrtc
// (browsers). Its tests measure how well speech is recognized after it has passed
// through a lossy network:
//
//	go test -tags pocketsphinx -run '^$' -bench Recognition -benchtime 1x ./leg
package leg
