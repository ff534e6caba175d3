package app

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/turn"
)

func load(t *testing.T, text string) (Options, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := LoadOptions(path)
	if err != nil {
		err = errors.New(strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", ""))
	}
	return o, err
}

func mustLoad(t *testing.T, text string) Options {
	t.Helper()
	o, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestEmptyConfig checks that an empty config leaves all options at the packages' defaults.
func TestEmptyConfig(t *testing.T) {
	o := mustLoad(t, "")
	o.Speech, o.Server, o.Recording = config.Speech{}, config.Server{}, config.Recording{} // have defaults of the program
	if !reflect.DeepEqual(o, Options{}) {
		t.Errorf("got %+v", o)
	}
}

// services are the sections that require some of their keys, with these keys.
var services = map[string]map[string]string{
	"model":          {"name": "m", "base_url": "'http://a/v1'"},
	"upstream":       {"name": "u", "url": "'wss://u.openai.azure.com'"},
	"upstream.entra": {"tenant": "t", "client": "c"},
}

// service returns the section of a service, with the key at path if value is not empty.
func service(path, value string) string {
	section, rest, _ := strings.Cut(path, ".")
	entry := maps.Clone(services[section])
	key, inner, nested := strings.Cut(rest, ".")
	if nested {
		part := maps.Clone(services[section+"."+key])
		if value != "" {
			part[inner] = value
		}
		value = mapping(part)
	}
	if value != "" {
		entry[key] = value
	}
	return section + ": " + mapping(entry)
}

// beside has, for a key, the other key of its section that it requires.
var beside = map[string]string{"filter.echo_delay": "echo_level: -15dB", "recording.limit": "announced: true"}

// TestEveryKeyArrives checks that each key of the config, set alone, changes an option.
func TestEveryKeyArrives(t *testing.T) {
	for _, k := range config.Keys() {
		without := ""
		switch section, rest, _ := strings.Cut(k.Path, "."); {
		case section == "models[]" || section == "upstreams[]":
			continue // an agent chooses one, which is then the model or the service
		case services[section] != nil && rest != "name":
			without = service(k.Path, "")
		case strings.HasPrefix(rest, "sip."):
			without = sipDocument("", "")
		case strings.HasPrefix(rest, "twilio."), strings.HasPrefix(rest, "telnyx."):
			name, _, _ := strings.Cut(rest, ".")
			without = carriers(name, "", "")
		case strings.HasPrefix(rest, "dial."):
			without = dialSection("", "")
		case beside[k.Path] != "":
			without = section + ": {" + beside[k.Path] + "}"
		}
		base := mustLoad(t, without)
		for _, v := range values(t, k) {
			text := document(k.Path, v)
			o := mustLoad(t, text)
			if reflect.DeepEqual(o, base) {
				t.Errorf("%s changes nothing", text)
			}
		}
	}
}

// toolsDocument sets one key of the section tools.
func toolsDocument(path, value string) string {
	list, rest, _ := strings.Cut(path, "[].")
	inner, key, nested := strings.Cut(rest, "[].")
	entry := map[string]string{"name": "a", "command": "c"}
	switch {
	case list == "http" || list == "a2a":
		entry = map[string]string{"name": "a", "url": `"http://h/"`}
	case list == "transfer" && rest == "allow":
		entry = map[string]string{"name": "a"}
	case list == "transfer":
		entry = map[string]string{"name": "a", "to": `"+15550100"`}
	case rest == "url" || rest == "key_env":
		entry = map[string]string{"name": "a", "url": `"http://h/"`}
	}
	if nested {
		fields := "name: b, " + key + ": " + value
		if key == "name" {
			fields = "name: " + value
		}
		value, rest = "[{"+fields+"}]", inner
	}
	entry[rest] = value
	return "tools: {" + list + ": [" + mapping(entry) + "]}"
}

// carriers is a file with a carrier, and one more key of it if there is one.
func carriers(name, key, value string) string {
	entry := map[string]string{"url": `"https://voice.example.com/` + name + `"`}
	if key != "" {
		entry[key] = value
	}
	return "server: {" + name + ": " + mapping(entry) + "}"
}

// sipDocument is the section server.sip with a key.
func sipDocument(key, value string) string {
	entry := map[string]string{"addr": "127.0.0.1:5070", "allow": "[10.0.0.0/8]"}
	switch list, inner, _ := strings.Cut(key, "[]."); list {
	case "":
	case "users":
		user := map[string]string{"name": "ada", "password_env": "ADA"}
		user[inner] = value
		entry[list] = "[" + mapping(user) + "]"
	case "numbers":
		number := map[string]string{"number": "'+1555'"}
		number[inner] = value
		entry[list] = "[" + mapping(number) + "]"
	case "register":
		registrar := map[string]string{"server": "'sip:pbx.example.com'", "name": "agent"}
		registrar[inner] = value
		entry[list] = "[" + mapping(registrar) + "]"
	default:
		entry[key] = value
	}
	return "server: {sip: " + mapping(entry) + "}"
}

// dialSection is a file with a carrier that places calls, and one more key of the section if there is
// one.
func dialSection(key, value string) string {
	entry := map[string]string{"from": `"+15550100"`, "allow": `["+1555*"]`, "carrier": "twilio"}
	if key != "" {
		entry[key] = value
	}
	if key == "message" {
		entry["machine"] = "message"
	}
	if value == "message" {
		entry["message"] = "Hello."
	}
	return `server: {twilio: {url: "https://voice.example.com/twilio"}, telnyx: {url: "https://voice.example.com/telnyx", connection: "1"}, dial: ` +
		mapping(entry) + "}"
}

// TestDialProblems checks that what a server needs to place calls is asked for.
func TestDialProblems(t *testing.T) {
	for want, text := range map[string]string{
		"has no list allow":           `twilio: {url: "https://h"}, dial: {from: "+15550100"}`,
		"server.dial.from: is \"me\"": `twilio: {url: "https://h"}, dial: {from: me, allow: ["+49*"]}`,
		"expected the beginning":      `twilio: {url: "https://h"}, dial: {from: "+15550100", allow: ["*"]}`,
		"has no carrier":              `dial: {from: "+15550100", allow: ["+49*"]}`,
		"which carrier places":        `twilio: {url: "https://h"}, telnyx: {url: "https://h"}, dial: {from: "+15550100", allow: ["+49*"]}`,
		"expected a carrier of":       `twilio: {url: "https://h"}, dial: {from: "+15550100", allow: ["+49*"], carrier: telnyx}`,
		"has no connection":           `telnyx: {url: "https://h"}, dial: {from: "+15550100", allow: ["+49*"]}`,
		"message and machine":         `twilio: {url: "https://h"}, dial: {from: "+15550100", allow: ["+49*"], machine: message}`,
	} {
		if _, err := load(t, "server: {"+text+"}"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
}

// mapping is the text of a mapping.
func mapping(entry map[string]string) string {
	var fields []string
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		fields = append(fields, key+": "+entry[key])
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// values returns valid values of a key other than its default.
func values(t *testing.T, k config.Key) []string {
	switch {
	case strings.HasSuffix(k.Path, ".code"):
		return []string{"checkin.2"}
	case k.Path == "filter.echo_level":
		return []string{"-15dB", "off"}
	case k.Path == "filter.echo_delay":
		return []string{"200ms"}
	case strings.HasSuffix(k.Path, ".window"):
		return []string{"8192"}
	case k.Path == "timezone":
		return []string{"Europe/Berlin"}
	case k.Path == "language":
		return []string{"de"}
	case k.Path == "speech.voice":
		return []string{"kal16"}
	case k.Path == "speech.recognizer" || k.Path == "speech.synthesizer":
		return []string{"soniox", "[soniox]"}
	case strings.HasPrefix(k.Path, "speech.") && strings.HasSuffix(k.Path, "_url") || k.Path == "upstream.url":
		return []string{`"wss://h/y"`}
	case k.Path == "server.sip.addr" || k.Path == "server.sip.tls_addr":
		return []string{"127.0.0.1:5071"}
	case k.Path == "server.sip.register[].server":
		return []string{"'sip:192.0.2.1:5070;transport=tcp'"}
	case k.Path == "server.sip.external":
		return []string{"203.0.113.7"}
	case k.Path == "server.sip.allow":
		return []string{"[192.0.2.1, 192.0.2.0/24]"}
	case k.Path == "server.sip.codecs":
		return []string{"[g722, pcma]"}
	case k.Path == "server.addr" || k.Path == "server.webrtc.addr" || k.Path == "server.webrtc.tcp":
		return []string{"127.0.0.1:1"}
	case k.Path == "server.dial.from":
		return []string{`"+15550123"`}
	case k.Path == "server.dial.allow":
		return []string{`["+49*", "+15550123"]`}
	case k.Path == "server.dial.carrier":
		return []string{"telnyx"}
	case k.Path == "server.dial.message":
		return []string{"Goodbye."}
	case k.Path == "server.twilio.url" || k.Path == "server.telnyx.url" || k.Path == "server.telnyx.api_url" || k.Path == "server.twilio.api_url":
		return []string{`"https://h/y"`}
	case k.Path == "server.path":
		return []string{"/voice/"}
	case k.Path == "server.origins":
		return []string{"[https://example.com]"}
	case strings.HasSuffix(k.Path, ".base_url"):
		return []string{"http://h/v1"}
	case strings.HasSuffix(k.Path, ".url") || k.Path == "upstream.secrets":
		return []string{`"http://h/y"`}
	case strings.HasSuffix(k.Path, ".schema"):
		return []string{`'{"type":"object"}'`}
	case k.Path == "tools.transfer[].to" || k.Path == "tools.transfer[].from":
		return []string{`"+15550123"`, "sip:ann@example.com"}
	case k.Path == "tools.transfer[].allow":
		return []string{`["+49*"]`}
	case k.Path == "server.trusted_proxies":
		return []string{"[10.0.0.0/8]"}
	case k.Path == "server.webrtc.public_ips":
		return []string{"[203.0.113.7]", "[voice.example.com]"}
	case k.Path == "server.webrtc.ports" || k.Path == "server.sip.ports":
		return []string{"50000-50100"}
	case k.Path == "server.webrtc.ice_servers[].urls":
		return []string{`["stun:stun.example.com", "stun:stun.example.com:3479"]`}
	case k.Path == "turn.auto.complete":
		return []string{"300ms"} // at most silence
	case k.Path == "turn.auto.silence":
		return []string{"700ms"} // at most incomplete
	case k.Path == "limits.session_warning":
		return []string{"31s"}
	case strings.Contains(k.Type, "`true`"):
		return []string{"true"}
	case strings.Contains(k.Type, "`, `"):
		words := strings.Split(strings.Trim(k.Type, "`"), "`, `")
		return words[1:]
	}
	byType := map[string][]string{
		"text": {"x"}, "path": {"c.yaml"}, "duration": {"21m"}, "duration or `off`": {"1.3s", "off"},
		"duration, 0 or more": {"3s"}, "number, 1 or more": {"7"}, "number or `off`": {"7", "off"},
		"number, 0 or more": {"7", "0"}, "above 0, up to 1, or `off`": {"0.4", "off"},
		"0 to 1, or `off`": {"0.4", "off"}, "above 0, up to 1": {"0.4"}, "list of duration": {"[7s, 8s]"},
		"list of text": {"[x]"},
	}
	v, ok := byType[k.Type]
	if !ok {
		t.Fatalf("%s has the unknown type %q", k.Path, k.Type)
	}
	return v
}

// document returns a file that sets one key, and the keys that its list requires with it.
func document(path, value string) string {
	if rest, ok := strings.CutPrefix(path, "tools."); ok {
		return toolsDocument(rest, value)
	}
	if rest, ok := strings.CutPrefix(path, "server.webrtc.ice_servers[]."); ok {
		entry := map[string]string{"urls": `["turn:turn.example.com"]`, "secret_env": "TURN_SECRET"}
		if rest == "username" || rest == "credential_env" { // one is nothing without the other
			entry = map[string]string{"urls": `["turn:turn.example.com"]`, "username": "u", "credential_env": "TURN_CREDENTIAL"} //nolint:gosec // the name of a variable
		}
		entry[rest] = value
		return "server: {webrtc: {ice_servers: [" + mapping(entry) + "]}}"
	}
	if rest, ok := strings.CutPrefix(path, "server.sip."); ok {
		return sipDocument(rest, value)
	}
	for _, carrier := range []string{"twilio", "telnyx"} {
		if rest, ok := strings.CutPrefix(path, "server."+carrier+"."); ok {
			return carriers(carrier, rest, value)
		}
	}
	if rest, ok := strings.CutPrefix(path, "server.dial."); ok {
		return dialSection(rest, value)
	}
	section, rest, ok := strings.Cut(path, ".")
	if !ok {
		return path + ": " + value
	}
	if other := beside[path]; other != "" {
		return section + ": {" + other + ", " + rest + ": " + value + "}"
	}
	if services[section] != nil && rest != "name" {
		return service(path, value)
	}
	if list, isList := strings.CutSuffix(section, "[]"); isList {
		entry := map[string]string{"after": "10s", "code": "checkin.1", rest: value}
		var fields []string
		for _, key := range []string{"after", "code", "end"} {
			if v, ok := entry[key]; ok {
				fields = append(fields, key+": "+v)
			}
		}
		return list + ": [{" + strings.Join(fields, ", ") + "}]"
	}
	// A threshold for silence must not exceed the one for speech.
	switch rest {
	case "thresholds.energy_low":
		return "turn: {thresholds: {energy_high: 0.5, energy_low: " + value + "}}"
	case "tls.cert", "tls.key": // one is nothing without the other
		return "server: {tls: {cert: " + value + ", key: " + value + "}}"
	case "thresholds.energy_high", "thresholds.vad_speaking":
		rest = "thresholds"
		value = "{" + path[strings.LastIndexByte(path, '.')+1:] + ": " + value + "}"
	}
	return section + ": {" + document(rest, value) + "}"
}

// TestProfiles checks that a common key changes each profile, but not the defaults of a
// phase.
func TestProfiles(t *testing.T) {
	resolved := func(text string) turn.Profiles {
		return mustLoad(t, text).Conversation.BargeIn.Resolved()
	}
	def := turn.Profiles{}.Resolved()
	if got := resolved("barge_in: {policy: hybrid}"); got != def {
		t.Errorf("a config with the default written down has other options: %+v", got)
	}
	got := resolved("barge_in: {min_words: 3, min_speech: 300ms}")
	want := def
	want.Greeting.MinWords, want.Reply.MinWords, want.ReadBack.MinWords = 3, 3, 3
	want.Reply.MinSpeech = 300 * time.Millisecond
	if got != want {
		t.Errorf("common numbers give\n%+v\nexpected\n%+v", got, want)
	}
	got = resolved("barge_in: {policy: none, greeting: {policy: energy}}")
	want = def
	want.Greeting.Policy, want.Reply.Policy = turn.BargeInEnergy, turn.BargeInNone
	want.ReadBack.Policy, want.Thinking.Policy = turn.BargeInNone, turn.BargeInNone
	if got != want {
		t.Errorf("a common policy gives\n%+v\nexpected\n%+v", got, want)
	}
	got = resolved("barge_in: {read_back: {min_speech: off}}")
	want = def
	want.ReadBack.MinSpeech = turn.Off
	if got != want {
		t.Errorf("a profile alone gives\n%+v\nexpected\n%+v", got, want)
	}
	seeds := turn.SeedsBargeIn().Or(turn.DefaultBargeIn())
	got = resolved("barge_in: seeds")
	want = turn.Profiles{Greeting: seeds, Reply: seeds, ReadBack: seeds, Thinking: def.Thinking}
	if got != want {
		t.Errorf("the preset gives\n%+v\nexpected\n%+v", got, want)
	}
	got = resolved("barge_in: {reply: seeds, min_words: 3}")
	want = def
	want.Reply = seeds
	want.Greeting.MinWords, want.Reply.MinWords, want.ReadBack.MinWords = 3, 3, 3
	if got != want {
		t.Errorf("the preset for one phase gives\n%+v\nexpected\n%+v", got, want)
	}
}

// TestNamesAgree checks that the config accepts the names of the packages.
func TestNamesAgree(t *testing.T) {
	if config.Off != turn.Off {
		t.Errorf("off is %d in the config and %d in package turn", config.Off, turn.Off)
	}
	for _, policy := range turn.Policies() {
		mustLoad(t, "turn: "+string(policy))
	}
	for _, policy := range []turn.BargeInPolicy{turn.BargeInHybrid, turn.BargeInEnergy, turn.BargeInWords, turn.BargeInNone, "seeds"} {
		mustLoad(t, "barge_in: "+string(policy))
	}
	for _, privacy := range []conv.Privacy{conv.PrivacyKeep, conv.PrivacySession, conv.PrivacyNone} {
		mustLoad(t, "privacy: "+string(privacy))
	}
}

func TestAggressive(t *testing.T) {
	got := mustLoad(t, "turn: {easyturn: {aggressive: true, hysteresis: 100ms}}").Turn.EasyTurn
	want := turn.EasyTurnOptions{MinSilence: 300 * time.Millisecond, Hysteresis: 100 * time.Millisecond}
	if got != want {
		t.Errorf("got %+v, expected %+v", got, want)
	}
}

// TestRefused checks that errors of the packages name the config's keys and positions.
func TestRefused(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"thresholds", "turn:\n  thresholds:\n    energy_low: 0.5\n", "c.yaml:3:5: turn.thresholds.energy_low: is 0.5: expected at most energy_high, 0.02"},
		{"the other threshold", "turn:\n  thresholds:\n    vad_speaking: 0.1\n", "c.yaml:3:5: turn.thresholds.vad_silence: is 0.3: expected at most vad_speaking, 0.1"},
		{"no speech", "turn: {thresholds: {energy_high: off, vad_speaking: off, energy_low: off, vad_silence: off}}", "c.yaml:1:21: turn.thresholds.energy_high: is off: expected a level here or in vad_speaking"},
		{"easyturn", "turn:\n  easyturn: {min_silence: 2s, max_silence: 1s}\n", "c.yaml:2:31: turn.easyturn.max_silence: is 1s: expected at least min_silence, 2s"},
		{"semantic", "turn: {semantic: {min_silence: 4s}}", "c.yaml:1:19: turn.semantic.max_silence: is 2.5s: expected at least min_silence, 4s"},
		{"stability", "turn: {stability: {min_samples: 33}}", "c.yaml:1:20: turn.stability.min_samples: is 33: expected 1 to 32"},
		{"several", "turn:\n  silence: {after: 1s}\n  semantic: {min_silence: 4s}\n  easyturn: {max_silence: 100ms}\n", "c.yaml:3:14: turn.semantic.max_silence: is 2.5s: expected at least min_silence, 4s\n" +
			"c.yaml:4:14: turn.easyturn.max_silence: is 100ms: expected at least min_silence_short, 500ms"},
		{"session", "limits: {session: 10s}", "c.yaml:1:10: limits.session_warning: is 30s: expected less than session, 10s"},
		{"feedback", "limits:\n  feedback:\n    - {after: 5s, code: working.0}\n    - {after: 5s, code: working.1}\n", "c.yaml:4:8: limits.feedback[1].after: is 5s: expected more than that of the step before, 5s"},
		{"dead air", "dead_air:\n  steps:\n    - {after: 5s, code: goodbye, end: true}\n    - {after: 5s, code: checkin.1}\n", "c.yaml:3:34: dead_air.steps[0].end: is true: expected only in the last of the 2 steps"},
		{"code", "dead_air: {steps: [{after: 5s, code: chekin.1}]}", `c.yaml:1:32: dead_air.steps[0].code: is "chekin.1": expected the code of a message; did you mean checkin.1?`},
		{"feedback's code", "limits: {feedback: [{after: 5s, code: zzz}]}", `c.yaml:1:33: limits.feedback[0].code: is "zzz": expected the code of a message`},
		{"language", "language: xx", `c.yaml:1:1: language: is "xx": expected one of de, en`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := load(t, tc.text)
			if err == nil || err.Error() != tc.want {
				t.Errorf("got\n%v\nexpected\n%s", err, tc.want)
			}
		})
	}
}

// TestEverythingAtOnce checks that mistakes in the file and errors of the packages are reported
// together, in the order of the file.
func TestEverythingAtOnce(t *testing.T) {
	_, err := load(t, "language: xx\nfoo: 1\nlimits: {session: 10s, session_warning: 20s}\nturn: {silence: {after: x}}\n")
	want := []string{"c.yaml:1:", "c.yaml:2:", "c.yaml:3:", "c.yaml:4:"}
	lines := strings.Split(err.Error(), "\n")
	for i := range want {
		if len(lines) != len(want) || !strings.HasPrefix(lines[i], want[i]) {
			t.Fatalf("got\n%v", err)
		}
	}
}

func TestAgentConfig(t *testing.T) {
	files := []agent.File{
		{Name: "a.yaml", Data: []byte("settings: {language: de, turn: {policy: silence}}\nflows: {}\n")},
		{Name: "b.yaml", Data: []byte("settings: {barge_in: words, handoff: true}\n")},
	}
	c, err := settings.OfAgent(files)
	if err != nil {
		t.Fatal(err)
	}
	base, err := config.Parse("c.yaml", []byte("turn: {policy: manual, silence: {after: 1s}}"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := NewOptions(c.Or(base))
	if err != nil {
		t.Fatal(err)
	}
	if o.Turn.Policy != "silence" || o.Turn.Silence.After != time.Second || o.Conversation.BargeIn.Reply.Policy != turn.BargeInWords || o.Conversation.Language != "" {
		t.Errorf("got %+v", o)
	}
	files[1].Data = []byte("settings: {barge_in: {polcy: words}}\n")
	if _, err = settings.OfAgent(files); err == nil || err.Error() != "b.yaml:1:23: barge_in.polcy: unknown key; did you mean policy?" {
		t.Errorf("got %v", err)
	}
}

// TestEngines checks that errors about an unknown voice and a missing file name their
// positions.
func TestEngines(t *testing.T) {
	for text, want := range map[string]string{
		"speech: {voice: kall16}":                      `c.yaml:1:10: speech.voice: is "kall16": expected one of slt, rms, kal16; did you mean kal16?`,
		"speech: {recognizer: [soniox, soniox]}":       `speech.recognizer: has soniox twice`,
		"speech: {synthesizer: [flite, sonix]}":        `speech.synthesizer[1]: is "sonix": expected one of flite, piper, cartesia, deepgram, elevenlabs, soniox; did you mean soniox?`,
		"speech: {soniox: {recognizer_url: http://h}}": "speech.soniox.recognizer_url: is not the address of a WebSocket: expected a URL such as wss://HOST/PATH",
		"speech: {recognizer: [[soniox]]}":             `speech.recognizer[0]: is a list: expected one of pocketsphinx, deepgram, soniox`,
		"speech: {silero: {weights: w.onnx}}":          "c.yaml:1:19: speech.silero.weights: w.onnx: no such file",
		"speech: {pocketsphinx: {dictionary: d.dic}}":  "speech.pocketsphinx.dictionary: d.dic: no such file",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
}

// TestCarrierURL checks that invalid addresses of carriers are errors of the config, and that the
// errors do not contain a password in the address.
func TestCarrierURL(t *testing.T) {
	for _, name := range []string{"twilio", "telnyx"} {
		for text, want := range map[string]string{
			"url: http://h/x":           "c.yaml:1:19: server." + name + ".url: is invalid: expected one such as https://",
			"url: h/x":                  "server." + name + ".url: is invalid",
			"url: 'https:///x'":         "server." + name + ".url: is invalid",
			"url: 'https://:443/x'":     "server." + name + ".url: is invalid",
			"url: 'https://u:pass@h/x'": "server." + name + ".url: is invalid",
			"url: 'https://h/x?a=1'":    "server." + name + ".url: is invalid",
			"agent: a":                  "c.yaml:1:10: server." + name + ": has no url",
		} {
			if _, err := load(t, "server: {"+name+": {"+text+"}}"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pass") {
				t.Errorf("%s: %v, expected %q", text, err, want)
			}
		}
		for _, text := range []string{"https://h/x/", "https://h:8443/x", "https://h"} {
			mustLoad(t, "server: {"+name+": {url: '"+text+"'}}")
		}
	}
	for text, want := range map[string]string{ //nolint:gosec // no credentials
		"api_url: 'ftp://h'":        "server.telnyx.api_url: is invalid: expected one such as https://api.telnyx.com/v2",
		"api_url: 'https://pass@h'": "server.telnyx.api_url: is invalid: must not contain a user name",
		"codec: opus":               "server.telnyx.codec: is \"opus\"",
	} {
		if _, err := load(t, "server: {telnyx: {url: 'https://h', "+text+"}}"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pass") {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
}

// TestSIPProblems: what is wrong with the section server.sip is told with the file.
func TestSIPProblems(t *testing.T) {
	for text, want := range map[string]string{ //nolint:gosec // no credentials
		"allow: [10.0.0.0/8]":                                                                     "c.yaml:1:10: server.sip: has no addr",
		"addr: '127.0.0.1:5060'":                                                                  "server.sip: has neither allow nor users nor register, without which nobody may call",
		"addr: localhost, allow: [10.0.0.1]":                                                      `server.sip: addr is "localhost": expected an IP address and a port`,
		"addr: '127.0.0.1:5060', allow: [x]":                                                      `server.sip: allow[0] is "x": expected an address or a network`,
		"addr: '127.0.0.1:5060', allow: ['::1'], external: x":                                     "server.sip: external is invalid",
		"addr: '127.0.0.1:5060', allow: ['::1'], ports: 9-8":                                      "server.sip: ports is",
		"addr: '127.0.0.1:5060', allow: ['::1'], ports: 80-90":                                    "server.sip: the ports are 80 to 90",
		"addr: '127.0.0.1:5060', allow: ['::1'], codecs: [pcmu, mp3]":                             `server.sip: codecs[1] is "mp3": expected one of opus, g722, pcma, pcmu`,
		"addr: '127.0.0.1:5060', register: [{server: pbx, name: a}]":                              "server.sip: register[0]: the address is invalid: expected one such as sip:pbx.example.com",
		"addr: '127.0.0.1:5060', users: [{name: ada}]":                                            "server.sip: users[0] has no name or no password_env",
		"addr: '127.0.0.1:5060', allow: ['::1'], numbers: [{agent: a}]":                           "server.sip: numbers[0] has no number",
		"addr: '127.0.0.1:5060', allow: ['::1'], numbers: [{number: '1'}, {number: '+1'}]":        "server.sip: numbers[1] has a number that another one has",
		"addr: '127.0.0.1:5060', users: [{name: a, password_env: A}, {name: a, password_env: B}]": "server.sip: users has the name of users[1] twice",
	} {
		if _, err := load(t, "server: {sip: {"+text+"}}"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
}
