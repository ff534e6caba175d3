package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/messages"
	"github.com/hocketvoice/hocket/internal/timezone"
	"github.com/hocketvoice/hocket/turn"
)

// Validate validates the options with the packages that they configure, and reports the
// problems by the keys of the config, each once, since the policies share their
// thresholds.
func Validate(c *config.Config, o Options) config.Problems {
	_, machine := conv.New(o.Conversation)
	err := errors.Join(
		turn.InField("Turn", o.Turn.Validate()),
		turn.InField("Turn.Onset", o.Onset.Validate()),
		turn.InField("Turn.Stability", o.Stability.Validate()),
		machine,
	)
	var all config.Problems
	if d := o.Echo.Delay; d > audio.MaxEchoDelay {
		all = append(all, c.Problem("filter.echo_delay", fmt.Sprintf("is %v: expected at most %v", d, audio.MaxEchoDelay)))
	} else if d > 0 && o.Echo.Coupling == 0 {
		all = append(all, c.Problem("filter.echo_delay", "has no effect: expected filter.echo_level too"))
	}
	for _, err := range leaves(err) {
		if p := problem(c, err); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	if _, err := timezone.Load(c.Timezone); c.Timezone != "" && err != nil {
		all = append(all, c.Problem("timezone", fmt.Sprintf("is %q: %v", c.Timezone, err)))
	}
	return append(all, codes(c)...)
}

// problem returns an error as a problem at its key.
func problem(c *config.Config, err error) config.Problem {
	field, ok := errors.AsType[*turn.FieldError](err)
	if !ok {
		return c.Problem("", err.Error())
	}
	key, other := key(field.Field), key(field.Other)
	p := c.Problem(key, field.Problem(other[1+strings.LastIndexByte(other, '.'):]))
	if other != "" && !c.Sets(key) {
		p.Position = c.Where(other) // of the two keys, use the one that the file sets
	}
	p.Suggestion = config.Nearest(fmt.Sprint(field.Value), field.OneOf)
	return p
}

// key returns the config's key of a field of the options.
func key(field string) string {
	if field == "Endpoint" {
		return "turn.policy"
	}
	if _, threshold, ok := strings.Cut(field, ".Thresholds."); ok {
		field = "Turn.Thresholds." + threshold
	}
	return config.KeyOf(field)
}

// codes reports message codes that do not exist.
func codes(c *config.Config) config.Problems {
	var all config.Problems
	words, err := messages.Lookup(cmp.Or(c.Language, "en"))
	check := func(path, code string) {
		if err != nil || code == "" || words.Has(code) {
			return // an invalid language is reported elsewhere
		}
		p := c.Problem(path, fmt.Sprintf("is %q: expected the code of a message", code))
		p.Suggestion = config.Nearest(code, words.Codes())
		all = append(all, p)
	}
	for i, s := range c.DeadAir.Steps {
		check(fmt.Sprintf("dead_air.steps[%d].code", i), s.Code)
	}
	for i, f := range c.Limits.Feedback {
		check(fmt.Sprintf("limits.feedback[%d].code", i), f.Code)
	}
	return all
}

// several is an error created by errors.Join.
type several interface {
	error
	Unwrap() []error
}

// leaves returns the errors that were joined, without wrappers.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := errors.AsType[several](err)
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, leaves(e)...)
	}
	return all
}
