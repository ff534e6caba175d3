// Package webrtc provides the call leg of browsers: Opus in both directions and a
// channel for text messages over one WebRTC connection, with one UDP port for all
// calls.
//
// A [Server] answers offers; each answer creates a [Leg]. The leg outlives its
// connection: when the connection is lost, the leg waits for an ICE restart
// ([Leg.Renegotiate]) or a new connection of the same person ([Leg.Reattach]), and
// the conversation continues. The package does not decide who may call.
//
// Every leg has its own goroutines in addition to those of the WebRTC library.
// Leg.Close waits for all of them, and Server.Close for all legs.
package webrtc
