package agent

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hocketvoice/hocket/dialog/value"
)

// Check is the context of a validation.
type Check struct {
	Slot     string
	Language string
	Now      time.Time
	// Slots has the values collected so far. A validator must not modify it.
	Slots map[string]any

	// Words are the words of the language.
	Words *value.Language
}

// Validator checks a normalized value. It returns the value to store, which may be a
// normalized form of its argument, or an error. The error goes to the trace; the user hears
// the slot's validation_error_message. A validator must be pure: the same arguments give
// the same result, without I/O. It must be safe for concurrent use. A panic puts the
// dialogue into its error state (seed 003, rule 7).
type Validator func(value any, c Check) (any, error)

// NamedValidator is a validator with the name that files use.
type NamedValidator struct {
	Name string
	Func Validator // nil if it is not known here; every value passes then
}

// builtinValidators returns the validators that every agent has, by name.
func builtinValidators() map[string]Validator {
	return map[string]Validator{
		"city_name":          validateCityName,
		"future_date_only":   validateFutureDate,
		"today_or_later":     validateTodayOrLater,
		"past_date_only":     validatePastDate,
		"booking_ref_format": validateBookingRef,
		"booking_reference":  validateBookingRef,
		"iata_code":          validateIATA,
		"email":              validateEmail,
		"phone":              validatePhone,
		"phone_number":       validatePhone,
		"positive":           validatePositive,
		"positive_number":    validatePositive,
		"positive_amount":    validatePositive,
		"non_negative":       validateNonNegative,
		"iban":               validateIBAN,
		"credit_card":        validateCreditCard,
		"not_empty":          validateNotEmpty,
		"person_name":        validatePersonName,
		"address":            validateAddress,
		"yes_no":             validateYesNo,
		"security_code":      validateDigitCount(6),
		"card_digits":        validateDigitCount(4),
		"zip_code":           validateDigitCount(5),
		"weekday_only":       validateWeekday,
	}
}

func asText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	}
	return "", fmt.Errorf("the value is a %T: expected text", v)
}

func asDate(v any) (value.Date, error) {
	s, err := asText(v)
	if err != nil {
		return value.Date{}, err
	}
	c, ok := value.ParseDate(s)
	if !ok {
		return value.Date{}, fmt.Errorf("%q is not a date", s)
	}
	return c, nil
}

// validateCityName accepts names of letters. The slot's list of values is checked before
// any validator.
func validateCityName(v any, _ Check) (any, error) {
	s, err := asText(v)
	if err != nil {
		return nil, err
	}
	letters := 0
	for _, r := range s {
		switch {
		case unicode.IsLetter(r):
			letters++
		case r == ' ', r == '-', r == '\'', r == '’', r == '.', r == '(', r == ')', r == ',':
		default:
			return nil, fmt.Errorf("%q is not the name of a city", s)
		}
	}
	if letters < 2 || len(s) > 80 {
		return nil, fmt.Errorf("%q is not the name of a city", s)
	}
	return v, nil
}

func validateFutureDate(v any, c Check) (any, error) {
	d, err := asDate(v)
	if err != nil {
		return nil, err
	}
	if !value.DateOf(c.Now).Before(d) {
		return nil, fmt.Errorf("%s is not in the future", d)
	}
	return v, nil
}

func validateTodayOrLater(v any, c Check) (any, error) {
	d, err := asDate(v)
	if err != nil {
		return nil, err
	}
	if d.Before(value.DateOf(c.Now)) {
		return nil, fmt.Errorf("%s is in the past", d)
	}
	return v, nil
}

func validatePastDate(v any, c Check) (any, error) {
	d, err := asDate(v)
	if err != nil {
		return nil, err
	}
	if !d.Before(value.DateOf(c.Now)) {
		return nil, fmt.Errorf("%s is not in the past", d)
	}
	return v, nil
}

func validateWeekday(v any, _ Check) (any, error) {
	d, err := asDate(v)
	if err != nil {
		return nil, err
	}
	if wd := d.Weekday(); wd == 0 || wd == 6 {
		return nil, fmt.Errorf("%s is not a working day", d)
	}
	return v, nil
}

// validateBookingRef accepts the seed's references ("BK-98765"): two letters, an optional
// dash and four to six digits. It also accepts six letters and digits.
func validateBookingRef(v any, _ Check) (any, error) {
	s, err := asText(v)
	if err != nil {
		return nil, err
	}
	s = strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(s), " ", ""))
	if len(s) > 2 && value.UpperLetters(s[:2]) {
		digits := strings.TrimPrefix(s[2:], "-")
		if len(digits) >= 4 && len(digits) <= 6 && value.AllDigits(digits) {
			return s[:2] + "-" + digits, nil
		}
	}
	if len(s) == 6 {
		for i := range len(s) {
			if !(value.IsDigit(s[i]) || 'A' <= s[i] && s[i] <= 'Z') {
				return nil, fmt.Errorf("%q is not a booking reference", s)
			}
		}
		return s, nil
	}
	return nil, fmt.Errorf("%q is not a booking reference", s)
}

