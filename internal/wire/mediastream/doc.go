// Package mediastream encodes and decodes the frames with which telephone carriers stream the
// sound of a call over a WebSocket: those of Twilio, Telnyx and the carriers that share their
// form. The differences between them are a table of dialects.
//
// A decoder accepts members that it does not know and refuses frames that are not what the
// carrier documents. Decoding and encoding sound allocate nothing.
package mediastream
