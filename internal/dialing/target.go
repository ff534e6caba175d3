package dialing

import (
	"errors"
	"fmt"
	"strings"
)

// The reasons for which a target is refused.
var (
	ErrInvalid    = errors.New("not a number such as +15550100, nor an address such as sip:ann@example.com")
	ErrNotAllowed = errors.New("not on the list of numbers that may be called")
	ErrEmergency  = errors.New("a number of emergency services: the list must name it in full")
	ErrPremium    = errors.New("a number that costs more than others: the list must name it in full")
)

// List is the list of whom an agent may call: numbers and addresses in full, and beginnings of
// numbers with a star ("+49*"). The empty list allows nobody.
type List []string

// Parse returns a target as it is dialed, without the spaces, dots, dashes and parentheses with
// which people write numbers: a number in the form of E.164, a SIP address, or a number of up to six
// digits, such as 112. It returns an error that wraps [ErrInvalid] for anything else.
func Parse(text string) (string, error) {
	if rest, ok := strings.CutPrefix(text, "sip:"); ok && isAddress(rest) {
		return text, nil
	}
	if rest, ok := strings.CutPrefix(text, "sips:"); ok && isAddress(rest) {
		return text, nil
	}
	n := strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "", "\u00a0", "").Replace(text)
	digits, plus := strings.CutPrefix(n, "+")
	switch {
	case digits == "" || strings.Trim(digits, "0123456789") != "":
	case plus && digits[0] != '0' && len(digits) >= 5 && len(digits) <= 15:
		return n, nil
	case !plus && len(digits) >= 2 && len(digits) <= 6:
		return n, nil
	}
	return "", ErrInvalid
}

// isAddress reports whether the rest of a SIP address has a user and a host, and nothing that could
// begin another part of a message.
func isAddress(rest string) bool {
	user, host, ok := strings.Cut(rest, "@")
	return ok && user != "" && host != "" && len(rest) <= 200 && !strings.ContainsFunc(rest, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`<>"?,;\@`, r) && r != '@'
	}) && !strings.Contains(host, "@")
}

// Check returns an error if an entry of the list is invalid.
func (l List) Check() error {
	for _, entry := range l {
		if begin, ok := strings.CutSuffix(entry, "*"); ok {
			digits, plus := strings.CutPrefix(begin, "+")
			if !plus || digits == "" || strings.Trim(digits, "0123456789") != "" {
				return fmt.Errorf("%q: expected the beginning of a number, such as +49*", entry)
			}
			continue
		}
		if _, err := Parse(entry); err != nil {
			return fmt.Errorf("%q: expected a number such as +15550100, the beginning of one such as +49*, or an address such as sip:ann@example.com", entry)
		}
	}
	return nil
}

// Allow returns a target as it is dialed, or an error that wraps the reason why it may not be. The
// error does not contain the target.
func (l List) Allow(text string) (string, error) {
	target, err := Parse(text)
	if err != nil {
		return "", err
	}
	begins := false
	for _, entry := range l {
		if begin, ok := strings.CutSuffix(entry, "*"); ok {
			begins = begins || strings.HasPrefix(target, begin)
			continue
		}
		if named, err := Parse(entry); err == nil && named == target {
			return target, nil
		}
	}
	switch {
	case emergency(target):
		return "", ErrEmergency
	case premium(target):
		return "", ErrPremium
	case !begins || target[0] != '+':
		return "", ErrNotAllowed
	}
	return target, nil
}

// Mask returns a number for logs: the first digits, which say where it is, and the last two.
func Mask(target string) string {
	if strings.HasPrefix(target, "sip") {
		_, host, _ := strings.Cut(target, "@")
		return "sip:•••@" + host
	}
	if len(target) < 8 {
		return "•••"
	}
	return target[:3] + "•••" + target[len(target)-2:]
}
