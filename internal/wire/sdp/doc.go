// Package sdp reads and writes the descriptions of sessions (RFC 8866) that telephones exchange
// over SIP: who receives which sound where.
//
// Its reader takes what telephones send in practice: lines that end with LF, a last line without
// an end, lines in another order, names with spaces. It keeps what a telephone call needs and
// ignores everything else. The package holds no state.
package sdp
