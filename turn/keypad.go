package turn

import "time"

// KeypadOptions configures a [Keypad]. The zero value has the defaults.
type KeypadOptions struct {
	// Timeout is how long after a key the next one may come; 2 s if zero.
	Timeout time.Duration
}

// maxKeys is how many keys a line has at most.
const maxKeys = 32

// Keypad joins the keys that a person presses on a telephone to lines (seed 004: DTMF). A line
// ends with #, with as many digits as the expected answer has, or when no key follows in time.
// The key * drops what was pressed before it. The letters A to D are ignored, since telephones
// for people do not have them.
//
// Its states: nothing is pressed; or Pressed contains the digits of an open line. It is a pure
// value, and not safe for concurrent use.
type Keypad struct {
	o       KeypadOptions
	digits  int           // of the expected answer; 0: unknown
	pressed []byte        // the open line
	waited  time.Duration // since the last key
}

// NewKeypad returns a keypad on which nothing is pressed.
func NewKeypad(o KeypadOptions) Keypad {
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Second
	}
	return Keypad{o: o, pressed: make([]byte, 0, maxKeys)}
}

// Expect sets the number of digits of the expected answer; 0 if it is not known.
func (k *Keypad) Expect(digits int) { k.digits = min(digits, maxKeys) }

// Press handles a key. It returns the line if the key ends it, and else an empty string.
func (k *Keypad) Press(key byte) string {
	k.waited = 0
	switch {
	case key == '#':
		return k.take()
	case key == '*':
		k.pressed = k.pressed[:0]
	case key >= '0' && key <= '9':
		k.pressed = append(k.pressed, key)
		if len(k.pressed) == k.digits || len(k.pressed) == maxKeys {
			return k.take()
		}
	}
	return ""
}

// Elapse lets time pass. It returns the line if no key has followed in time, and else an empty
// string. It does not allocate unless it returns a line.
func (k *Keypad) Elapse(d time.Duration) string {
	if len(k.pressed) == 0 {
		return ""
	}
	if k.waited += d; k.waited < k.o.Timeout {
		return ""
	}
	return k.take()
}

func (k *Keypad) take() string {
	line := string(k.pressed)
	k.pressed, k.waited = k.pressed[:0], 0
	return line
}
