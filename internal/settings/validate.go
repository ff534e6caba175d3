package settings

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/messages"
	"github.com/hocketvoice/hocket/turn"
)

// Validate asks the packages whether they take the options, and rewords what
// they refuse. A mistake is reported once, where several share the options.
func Validate(c *config.Config, o Options) config.Problems {
	var all config.Problems
	refused := func(section string, keys any, err error) bool {
		if err != nil {
			all = append(all, reword(c, section, keys, err))
		}
		return err != nil
	}
	if refused("turn.thresholds", config.Thresholds{}, o.Onset.Thresholds.Validate()) {
		// The policies share them.
		o.Turn.EasyTurn.Thresholds, o.Turn.Silence.Thresholds = turn.Thresholds{}, turn.Thresholds{}
		o.Turn.Semantic.Thresholds, o.Onset.Thresholds = turn.Thresholds{}, turn.Thresholds{}
	}
	refused("turn.easyturn", config.EasyTurn{}, o.Turn.EasyTurn.ForCalls().Validate())
	refused("turn.silence", config.Silence{}, o.Turn.Silence.Validate())
	refused("turn.semantic", config.Semantic{}, o.Turn.Semantic.Validate())
	refused("turn.onset", config.Onset{}, o.Onset.Validate())
	refused("turn.stability", config.Stability{}, o.Stability.Validate())
	if _, err := conv.New(o.Conversation); err != nil {
		for _, err := range leaves(err) {
			all = append(all, rewordMachine(c, err))
		}
	}
	all = append(all, codes(c)...)
	return all
}

// codes reports messages that the catalogue does not have.
func codes(c *config.Config) config.Problems {
	var all config.Problems
	words, err := messages.Lookup(cmp.Or(c.Language, "en"))
	check := func(path, code string) {
		if err != nil || code == "" || words.Has(code) {
			return // What is wrong with the language is reported with it.
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

// several is an error that was joined of others.
type several interface {
	error
	Unwrap() []error
}

// leaves are the single errors of which a joined and wrapped one is made.
func leaves(err error) []error {
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

var goName = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)

// reword says an error of package turn in the names of the config. Its fields
// have the names of the section's struct; its text begins with the package's
// name for the section.
func reword(c *config.Config, section string, keys any, err error) config.Problem {
	named := make(map[string]string) // keys by the name of the field
	for t, i := reflect.TypeOf(keys), 0; i < t.NumField(); i++ {
		named[t.Field(i).Name] = t.Field(i).Tag.Get("yaml")
	}
	text := err.Error()
	if cut := goName.FindStringIndex(text); cut != nil {
		text = text[cut[0]:]
	}
	var mentioned []string
	text = goName.ReplaceAllStringFunc(text, func(name string) string {
		key, ok := named[name]
		if !ok {
			return strings.ToLower(name) // Off
		}
		mentioned = append(mentioned, section+"."+key)
		return key
	})
	text = strings.Replace(text, ": want ", ": expected ", 1)
	if len(mentioned) == 0 {
		return c.Problem(section, text)
	}
	p := c.Problem(mentioned[0], text)
	if key := mentioned[0][len(section)+1:]; strings.HasPrefix(text, key+" is ") {
		p.Message = text[len(key)+1:]
	}
	for _, key := range mentioned {
		if c.Sets(key) {
			p.Position = c.Where(key) // of those that do not fit, one that the file sets
			break
		}
	}
	return p
}

var (
	machineLimit    = regexp.MustCompile(`^limit ([a-z_]+) (is .*)$`)
	machineFeedback = regexp.MustCompile(`^feedback (\d+) after (\S+): (.*)$`)
	machineDeadAir  = regexp.MustCompile(`^dead air: step (\d+):? (.*)$`)
)

// rewordMachine says an error of package conv in the names of the config.
func rewordMachine(c *config.Config, err error) config.Problem {
	text := strings.TrimPrefix(err.Error(), "conversation options: ")
	element := func(number string) int {
		n, err := strconv.Atoi(number)
		if err != nil {
			return 0
		}
		return n - 1
	}
	if m := machineLimit.FindStringSubmatch(text); m != nil {
		p := c.Problem("limits."+m[1], m[2])
		if m[1] == "session_warning" && !c.Sets(p.Key) {
			p.Position = c.Where("limits.session")
		}
		return p
	}
	if m := machineFeedback.FindStringSubmatch(text); m != nil {
		return c.Problem(fmt.Sprintf("limits.feedback[%d].after", element(m[1])), "is "+m[2]+": "+m[3])
	}
	if m := machineDeadAir.FindStringSubmatch(text); m != nil {
		return c.Problem(fmt.Sprintf("dead_air.steps[%d]", element(m[1])), strings.Replace(m[2], ": want ", ": expected ", 1))
	}
	if strings.Contains(text, "language") {
		languages := turn.Languages()
		p := c.Problem("language", fmt.Sprintf("is %q: expected one of %s", c.Language, strings.Join(languages, ", ")))
		p.Suggestion = config.Nearest(c.Language, languages)
		return p
	}
	return c.Problem("", text)
}
