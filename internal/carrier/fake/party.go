package fake

import (
	"strings"
	"time"
)

// Party is somebody who is called. The zero value answers at once.
type Party struct {
	After time.Duration // before it is known how it goes
	How   string        // answer, busy, no_answer, reject or unreachable; answer if empty
	Talk  time.Duration // after which a party that somebody was connected with hangs up; 0 means never
	// Detected is who answers, in the carrier's words, and DetectedAfter when it says so.
	Detected      string
	DetectedAfter time.Duration
	// Beep is when the carrier tells the end of a machine's greeting, after Detected; 0: it does not.
	Beep time.Duration
}

func (p Party) answers() bool { return p.How == "" || p.How == "answer" }

// isNumber reports whether a text is a number in the form of E.164, or a SIP address.
func isNumber(text string) bool {
	if strings.HasPrefix(text, "sip:") || strings.HasPrefix(text, "sips:") {
		return true
	}
	return len(text) > 4 && len(text) <= 16 && text[0] == '+' && strings.Trim(text[1:], "0123456789") == ""
}