func validateIATA(v any, _ Check) (any, error) {
	s, err := asText(v)
	if err != nil {
		return nil, err
	}
	s = strings.ToUpper(strings.TrimSpace(s))
	if len(s) != 3 || !value.UpperLetters(s) {
		return nil, fmt.Errorf("%q is not an airport code", s)
	}
	return s, nil
}

func validateEmail(v any, _ Check) (any, error) {
	s, err := asText(v)
	if err != nil {
		return nil, err
	}
	if !value.ValidEmail(s) {
		return nil, fmt.Errorf("%q is not an e-mail address", s)
	}
	return s, nil
}

func validatePhone(v any, _ Check) (any, error) {
	s, err := asText(v)
	if err != nil {
		return nil, err
	}
	s, ok := value.WrittenDigits(strings.ReplaceAll(s, " ", ""), true)
	if n := len(strings.TrimPrefix(s, "+")); !ok || n < 6 || n > 15 {
		return nil, errors.New("a telephone number has 6 to 15 digits")
	}
	return s, nil
}

func validatePositive(v any, _ Check) (any, error) {
	f, ok := value.ToNumber(v)
	if !ok || f <= 0 {
		return nil, fmt.Errorf("%v is not a positive number", v)
	}
	return v, nil
}

func validateNonNegative(v any, _ Check) (any, error) {
	f, ok := value.ToNumber(v)
	if !ok || f < 0 {
		return nil, fmt.Errorf("%v is below zero", v)
	}
	return v, nil
}

// validateIBAN checks the length and the check digits (ISO 13616, modulo 97).
func validateIBAN(v any, _ Check) (any, error) {
	s, err := asText(v)
	if err != nil {
		return nil, err
	}
	s = strings.ToUpper(strings.NewReplacer(" ", "", "-", "", ".", "").Replace(s))
	if len(s) < 15 || len(s) > 34 || !value.UpperLetters(s[:2]) || !value.AllDigits(s[2:4]) {
		return nil, errors.New("an IBAN begins with two letters and two digits")
	}
	rest := 0
	for _, c := range []byte(s[4:] + s[:4]) {
		switch {
		case value.IsDigit(c):
			rest = (rest*10 + int(c-'0')) % 97
		case 'A' <= c && c <= 'Z':
			rest = (rest*100 + int(c-'A') + 10) % 97
		default:
			return nil, errors.New("an IBAN has only letters and digits")
		}
	}
	if rest != 1 {
		return nil, errors.New("the check digits of the IBAN are wrong")
	}
	return s, nil
}

// validateCreditCard checks a card number (ISO/IEC 7812, Luhn).
func validateCreditCard(v any, _ Check) (any, error) {
	s, err := asText(v)
	if err != nil {
		return nil, err
	}
	s, ok := value.WrittenDigits(strings.ReplaceAll(s, " ", ""), false)
	if !ok || len(s) < 12 || len(s) > 19 {
		return nil, errors.New("a card number has 12 to 19 digits")
	}
	sum := 0
	for i := range len(s) {
		d := int(s[len(s)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	if sum%10 != 0 {
		return nil, errors.New("the check digit of the card number is wrong")
	}
	return s, nil
}

func validateNotEmpty(v any, _ Check) (any, error) {
	if s, ok := v.(string); v == nil || ok && strings.TrimSpace(s) == "" {
		return nil, errors.New("a value is needed")
	}
	return v, nil
}

func validatePersonName(v any, _ Check) (any, error) {
	s, err := asText(v)
	if err != nil {
		return nil, err
	}
	letters := 0
	for _, r := range s {
		switch {
		case unicode.IsLetter(r):
			letters++
		case r == ' ', r == '-', r == '\'', r == '’', r == '.', r == ',':
		default:
			return nil, fmt.Errorf("%q is not a name", s)
		}
	}
	if letters < 2 {
		return nil, fmt.Errorf("%q is not a name", s)
	}
	return v, nil
}

func validateAddress(v any, _ Check) (any, error) {
	s, err := asText(v)
	if err != nil {
		return nil, err
	}
	if len(strings.Fields(s)) < 2 || len(s) < 8 {
		return nil, fmt.Errorf("%q is not a complete address", s)
	}
	return v, nil
}

func validateYesNo(v any, c Check) (any, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		if c.Words == nil {
			break
		}
		var buf [8]value.Token
		switch c.Words.YesOrNo(value.Tokenize(v, buf[:0])) {
		case value.Yes:
			return "yes", nil
		case value.No:
			return "no", nil
		case value.NoAnswer:
		}
	}
	return nil, fmt.Errorf("%v is neither yes nor no", v)
}

// validateDigitCount returns a validator that accepts exactly n digits, written or spoken.
func validateDigitCount(n int) Validator {
	return func(v any, c Check) (any, error) {
		s, err := asText(v)
		if err != nil {
			return nil, err
		}
		if d, ok := value.WrittenDigits(strings.ReplaceAll(s, " ", ""), false); ok {
			s = d
		} else if c.Words != nil {
			var buf [16]value.Token
			toks := value.Tokenize(s, buf[:0])
			if d, m := c.Words.DigitRun(toks, 0, false); m > 0 && m == len(toks) {
				s = d
			}
		}
		if len(s) != n || !value.AllDigits(s) {
			return nil, fmt.Errorf("expected %d digits", n)
		}
		return s, nil
	}
}
