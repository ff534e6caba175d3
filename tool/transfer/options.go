package transfer

import (
	"errors"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/internal/dialing"
	"github.com/hocketvoice/hocket/internal/toolset"
)

// DefaultRing is how long a target rings.
const DefaultRing = 20 * time.Second

// Options configures the tools.
type Options struct {
	Targets []Target
}

// Target is somebody with whom the person can be connected.
type Target struct {
	// Name is the tool's.
	Name string
	// Description says what for, for a model.
	Description string
	// To is a number in the form of E.164, or a SIP address. If it is empty, the call of the tool
	// names the number in the argument "to", which must be on the list Allow.
	To    string
	Allow []string
	// From is the number that is shown; empty: that which the person has called.
	From string
	// Ring is how long to wait for an answer; [DefaultRing] if 0.
	Ring time.Duration
	// Confirm says that a model's call needs the user's yes.
	Confirm bool
}

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	var errs []error
	names := make(map[string]bool)
	for i, t := range o.Targets {
		switch {
		case !toolset.IsName(t.Name):
			errs = append(errs, fmt.Errorf("target %d: the name is %q: expected 1 to 64 letters, digits, - or _", i+1, t.Name))
			continue
		case names[t.Name]:
			errs = append(errs, fmt.Errorf("two targets have the name %q: names must differ", t.Name))
		}
		names[t.Name] = true
		errs = append(errs, t.validate())
	}
	return errors.Join(errs...)
}

func (t Target) validate() error {
	switch {
	case t.To == "" && len(t.Allow) == 0:
		return fmt.Errorf("%s: to is empty: expected a number such as +15550100, or allow", t.Name)
	case t.To != "" && len(t.Allow) > 0:
		return fmt.Errorf("%s: to and allow must not both be set", t.Name)
	case t.Ring < 0 || t.Ring > time.Hour:
		return fmt.Errorf("%s: ring is %v: expected at most 1h", t.Name, t.Ring)
	}
	if err := dialing.List(t.Allow).Check(); err != nil {
		return fmt.Errorf("%s: allow: %w", t.Name, err)
	}
	for what, number := range map[string]string{"to": t.To, "from": t.From} {
		if number == "" {
			continue
		}
		if _, err := dialing.Parse(number); err != nil {
			return fmt.Errorf("%s: %s is %w", t.Name, what, err)
		}
	}
	return nil
}
