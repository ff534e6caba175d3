package archtest

// The tables of the rules. Anything not in a table is not allowed, and entries that
// are no longer needed are reported.

// testOnly, in place of a layer, marks packages that only tests import.
const testOnly = -1

// layers gives each package its layer; a star matches one path element. A package
// may import only packages of lower layers, and the rooms before it.
var layers = []struct {
	layer int
	dirs  []string
}{
	{9, []string{"cmd/hocket", "examples/assistant", "examples/call", "examples/browsers", "examples/functions", "examples/machine", "turn/ending/train"}}, // main packages
	{8, []string{"internal/cli"}},
	{7, []string{"internal/app"}},
	{6, []string{"server"}},
	{5, []string{"internal/model", ".", "server/api", "internal/bench", "internal/eval", "internal/editor", "server/telemetry"}},
	{4, []string{"server/hub", "leg/*", "provider/*", "tool/*", "detector/*", "store/*", "task", "examples/airline"}},
	{3, []string{"session", "server/node", "internal/explore/gen", "internal/chain", "internal/hosted", "internal/llm", "provider/anthropic/fake", "provider/google/fake", "provider/deepgram/fake", "provider/elevenlabs/fake", "provider/cartesia/fake", "provider/soniox/fake", "internal/carrier/fake"}},
	{2, []string{"journal", "store", "internal/media", "internal/explore", "internal/toolset", "internal/carrier", "internal/rtpsound", "internal/connection", "internal/failure", "internal/socket", "internal/settings", "server/tokens", "internal/process", "leg/realtime/projection", "internal/fakes"}},
	{1, []string{"port", "conv", "internal/codec/*", "internal/recording", "internal/echo", "internal/dialing"}},
	{0, []string{"port/errclass", "conv/view", "internal/timers", "turn", "dialog", "dialog/*", "audio", "internal/wire/*", "internal/messages", "internal/yamlfile", "internal/config", "internal/seal", "internal/redact", "internal/httpclient", "server/panel", "server/gate", "internal/routes", "internal/wait", "internal/timezone", "internal/sqlitefile", "internal/onnx", "internal/clauses", "internal/edits", "examples", "examples/research/desk", "turn/ending"}},
	// detector, provider and leg contain common tests of the adapters below them.
	{testOnly, []string{"archtest", "convtest", "porttest", "internal/nettest", "internal/pgtest", "internal/waittest", "internal/seeds", "internal/sgd", "detector", "provider", "leg", "provider/openai/fake", "provider/realtime/fake"}},
}

// rooms are lists of packages of one layer that form a unit, with the reader that two of
// them share. Each may import those listed before it.
var rooms = [][]string{
	{"internal/yamlfile", "dialog/value", "dialog/agent", "dialog/command", "dialog/words", "dialog", "dialog/rasa"},
	{"internal/yamlfile", "internal/config"},
	{"internal/model", "."},
	{"internal/failure", "internal/socket"},
	{"internal/connection", "internal/carrier"},
	{"turn", "dialog"},
	{"turn/ending", "turn"},
}

// onlyImportedBy restricts the importers of a package.
var onlyImportedBy = map[string][]string{
	"internal/yamlfile": {"dialog/agent", "internal/config", "internal/eval"},
	"internal/config":   {"internal/app", "internal/cli", "internal/model", "internal/settings"},
	"internal/cli":      {"cmd/hocket"},
}

// wrapped are other modules that only one package imports, except for tests.
var wrapped = map[string]string{
	"github.com/goccy/go-yaml":        "internal/yamlfile",
	"github.com/ebitengine/purego":    "internal/onnx",
	"github.com/sourcegraph/jsonrpc2": "internal/editor",
}

// public packages form the library: every exported name has a doc comment.
var public = []string{".", "server", "audio", "turn", "dialog", "dialog/*", "conv", "conv/view", "port", "port/errclass", "journal", "session"}

// pure packages are deterministic: the same calls yield the same results, bit for
// bit, on every machine.
var pure = []string{"port/errclass", "conv", "conv/view", "internal/timers", "turn", "turn/ending", "dialog", "dialog/*", "audio", "internal/wire/*", "internal/messages", "internal/yamlfile", "leg/realtime/projection", "internal/recording", "internal/dialing"}

