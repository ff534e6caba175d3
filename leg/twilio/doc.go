// Package twilio answers calls of Twilio numbers. A call's sound comes over a WebSocket, as
// Twilio's Media Streams define it ("Media Streams - WebSocket Messages"), and so does the
// agent's.
package twilio
