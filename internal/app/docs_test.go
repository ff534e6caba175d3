package app

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/leg/sip"
	"github.com/hocketvoice/hocket/provider/realtime"
	"github.com/hocketvoice/hocket/server/gate"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/task"
	"github.com/hocketvoice/hocket/tool/a2a"
	"github.com/hocketvoice/hocket/tool/command"
	httptool "github.com/hocketvoice/hocket/tool/http"
	"github.com/hocketvoice/hocket/tool/mcp"
	"github.com/hocketvoice/hocket/tool/transfer"
	"github.com/hocketvoice/hocket/turn"
)

const configDocument = "../../docs/config.md"

func readDocument(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(configDocument)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// profiles are the profiles of barge_in, in the order of the columns of their table.
var profiles = []string{"greeting", "reply", "read_back", "thinking"}

// documentedKeys returns the documented value of each key.
func documentedKeys(t *testing.T) map[string]string {
	t.Helper()
	rows := make(map[string]string)
	add := func(key, value string) {
		if _, ok := rows[key]; ok {
			t.Errorf("%s is documented twice", key)
		}
		rows[key] = value
	}
	for line := range strings.Lines(readDocument(t)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch key := strings.Trim(cells[0], "`"); len(cells) {
		case 3:
			for _, key := range expanded(key) {
				add(key, cells[1])
			}
		case 4 + len(profiles):
			add("barge_in."+key, documentedValue(cells[1], cells[2]))
			for i, p := range profiles {
				add("barge_in."+p+"."+key, documentedValue(cells[1], cells[3+i]))
			}
		}
	}
	return rows
}

// documentedValue returns the cell for a key of a type with a default, or "-".
func documentedValue(typ, value string) string {
	switch {
	case value == "-":
		return typ
	case slices.Contains([]string{"`true`, `false`", "duration", "number, 1 or more", "above 0, up to 1"}, typ), strings.HasPrefix(typ, "list of "):
		return value
	case strings.HasPrefix(typ, "`"):
		values := strings.Split(typ, ", ")
		for i, v := range values {
			if v == value && len(values) > 1 {
				values[i] = "**" + v + "**"
			}
		}
		return strings.Join(values, ", ")
	case typ == "duration or `off`" && value == "`off`":
		return value + " or duration"
	case strings.HasSuffix(typ, " or `off`"):
		return value + " or `off`"
	default:
		return value + ", " + strings.TrimPrefix(typ, "number, ")
	}
}

// expanded returns the keys that a key with braces stands for.
func expanded(key string) []string {
	before, rest, ok := strings.Cut(key, "{")
	list, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{key}
	}
	var keys []string
	for _, name := range strings.Split(list, ",") {
		keys = append(keys, before+name+after)
	}
	return keys
}

// TestDocumentAgrees compares docs/config.md with the config's structs, both ways, and
// its defaults with those of the packages.
func TestDocumentAgrees(t *testing.T) {
	defaults := engineDefaults(t)
	rows := documentedKeys(t)
	for _, k := range config.Keys() {
		got, ok := rows[k.Path]
		if !ok {
			t.Errorf("%s is not documented", k.Path)
			continue
		}
		delete(rows, k.Path)
		value, ok := defaults[k.Path]
		if !ok {
			t.Errorf("%s: this test does not know the default", k.Path)
		}
		if value != "-" {
			value = "`" + value + "`"
		}
		if want := documentedValue(k.Type, value); got != want {
			t.Errorf("%s: documented value %s, expected %s", k.Path, got, want)
		}
		delete(defaults, k.Path)
	}
	for key := range rows {
		t.Errorf("%s is documented and does not exist", key)
	}
	for key := range defaults {
		t.Errorf("%s has a default here and does not exist", key)
	}
}

