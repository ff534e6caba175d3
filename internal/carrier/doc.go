// Package carrier provides the call leg of telephone carriers that stream a call's sound over a
// WebSocket. Packages leg/twilio and leg/telnyx answer calls and open it.
package carrier
