// Package webrtc is the call leg of browsers: Opus both ways and a channel for
// text messages over one WebRTC connection, on one UDP port for all calls.
//
// A [Server] answers offers; each answer makes a [Leg]. The leg outlives its
// connection: when the line is lost it waits for another one, by an ICE restart
// ([Leg.Renegotiate]) or by a new connection of the same person
// ([Leg.Reattach]), and the conversation above it goes on. It decides nothing
// about the conversation, and nothing about who may call.
//
// Every leg has goroutines of its own, beside those of the WebRTC library; Close
// waits for all of them, and Server.Close for all legs.
package webrtc