// TestDocumentExamples checks that each example loads, and that those that show a default
// equal it.
func TestDocumentExamples(t *testing.T) {
	text := readDocument(t)
	examples := regexp.MustCompile("(?s)([^\n]*)\n\n```yaml\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(examples) != 5 {
		t.Fatalf("%d examples, expected 5", len(examples))
	}
	for i, example := range examples {
		o := mustLoad(t, example[2])
		switch i {
		case 0:
			if o.Turn.EasyTurn.MinSilence != 350*time.Millisecond {
				t.Errorf("the first example gives %+v", o)
			}
		case 1:
			if want := turn.DefaultDeadAir(); !reflect.DeepEqual(o.Conversation.DeadAir.Steps, want) {
				t.Errorf("dead air: documented %+v, it is %+v", o.Conversation.DeadAir.Steps, want)
			}
		case 2:
			if want := conv.DefaultOptions().Limits.Feedback; !reflect.DeepEqual(o.Conversation.Limits.Feedback, want) {
				t.Errorf("feedback: documented %+v, it is %+v", o.Conversation.Limits.Feedback, want)
			}
		case 3:
			if o.Speech.Recognizer != "soniox pocketsphinx" || o.Speech.Synthesizer != "soniox flite" {
				t.Errorf("speech: %+v", o.Speech)
			}
		case 4:
			if len(o.Tools.MCP) != 1 || len(o.Tools.HTTP) != 1 || !o.Tools.MCP[0].Tools[0].Confirm || len(o.Tools.Command) != 1 || o.Tools.Command[0].Stdin != "{question}" {
				t.Errorf("the last example gives %+v", o.Tools)
			}
		}
	}
}

// toolDefaults are the defaults of the section tools that are not zero.
var toolDefaults = map[string]string{
	"tools.mcp[].start_timeout":         mcp.DefaultStartTimeout.String(),
	"tools.mcp[].timeout":               mcp.DefaultTimeout.String(),
	"tools.http[].method":               "POST",
	"tools.http[].timeout":              httptool.DefaultTimeout.String(),
	"tools.http[].retries":              fmt.Sprint(httptool.DefaultRetries),
	"tools.http[].parameters[].type":    "string",
	"tools.command[].stdin":             command.DefaultStdin,
	"tools.command[].output":            command.DefaultOutput,
	"tools.command[].timeout":           command.DefaultTimeout.String(),
	"tools.command[].parameters[].type": "string",
	"tools.a2a[].start_timeout":         a2a.DefaultStartTimeout.String(),
	"tools.transfer[].ring":             transfer.DefaultRing.String(),
	"tools.a2a[].timeout":               a2a.DefaultTimeout.String(),
}

// upstreamDefaults are the defaults of the sections upstream and upstreams that are not zero.
var upstreamDefaults = map[string]string{
	"beta":        "false",
	"detection":   realtime.DetectServer,
	"silence":     realtime.DefaultSilence.String(),
	"threshold":   fmt.Sprint(realtime.DefaultThreshold),
	"eagerness":   realtime.DefaultEagerness,
	"transcriber": realtime.DefaultTranscriber,
	"format":      realtime.FormatPCM,
}

