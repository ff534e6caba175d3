// Package fake plays the carrier's end of a media stream: it drains what it is sent at the pace
// of the clock, returns marks when the sound before them was played, drops what is cleared, and
// refuses what the carrier's documentation does not allow. Only tests and `hocket fake` may
// import it.
package fake
