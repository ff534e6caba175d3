// Package plc conceals lost pieces of sound of codecs that cannot do so themselves, such as G.711 and
// G.722: it repeats the last period of the voice, and fades out when more is lost (waveform
// substitution, as in ITU-T Recommendation G.711, appendix I). It decides nothing about what is lost: the
// jitter buffer does.
package plc
