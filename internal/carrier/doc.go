// Package carrier provides the call leg of telephone carriers that stream a call's sound over a
// WebSocket. The packages leg/twilio and leg/telnyx answer their calls and open it.
package carrier