// pureImports are the packages of the standard library that a pure package may
// import. Deliberately absent: context and sync (a pure package has one owner and
// does not wait), os, net, log, syscall, runtime, reflect and unsafe (they depend
// on the machine), math/rand, testing.
var pureImports = []string{
	"bufio", "bytes", "cmp", "container/heap", "container/list", "container/ring",
	"crypto/hmac", "crypto/sha1", "crypto/sha256", "crypto/sha512", "embed",
	"encoding", "encoding/base64", "encoding/binary", "encoding/hex", "encoding/json", "encoding/xml",
	"errors", "fmt", "hash", "hash/crc32", "hash/fnv", "html", "io", "iter", "maps", "math", "math/big", "math/bits", "mime",
	"net/netip", "net/textproto", "net/url", "path", "regexp", "slices", "sort", "strconv", "strings",
	"text/scanner", "time", "unicode", "unicode/utf16", "unicode/utf8",
}

// pureModules are the other modules that a pure package may import, and why.
var pureModules = map[string]string{
	"github.com/goccy/go-yaml": "YAML files: a decoder of bytes, without clock or state",
}

// sharedTables are variables of pure packages, by folder and name, that are read
// through pointers, and why.
var sharedTables = map[string]string{
	"audio: aLawPCM":     "a table of 256 samples that a copy would cost with every frame",
	"audio: muLawPCM":    "a table of 256 samples that a copy would cost with every frame",
	"conv: descriptions": "the table of the events: a copy of a row would cost with every step",
}

