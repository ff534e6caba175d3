// Package carrier provides the call leg of telephone carriers that stream a call's sound over a
// WebSocket. Package leg/twilio answers calls and opens it.
package carrier
