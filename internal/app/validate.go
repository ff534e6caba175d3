package app

import (
	"fmt"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/dialing"
	"github.com/hocketvoice/hocket/internal/model"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/leg/telnyx"
	"github.com/hocketvoice/hocket/leg/twilio"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/gate"
	"github.com/hocketvoice/hocket/tool/mcp"
)

// validate returns the problems of a config as [config.Problems], or nil.
func validate(c *config.Config, o Options) error {
	all := settings.Validate(c, o.Options)
	all = append(all, engines(c)...)
	all = append(all, model.Problems(c)...)
	all = append(all, upstreamProblems(c)...)
	all = append(all, serverProblems(c)...)
	all = append(all, toolProblems(c)...)
	all = append(all, recordingProblems(c)...)
	return all.Err()
}

// recordingProblems returns the problems of the section recording.
func recordingProblems(c *config.Config) config.Problems {
	switch r := c.Recording; {
	case r.Notice != "" && !strings.ContainsFunc(r.Notice, unicode.IsLetter):
		return config.Problems{c.Problem("recording.notice", fmt.Sprintf("is %q, which says nothing: expected the words that tell callers", r.Notice))}
	case r.Limit != 0 && !r.On():
		return config.Problems{c.Problem("recording", "does not say how callers are told of it: expected notice or announced: true")}
	}
	return nil
}

// toolProblems returns the problems of the section tools. Whether the tools exist is
// checked when they are opened.
func toolProblems(c *config.Config) config.Problems {
	var all config.Problems
	if err := (mcp.Options{Servers: mcpServers(c.Tools.MCP)}).Validate(); err != nil {
		all = append(all, c.Problem("tools.mcp", err.Error()))
	}
	if _, err := httpOptions(c.Tools.HTTP); err != nil {
		all = append(all, c.Problem("tools.http", err.Error()))
	}
	programs, err := commandOptions(c.Tools.Command)
	if err == nil {
		err = programs.Validate()
	}
	if err != nil {
		all = append(all, c.Problem("tools.command", err.Error()))
	}
	if err := transferOptions(c.Tools.Transfer).Validate(); err != nil {
		all = append(all, c.Problem("tools.transfer", err.Error()))
	}
	if err := a2aOptions(c.Tools.A2A).Validate(); err != nil {
		all = append(all, c.Problem("tools.a2a", err.Error()))
	}
	return all
}

// engines returns the problems of the section speech: an unknown voice, missing files.
func engines(c *config.Config) config.Problems {
	var all config.Problems
	if v := c.Speech.Voice; c.Speech.Synthesizer == "piper" && v != "" {
		all = append(all, c.Problem("speech.voice", fmt.Sprintf("is %q: expected nothing, since speech.piper.network is the voice", v)))
	} else if v != "" && !slices.Contains(flite.Voices(), v) {
		p := c.Problem("speech.voice", fmt.Sprintf("is %q: expected one of %s", v, strings.Join(flite.Voices(), ", ")))
		p.Suggestion = config.Nearest(v, flite.Voices())
		all = append(all, p)
	}
	all = append(all, vendorProblems(c)...)
	for _, f := range []struct{ key, path string }{
		{"speech.silero.weights", c.Speech.Silero.Weights},
		{"speech.models", c.Speech.Models},
		{"speech.piper.network", c.Speech.Piper.Network},
		{"speech.pocketsphinx.acoustic_model", c.Speech.Pocketsphinx.AcousticModel},
		{"speech.pocketsphinx.language_model", c.Speech.Pocketsphinx.LanguageModel},
		{"speech.pocketsphinx.dictionary", c.Speech.Pocketsphinx.Dictionary},
	} {
		if f.path == "" {
			continue
		}
		if _, err := os.Stat(f.path); err != nil {
			all = append(all, c.Problem(f.key, fmt.Sprintf("%v", settings.Plain(err))))
		}
	}
	return all
}

