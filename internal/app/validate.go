package app

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/messages"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/server/gate"
	"github.com/hocketvoice/hocket/tool/mcp"
	"github.com/hocketvoice/hocket/turn"
)

// validate asks the packages whether they take the options, and rewords what
// they refuse. A mistake is reported once, where several share the options.
func validate(c *config.Config, o Options) error {
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
	all = append(all, engines(c)...)
	all = append(all, serverProblems(c)...)
	all = append(all, toolProblems(c)...)
	return all.Err()
}

// toolProblems reports what is wrong with tools. Whether they are there is found out
// when they are opened.
func toolProblems(c *config.Config) config.Problems {
	var all config.Problems
	if err := (mcp.Options{Servers: mcpServers(c.Tools.MCP)}).Validate(); err != nil {
		all = append(all, c.Problem("tools.mcp", strings.TrimPrefix(err.Error(), "mcp: ")))
	}
	if _, err := httpOptions(c.Tools.HTTP); err != nil {
		all = append(all, c.Problem("tools.http", err.Error()))
	}
	programs, err := commandOptions(c.Tools.Command)
	if err == nil {
		err = programs.Validate()
	}
	if err != nil {
		all = append(all, c.Problem("tools.command", strings.TrimPrefix(strings.TrimPrefix(err.Error(), "tools."), "command: ")))
	}
	if err := a2aOptions(c.Tools.A2A).Validate(); err != nil {
		all = append(all, c.Problem("tools.a2a", strings.TrimPrefix(err.Error(), "a2a: ")))
	}
	return all
}

// engines reports a voice that there is not, and files that are not there.
func engines(c *config.Config) config.Problems {
	var all config.Problems
	if v := c.Speech.Voice; v != "" && !slices.Contains(flite.Voices(), v) {
		p := c.Problem("speech.voice", fmt.Sprintf("is %q: expected one of %s", v, strings.Join(flite.Voices(), ", ")))
		p.Suggestion = config.Nearest(v, flite.Voices())
		all = append(all, p)
	}
	for _, f := range []struct{ key, path string }{
		{"speech.silero.weights", c.Speech.Silero.Weights},
		{"speech.pocketsphinx.acoustic_model", c.Speech.Pocketsphinx.AcousticModel},
		{"speech.pocketsphinx.language_model", c.Speech.Pocketsphinx.LanguageModel},
		{"speech.pocketsphinx.dictionary", c.Speech.Pocketsphinx.Dictionary},
	} {
		if f.path == "" {
			continue
		}
		if _, err := os.Stat(f.path); err != nil {
			all = append(all, c.Problem(f.key, fmt.Sprintf("%v", plain(err))))
		}
	}
	return all
}

// serverProblems reports what is wrong with the server's section.
func serverProblems(c *config.Config) config.Problems {
	var all config.Problems
	s := c.Server
	for _, a := range []struct{ key, addr string }{{"server.addr", s.Addr}, {"server.webrtc.addr", s.WebRTC.Addr}} {
		if _, port, err := net.SplitHostPort(a.addr); a.addr != "" && (err != nil || port == "") {
			all = append(all, c.Problem(a.key, fmt.Sprintf("is %q: expected HOST:PORT, such as 127.0.0.1:8080", a.addr)))
		}
	}
	for i, ip := range s.WebRTC.PublicIPs {
		if net.ParseIP(ip) == nil {
			all = append(all, c.Problem(fmt.Sprintf("server.webrtc.public_ips[%d]", i), fmt.Sprintf("is %q: expected an IP address", ip)))
		}
	}
	for i, proxy := range s.TrustedProxies {
		if _, err := gate.ParseProxies([]string{proxy}); err != nil {
			all = append(all, c.Problem(fmt.Sprintf("server.trusted_proxies[%d]", i), fmt.Sprintf("is %q: expected an address such as 10.0.0.7, or a network such as 10.0.0.0/8", proxy)))
		}
	}
	for i, origin := range s.Origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Path != "" || u.RawQuery != "" {
			all = append(all, c.Problem(fmt.Sprintf("server.origins[%d]", i), fmt.Sprintf("is %q: expected an origin such as https://app.example.com", origin)))
		}
	}
	if (s.TLS.Cert == "") != (s.TLS.Key == "") {
		all = append(all, c.Problem("server.tls", "has one of cert and key: expected both"))
	}
	for _, f := range []struct{ key, path string }{
		{"server.keys.file", s.Keys.File}, {"server.tls.cert", s.TLS.Cert}, {"server.tls.key", s.TLS.Key},
	} {
		if f.path == "" {
			continue
		}
		if _, err := os.Stat(f.path); err != nil {
			all = append(all, c.Problem(f.key, fmt.Sprintf("%v", plain(err))))
		}
	}
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
