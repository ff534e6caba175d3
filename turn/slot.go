package turn

// Adjustment adapts an end-of-turn policy to the answer that the agent expects
// (DESIGN.md section 5). The zero value changes nothing.
type Adjustment struct {
	// Silence scales the silences after which a turn ends; 0 means 1.
	Silence float64
	// MinTextLength replaces EasyTurnOptions.MinTextLength; 0 leaves it. The
	// seed's five characters would block "no", "4K" and "Rome".
	MinTextLength int
}

// Validate reports a scale or a length that makes no sense.
func (a Adjustment) Validate() error {
	if !(a.Silence >= 0 && a.Silence <= 10) {
		return &FieldError{Field: "Silence", Value: a.Silence, Want: "a factor from 0 to 10"}
	}
	if a.MinTextLength < 0 {
		return &FieldError{Field: "MinTextLength", Value: a.MinTextLength, Want: "0 or more"}
	}
	return nil
}

// AdjustmentFor gives the adjustment for the kind of slot whose value is
// expected next, by the name of its type: people pause inside what they spell
// and dictate, and not inside a yes. The empty kind is free speech and changes
// nothing; a kind that is not listed keeps the silences and admits short
// answers.
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