// engineDefaults returns the defaults of the packages, by key.
func engineDefaults(t *testing.T) map[string]string {
	d := make(map[string]string)
	o := conv.DefaultOptions()
	for path, v := range map[string]any{
		"language": o.Language, "privacy": string(o.Privacy), "history_limit": o.HistoryLimit, "summary_turns": o.SummaryTurns,
		"speak_notices": o.SpeakNotices, "resume_after_false_interruption": o.ResumeAfterFalseInterruption,
		"model.api": llm.Chat, "models[].api": llm.Chat, "turn.policy": o.Endpoint, "dead_air.off": o.DeadAir.Off, "dead_air.steps[].end": false,
		"turn.easyturn.aggressive": false,
		"speech.recognizer":        DefaultRecognizer, "speech.synthesizer": DefaultSynthesizer,
		"speech.detector": DefaultDetector, "speech.end_of_turn": DefaultEndOfTurn, "filter.echo": echoDefault(t),
		"server.addr": DefaultAddr, "server.open": false, "server.keys.env": DefaultKeysEnv,
		"server.max_conversations": DefaultMaxConversations, "server.max_streams": DefaultMaxStreams, "server.max_lateness": hub.DefaultMaxLateness,
		"server.max_connections": gate.DefaultMost, "server.max_connections_per_address": gate.DefaultPerAddress,
		"server.sip.max_hold":           sip.DefaultMaxHold,
		"server.sip.register[].expires": sip.DefaultExpires,
		"server.drain":                  DefaultDrain, "server.resume": DefaultResume, "server.url": "-", "timezone": "-", "server.node": "-", "server.developers": "-", "recording.notice": "-", "server.access_log": false, "server.webrtc.keep_private": false, "server.webrtc.ice_servers[].valid": time.Hour, "server.one_per_caller": false,
		"server.dial.ring": DefaultDialRing, "server.dial.per_number": DefaultDialPerNumber, "server.dial.per_day": DefaultDialPerDay,
		"server.dial.machine": DefaultDialMachine, "recording.announced": false, "recording.limit": DefaultRecording,
	} {
		d[path] = written(reflect.ValueOf(v))
	}
	for _, path := range []string{
		"greeting", "filter.echo_level", "filter.echo_delay", "dead_air.steps[].after", "dead_air.steps[].code", "limits.feedback[].after",
		"limits.feedback[].code", "speech.voice", "speech.silero.weights", "speech.models", "speech.piper.network",
		"speech.pocketsphinx.acoustic_model", "speech.pocketsphinx.language_model", "speech.pocketsphinx.dictionary",
		"store.path", "store.keys", "store.keep", "model.name", "model.base_url", "model.key_env", "model.api_version", "model.organization", "model.max_tokens", "model.window",
		"models[].name", "models[].base_url", "models[].key_env", "models[].api_version", "models[].organization", "models[].max_tokens", "models[].window",
		"server.path", "server.keys.file", "server.origins", "server.trusted_proxies", "server.tls.cert", "server.tls.key", "server.max_per_key",
		"server.webrtc.addr", "server.webrtc.ports", "server.webrtc.tcp", "server.webrtc.public_ips",
		"server.webrtc.ice_servers[].urls", "server.webrtc.ice_servers[].secret_env", "server.webrtc.ice_servers[].username",
		"server.webrtc.ice_servers[].credential_env", "server.twilio.url", "server.twilio.secret_env", "server.twilio.agent",
		"server.sip.addr", "server.sip.tls_addr", "server.sip.external", "server.sip.ports", "server.sip.codecs", "server.sip.encrypt", "server.sip.allow",
		"server.sip.users[].name", "server.sip.users[].password_env", "server.sip.agent", "server.sip.register[].server", "server.sip.register[].name", "server.sip.register[].password_env", "server.sip.numbers[].number", "server.sip.numbers[].agent",
		"server.telnyx.url", "server.telnyx.key_env", "server.telnyx.public_key_env", "server.telnyx.agent", "server.telnyx.codec", "server.telnyx.api_url",
		"server.twilio.account_env", "server.twilio.api_url", "server.telnyx.connection", "server.dial.from", "server.dial.allow", "server.dial.carrier", "server.dial.message",
	} {
		d[path] = "-"
	}
	for _, v := range Vendors() {
		for _, name := range []string{"key_env", "voice", "recognizer_model", "recognizer_url", "synthesizer_model", "synthesizer_url"} {
			if v.hears() || !strings.HasPrefix(name, "recognizer_") {
				d["speech."+v.Name+"."+name] = "-"
			}
		}
	}
	for _, k := range config.Keys() {
		if section, name, _ := strings.Cut(k.Path, "."); section == "upstream" || section == "upstreams[]" {
			d[k.Path] = cmp.Or(upstreamDefaults[name], "-")
		}
		if strings.HasPrefix(k.Path, "tools.") {
			d[k.Path] = toolDefaults[k.Path]
			switch {
			case strings.HasSuffix(k.Path, ".duplicates"):
				d[k.Path] = string(task.Allow) // the zero Policy, as package task says
			case strings.HasSuffix(k.Path, ".duplicates_by"):
				d[k.Path] = string(task.ByName)
			case d[k.Path] == "":
				d[k.Path] = "-"
			}
			if strings.Contains(k.Type, "`true`") {
				d[k.Path] = "false"
			}
		}
	}
	// Package conv names its fields as the config does.
	tagged := func(prefix string, v any) {
		s := reflect.ValueOf(v)
		for i := range s.NumField() {
			name, _, _ := strings.Cut(s.Type().Field(i).Tag.Get("json"), ",")
			d[prefix+name] = written(s.Field(i))
		}
	}
	tagged("limits.", o.Limits)
	delete(d, "limits.feedback") // an example has it
	tagged("retry.", o.Retry)
	tagged("barge_in.", turn.DefaultBargeIn())
	tagged("barge_in.greeting.", o.BargeIn.Greeting)
	tagged("barge_in.reply.", o.BargeIn.Reply)
	tagged("barge_in.read_back.", o.BargeIn.ReadBack)
	tagged("barge_in.thinking.", o.BargeIn.Thinking)

	// Package turn shows its defaults only in the values that it makes.
	hidden := func(prefix string, keys, made any, path ...string) {
		v := reflect.Indirect(reflect.ValueOf(made))
		for _, name := range path {
			v = v.FieldByName(name)
		}
		for i, s := 0, reflect.TypeOf(keys); i < s.NumField(); i++ {
			if f := v.FieldByName(s.Field(i).Name); f.IsValid() {
				d[prefix+s.Field(i).Tag.Get("yaml")] = written(f)
			}
		}
	}
	auto, err := turn.New(turn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hidden("turn.auto.", config.Auto{}, auto, "o")
	made, err := turn.New(turn.Options{Policy: turn.PolicyEasyTurn})
	if err != nil {
		t.Fatal(err)
	}
	hidden("turn.easyturn.", config.EasyTurn{}, made, "configured")
	hidden("turn.thresholds.", config.Thresholds{}, made, "configured", "Thresholds")
	semantic, err := turn.NewSemantic(turn.SemanticOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hidden("turn.semantic.", config.Semantic{}, semantic, "o")
	silence, err := turn.New(turn.Options{Policy: turn.PolicySilence})
	if err != nil {
		t.Fatal(err)
	}
	d["turn.silence.after"] = written(reflect.ValueOf(silence).Elem().FieldByName("after"))
	onset, err := turn.NewOnset(turn.OnsetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hidden("turn.onset.", config.Onset{}, onset, "o")
	stability, err := turn.NewStability(turn.StabilityOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"window", "minSamples", "spacing"} {
		key := map[string]string{"minSamples": "min_samples"}[name]
		if key == "" {
			key = name
		}
		d["turn.stability."+key] = written(reflect.ValueOf(stability).Elem().FieldByName(name))
	}
	return d
}

// echoDefault finds the default of the echo filter by its effect: the largest share, in
// tenths, that gives the same verdict.
func echoDefault(t *testing.T) float64 {
	const playing = "one two three four five six seven eight nine ten"
	found := -1.0
	for n := 1; n <= 10; n++ {
		// n of ten words come back; the others are lost in noise.
		words := strings.Fields(playing)
		for i := n; i < len(words); i++ {
			words[i] = "zug" + strings.Repeat("z", i)
		}
		// The foreign words are spread out, so that they do not count as speech.
		var heard []string
		for i, j := 0, n; i < n || j < len(words); {
			if i < n {
				heard = append(heard, words[i])
				i++
			}
			if j < len(words) {
				heard = append(heard, words[j])
				j++
			}
		}
		if turn.Classify(strings.Join(heard, " "), playing, nil, turn.FilterOptions{}).Kind == turn.Echo {
			found = float64(n) / 10
			break
		}
	}
	if found < 0 {
		t.Fatal("no share of words counts as an echo")
	}
	return found
}

// written returns a value as the document writes it.
func written(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice:
		var all []string
		for i := range v.Len() {
			all = append(all, written(v.Index(i)))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case reflect.Int64:
		if v.Int() == turn.Off {
			return "off"
		}
		s := time.Duration(v.Int()).String()
		if strings.HasSuffix(s, "m0s") {
			s = strings.TrimSuffix(s, "0s")
		}
		return s
	case reflect.Float64:
		return fmt.Sprint(v.Float())
	case reflect.Int:
		return fmt.Sprint(v.Int())
	case reflect.Bool:
		return fmt.Sprint(v.Bool())
	default:
		return v.String()
	}
}

// TestProvidersDocument checks that docs/providers.md has the tables of the code.
func TestProvidersDocument(t *testing.T) {
	b, err := os.ReadFile("../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{ProvidersTable(), ModelsTable()} {
		if !strings.Contains(string(b), "\n"+want+"\n") {
			t.Errorf("docs/providers.md does not have this table:\n%s", want)
		}
	}
}
