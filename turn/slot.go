package turn

// Adjustment adapts an end-of-turn policy to the expected answer (DESIGN.md section 5). The
// zero value changes nothing.
type Adjustment struct {
	// Silence is a factor for the silences that end a turn; 0 means 1.
	Silence float64
	// MinTextLength replaces EasyTurnOptions.MinTextLength unless it is 0. The
	// seed's five characters would block "no", "4K" and "Rome".
	MinTextLength int
}

// Validate returns an error if a field is out of range.
func (a Adjustment) Validate() error {
	if !(a.Silence >= 0 && a.Silence <= 10) {
		return &FieldError{Field: "Silence", Value: a.Silence, Want: "a factor from 0 to 10"}
	}
	if a.MinTextLength < 0 {
		return &FieldError{Field: "MinTextLength", Value: a.MinTextLength, Want: "0 or more"}
	}
	return nil
}

// AdjustmentFor returns the adjustment for an expected slot value, by the name of the
// slot's type. People pause while they spell or dictate, but not within a yes. The empty
// kind stands for free speech and changes nothing. An unknown kind keeps the silences and
// allows short answers.
func AdjustmentFor(kind string) Adjustment {
	switch kind {
	case "":
		return Adjustment{}
	case "yes_no", "boolean", "confirmation":
		return Adjustment{Silence: 0.6, MinTextLength: 1}
	case "date", "time", "datetime", "money", "amount", "currency", "name", "address":
		return Adjustment{Silence: 1.5, MinTextLength: 1}
	case "digits", "code", "pin", "zip", "card", "iban":
		return Adjustment{Silence: 2, MinTextLength: 1}
	case "phone", "email", "e-mail", "spelling":
		return Adjustment{Silence: 2.5, MinTextLength: 1}
	default:
		return Adjustment{Silence: 1, MinTextLength: 1}
	}
}
