// Package sip provides calls over SIP (RFC 3261) with no carrier between: it listens for calls of
// telephones, exchanges and trunks, and carries their sound over RTP. The library sipgo does the
// transactions; dialogs, sessions and the sound are decided here.
package sip