// workers are the functions that start goroutines outside tests, with the function
// that waits for each.
var workers = map[string]string{
	"internal/explore: (*explorer).expand":    "a fork and join: it waits for its workers before it returns",
	"internal/explore: runAll":                "a fork and join: it waits for the explorations before it returns",
	"internal/app: (*Server).Run":             "itself: it takes what Serve returns before it does",
	"internal/app: (*Server).watch":           "itself, before it returns",
	"server/node: (*Home).Run":                "itself, before it returns",
	"server/node: Claim":                      "the Close of what it returns, or itself",
	"internal/cli: (*serveCmd).Run":           "nobody: a callback that only gives the signals back",
	"internal/editor: (*server).initialize":   "Run, which ends them first",
	"internal/editor: (*relay).follow":        "the relay's run, which cancels them first",
	"internal/editor: (*peer).follow":         "itself, before it returns",
	"internal/cli: (*talkCmd).Run":            "nobody: a callback that only gives the signals back",
	"internal/app: (*dialer).Dial":            "the dialer's end, which the server's Close runs",
	"internal/app: (*dialer).screen":          "itself, before it returns",
	"internal/app: ringTelnyx":                "the ending that it returns, or itself",
	"internal/app: Talk":                      "nobody: a callback that hangs up, which may follow the call",
	"leg/device: (*Leg).Close":                "itself for a second; then nobody: the system does not let go of a device that is gone",
	"server/hub: (*Conversation).rested":      "Drain, which waits for all conversations",
	"server/hub: (*Hub).Start":                "Drain, which waits for all conversations",
	"server/hub: (*Hub).forget":               "nobody: a timer's callback that only forgets what has ended; Drain stops it",
	"internal/bench: (*Browser).run":          "its Close",
	"internal/bench: WebRTC":                  "itself, before it returns",
	"internal/bench: measurePhone":            "itself, before it returns",
	"internal/bench: WS":                      "itself, before it returns",
	"internal/bench: serveRealtime":           "the function that it returns",
	"leg/webrtc: (*Leg).OnMessage":            "one of the leg's workers; Close waits for it",
	"leg/webrtc: (*Leg).start":                "the leg's two workers; Close waits for them",
	"leg/webrtc: (*peer).work":                "what reads one connection; its close waits for it",
	"internal/llm: (*watch).await":            "a timer, whose callback only cancels the request's context; its stop, before the request returns",
	"provider/realtime: (*stream).run":        "Close, which waits for the three workers",
	"session: (*Session).spawner":             "Run and RunVirtual wait for the jobs among their workers",
	"session: (*Session).Run":                 "its WaitGroup, which it waits for, with the context cancelled, before it returns",
	"session: (*sound).run":                   "Session.Run, of whose workers they are",
	"session: (*sound).runVirtual":            "Session.RunVirtual, likewise",
	"session: (*upstream).retire":             "the upstream's close, which the session calls before Run or RunVirtual returns",
	"session: (*written).run":                 "Session.Run, likewise",
	"session: (*Session).RunVirtual":          "its WaitGroup, which it waits for, with the context cancelled, before it returns",
	"leg/realtime: (*conn).run":               "its WaitGroup, which it waits for, with the context cancelled, before it returns",
	"internal/wait: Longer":                   "nobody: a callback that only cancels a context; the end that it returns ends it",
	"task: Open":                              "Close, which waits for the poll",
	"task: (*Tasks).Run":                      "itself: it waits for its loops and for the tools that run before it returns",
	"task: (*execution).run":                  "itself, before it returns",
	"tool/mcp: Open":                          "starts are a fork and join; the servers' goroutines are waited for by Close",
	"tool/mcp: (*Tools).call":                 "a request, which ends with its context; Close waits for it",
	"tool/mcp: (*server).watch":               "waits for the connection's end; watch waits for it before it returns",
	"internal/process: Start":                 "waits for the process; End or Terminate, one of which every start is followed by, waits for it",
	"internal/process: (*Process).wait":       "reads the standard error; wait waits for it before it returns",
	"tool/command: (*Tool).follow":            "what feeds and reads one program; follow waits for both before it returns",
	"examples/airline: Listen":                "serves until Close, which waits for it",
	"leg/realtime: (*Server).begin":           "Server.Close, which waits for all conversations",
	"leg/realtime: (*conn).carry":             "itself: the writer ends with the connection, before it returns",
	"leg/realtime: (*conn).carryCall":         "itself: who waits for another connection ends with this one, before it returns",
	"leg/realtime: (*conn).clock":             "itself: answers beside the conversation end with its context, before it returns",
	"internal/onnx: (*Session).interrupt":     "the function that it returns, before Run does",
	"tool/a2a: Open":                          "itself: a fork and join",
	"internal/bench: MeasureFootprint":        "itself, before it returns",
	"internal/bench: hold":                    "the end that it returns",
	"internal/cli: (*chatCmd).input":          "the end of the input, or of the program: nothing ends a read of a terminal",
	"internal/bench: Faults":                  "itself, before it returns",
	"internal/bench: (*faulty).run":           "itself, before it returns",
	"internal/bench: (*faulty).measure":       "itself, before it returns",
	"internal/bench: (*rude).follow":          "the client's bye, or who waits for done",
	"internal/fakes: (*Server).Serve":         "itself: the reader ends with the connection, before it returns",
	"internal/hosted: (*Recognizer).Open":     "the stream's Close",
	"internal/chain: (*Recognizer).Open":      "the stream's Close",
	"internal/chain: (*Synthesizer).speak":    "nobody: a timer's callback that only cancels a context; it is stopped before speak returns",
	"internal/hosted: (*stream).listen":       "the stream's Close: readers end with their connections",
	"internal/hosted: (*Synthesizer).take":    "the synthesizer's Close, which ends the connections",
	"internal/fakes: (*Texts).Speak":          "Stop, before the connection is over",
	"internal/hosted: ping":                   "the Close of the stream or the synthesizer, which ends the connection",
	"internal/carrier: Accept":                "the leg's reader, for which its Close waits, and timers whose callbacks only close the connection",
	"internal/carrier: (*Leg).receive":        "nobody: a timer's callback that only closes the connection",
	"internal/carrier: NewLine":               "the line's Close",
	"internal/carrier/fake: Dial":             "the Close of what it returns",
	"internal/carrier/fake: (*Telnyx).dial":   "the account's Close",
	"internal/carrier/fake: (*Twilio).Ring":   "the account's Close",
	"internal/carrier/fake: (*Twilio).create": "the account's Close",
	"internal/carrier/fake: (*Twilio).place":  "the account's Close",
	"leg/telnyx: (*Server).Dial":              "the server's Close, which hangs up all calls",
	"internal/carrier/fake: (*Telnyx).tell":   "the account's Close",
	"internal/carrier/fake: (*Telnyx).obey":   "the account's Close",
	"leg/sip: New":                            "the server's Close, which ends the registrations",
	"leg/sip: (*Server).whenStopping":         "the function that it returns",
	"leg/sip: newMedia":                       "the stream's close, which talk and drop call",
	"leg/sip: (*Server).serve":                "the server's Close",
	"leg/sip: (*Server).work":                 "the server's Close",
	"leg/sip: (*call).start":                  "the server's Close, which ends all calls",
	"leg/sip: (*Server).place":                "the server's Close, which ends all calls",
	"leg/sip: (*call).whenOver":               "the function that it returns",
	"leg/telnyx: (*Server).admit":             "the server's Close, which hangs up all calls",
	"leg/telnyx: (*Server).Close":             "nobody: a timer's callback that only cancels commands, stopped before Close returns",
}

// Longer files and functions need an entry with the reason.
const (
	longFile     = 450
	longFunction = 80
	mainLines    = 40
)

var longFiles = map[string]string{}

var longFunctions = map[string]string{
	"conv: (*Conversation).handle": "one case for each event, in their order; splitting it would hide which part of the machine takes which",
	"internal/explore: alphabet":   "the list of events, one a line",
	"internal/explore: Shipped":    "the list of configurations, one after the other",
}