// phoneProblems returns the problems of the carriers in the section server.
func phoneProblems(c *config.Config) config.Problems {
	var all config.Problems
	for _, p := range []struct {
		carrier, url string
		set          bool
		check        func(string) error
	}{
		{"twilio", c.Server.Twilio.URL, c.Server.Twilio != config.Twilio{}, twilio.CheckURL},
		{"telnyx", c.Server.Telnyx.URL, c.Server.Telnyx != config.Telnyx{}, telnyx.CheckURL},
	} {
		key := "server." + p.carrier
		if !p.set {
			continue
		}
		if p.url == "" {
			all = append(all, c.Problem(key, "has no url, without which no call is answered: expected one such as https://voice.example.com/"+p.carrier))
		} else if err := p.check(p.url); err != nil {
			all = append(all, c.Problem(key+".url", "is invalid: "+err.Error()))
		}
	}
	for _, api := range []struct {
		key, at string
		check   func(string) error
	}{{"server.telnyx.api_url", c.Server.Telnyx.APIURL, telnyx.CheckAPI}, {"server.twilio.api_url", c.Server.Twilio.APIURL, twilio.CheckAPI}} {
		if api.at == "" {
			continue
		}
		if err := api.check(api.at); err != nil {
			all = append(all, c.Problem(api.key, "is invalid: "+err.Error()))
		}
	}
	return slices.Concat(all, sipProblems(c), dialProblems(c))
}

// dialProblems returns the problems of the section server.dial.
func dialProblems(c *config.Config) config.Problems {
	var all config.Problems
	d := c.Server.Dial
	if reflect.ValueOf(d).IsZero() {
		return nil
	}
	if _, err := dialing.Parse(d.From); err != nil {
		all = append(all, c.Problem("server.dial.from", fmt.Sprintf("is %q: expected the number of the account that is shown, such as +15550100", d.From)))
	}
	if len(d.Allow) == 0 {
		all = append(all, c.Problem("server.dial", "has no list allow, without which nobody may be called: expected one such as [+4930*]"))
	} else if err := dialing.List(d.Allow).Check(); err != nil {
		all = append(all, c.Problem("server.dial.allow", err.Error()))
	}
	if (d.Message != "") != (d.Machine == "message") {
		all = append(all, c.Problem("server.dial", "has one of message and machine: message: expected both"))
	}
	urls := map[string]string{"twilio": c.Server.Twilio.URL, "telnyx": c.Server.Telnyx.URL}
	switch {
	case urls["twilio"] == "" && urls["telnyx"] == "":
		all = append(all, c.Problem("server.dial", "has no carrier: expected server.twilio or server.telnyx"))
	case d.Carrier == "" && urls["twilio"] != "" && urls["telnyx"] != "":
		all = append(all, c.Problem("server.dial", "does not say which carrier places calls: expected carrier: twilio or telnyx"))
	case d.Carrier != "" && urls[d.Carrier] == "":
		all = append(all, c.Problem("server.dial.carrier", fmt.Sprintf("is %q: expected a carrier of the config", d.Carrier)))
	case urls["telnyx"] != "" && d.Carrier != "twilio" && c.Server.Telnyx.Connection == "":
		all = append(all, c.Problem("server.telnyx", "has no connection, without which no call is placed: expected the id of the application (connection_id)"))
	}
	return all
}

// isOrigin reports whether a text is the origin of a page, as a browser sends it.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.Path == "" && u.RawQuery == ""
}

// serverProblems returns the problems of the section server.
func serverProblems(c *config.Config) config.Problems {
	var all config.Problems
	s := c.Server
	for _, a := range []struct{ key, addr string }{{"server.addr", s.Addr}, {"server.webrtc.addr", s.WebRTC.Addr}, {"server.webrtc.tcp", s.WebRTC.TCP}} {
		if a.addr != "" && !isAddress(a.addr) {
			all = append(all, c.Problem(a.key, fmt.Sprintf("is %q: expected HOST:PORT, such as 127.0.0.1:8080", a.addr)))
		}
	}
	all = append(all, webrtcProblems(c)...)
	if _, err := api.ParsePath(s.Path); err != nil {
		all = append(all, c.Problem("server.path", err.Error()))
	}
	for i, proxy := range s.TrustedProxies {
		if _, err := gate.ParseProxies([]string{proxy}); err != nil {
			all = append(all, c.Problem(fmt.Sprintf("server.trusted_proxies[%d]", i), fmt.Sprintf("is %q: expected an address such as 10.0.0.7, or a network such as 10.0.0.0/8", proxy)))
		}
	}
	for i, origin := range s.Origins {
		if !isOrigin(origin) {
			all = append(all, c.Problem(fmt.Sprintf("server.origins[%d]", i), fmt.Sprintf("is %q: expected an origin such as https://app.example.com", origin)))
		}
	}
	all = append(all, phoneProblems(c)...)
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
			all = append(all, c.Problem(f.key, fmt.Sprintf("%v", settings.Plain(err))))
		}
	}
	return all
}
