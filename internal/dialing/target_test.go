package dialing

import (
	"errors"
	"strings"
	"testing"
)

// TestAllow checks whom lists allow.
func TestAllow(t *testing.T) {
	list := List{"+49*", "+1555*", "+441632960001", "112", "+1 (900) 555-0100", "sip:ann@example.com"}
	if err := list.Check(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"+4930123456":         "+4930123456",
		"+49 30 12-34.56":     "+4930123456",
		"+15551234567":        "+15551234567",
		"+441632960001":       "+441632960001",
		"112":                 "112",          // named in full
		"+19005550100":        "+19005550100", // likewise
		"sip:ann@example.com": "sip:ann@example.com",
	} {
		if got, err := list.Allow(text); got != want || err != nil {
			t.Errorf("%s: %q, %v, expected %q", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"+441632960002":                          ErrNotAllowed,
		"+4416329600010":                         ErrNotAllowed,
		"+12125550100":                           ErrNotAllowed,
		"sip:bob@example.com":                    ErrNotAllowed,
		"911":                                    ErrEmergency,
		"110":                                    ErrEmergency,
		"+49112":                                 ErrEmergency,
		"+49110":                                 ErrEmergency,
		"+499001234567":                          ErrPremium, // although +49* is allowed
		"+491371234567":                          ErrPremium,
		"+19005550101":                           ErrPremium,
		"+881612345678":                          ErrPremium,
		"4930123456":                             ErrInvalid,
		"004930123456":                           ErrInvalid,
		"+0123456789":                            ErrInvalid,
		"+4930":                                  ErrInvalid,
		"+49301234567890123":                     ErrInvalid,
		"+49٣٠123456":                            ErrInvalid,
		"+4930123456;phone-context=x":            ErrInvalid,
		"":                                       ErrInvalid,
		"+":                                      ErrInvalid,
		"tel:+4930123456":                        ErrInvalid,
		"sip:ann@example.com\r\nX: y":            ErrInvalid,
		"sip:ann@example.com?Replaces=x":         ErrInvalid,
		"sip:<ann@example.com>":                  ErrInvalid,
		"sip:ann@evil.test@example.com":          ErrInvalid,
		"sip:" + strings.Repeat("a", 300) + "@b": ErrInvalid,
	} {
		if got, err := list.Allow(text); !errors.Is(err, want) || got != "" || len(text) > 3 && strings.Contains(err.Error(), text) {
			t.Errorf("%s: %q, %v, expected %v", text, got, err, want)
		}
	}
	if _, err := List(nil).Allow("+4930123456"); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("the empty list: %v", err)
	}
}

// TestCheck checks that invalid lists are refused: a star alone would allow every number.
func TestCheck(t *testing.T) {
	for _, entry := range []string{"*", "+*", "49*", "+49**", "+4x*", "hello", "", "+49 *"} {
		if err := (List{entry}).Check(); err == nil {
			t.Errorf("%q is valid", entry)
		}
	}
}

func TestMask(t *testing.T) {
	for text, want := range map[string]string{
		"+15551234567": "+15•••67", "112": "•••", "+49301": "•••", "sip:ann@example.com": "sip:•••@example.com", "": "•••",
	} {
		if got := Mask(text); got != want {
			t.Errorf("%s: %s, expected %s", text, got, want)
		}
	}
}

// FuzzAllow checks that what is allowed is dialed as it is on the list.
func FuzzAllow(f *testing.F) {
	for _, s := range []string{"+4930123456", "112", "sip:ann@example.com", "+49 (30) 1", "+\u00a049"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := List{"+49*"}.Allow(text)
		if err != nil {
			return
		}
		if !strings.HasPrefix(got, "+49") || strings.Trim(got[1:], "0123456789") != "" || len(got) > 16 {
			t.Errorf("%q is dialed as %q", text, got)
		}
	})
}
