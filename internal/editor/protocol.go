package editor

import (
	"encoding/json"

	"github.com/hocketvoice/hocket/provider/vscode"
	"github.com/hocketvoice/hocket/server/hub"
)

// Version is the version of the protocol. An engine serves one version.
const Version = 1

// The methods that the editor calls.
const (
	methodInitialize = "initialize"
	methodStart      = "conversation/start"
	methodCommand    = "conversation/command"
	methodHold       = "conversation/hold"
	methodMute       = "conversation/mute"
	methodContext    = "conversation/context"
	methodShow       = "conversation/show"
	methodFollow     = "follow"
	methodUnfollow   = "unfollow"
	methodShutdown   = "shutdown"
	methodExit       = "exit"    // a notification
	methodPart       = "lm/part" // a notification
	methodCancel     = "$/cancelRequest"
)

// The notifications to the editor. [vscode.MethodReply] and [vscode.MethodCall] are requests.
const (
	methodMessage      = "message"
	methodConversation = "conversation"
)

// The codes of errors beyond those of JSON-RPC.
const (
	codeNotInitialized = -32002 // as in the Language Server Protocol
	codeActive         = -32010 // a conversation runs already
	codeNone           = -32011 // no conversation runs
	codeNoSpeech       = -32012 // this engine has no recognizer or no voice for the language
	codeFailed         = -32013 // anything else that went wrong
)

// Initialize are the parameters of initialize.
type Initialize struct {
	Version int `json:"version"`
	Editor  struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"editor"`
	// Language is that of the editor, a BCP 47 tag.
	Language string `json:"language"`
	// Trusted reports that the user trusts the workspace. Without it the editor has announced
	// no tools that change something, and no config of the workspace is read.
	Trusted  bool          `json:"trusted"`
	Settings Settings      `json:"settings"`
	Tools    []vscode.Spec `json:"tools"`
}

// Settings are the user's settings, agentvoice.conversation.*. A zero field selects the default.
type Settings struct {
	// Language of the conversation: "en" or "de"; the editor's if empty.
	Language string `json:"language,omitempty"`
	// Model is "copilot" (or empty) for the editor's model, or "config" for that of the config.
	Model string `json:"model,omitempty"`
	// Config is the path of a config file.
	Config       string `json:"config,omitempty"`
	Instructions string `json:"instructions,omitempty"` // in addition to the agent's
	Greeting     string `json:"greeting,omitempty"`
	TimeoutMS    int    `json:"timeoutMs,omitempty"`  // of a request to the model (PER-004)
	Retries      *int   `json:"retries,omitempty"`    // of a request
	Recoveries   *int   `json:"recoveries,omitempty"` // from faults
	EndOfTurn    string `json:"endOfTurn,omitempty"`  // a turn.policy
	SilenceMS    int    `json:"silenceMs,omitempty"`  // of the policy silence
	BargeIn      string `json:"bargeIn,omitempty"`    // a barge_in.policy
	Voice        string `json:"voice,omitempty"`
	Privacy      string `json:"privacy,omitempty"` // "session" (or empty), "none"
}

// Initialized is the result of initialize.
type Initialized struct {
	Version int    `json:"version"`
	Engine  string `json:"engine"` // its version
	URL     string `json:"url"`    // where the page with the microphone is
	// Speech reports that conversations by voice can be held.
	Speech   bool   `json:"speech"`
	Language string `json:"language"`
	// Notes are remarks for the user, such as why there is no speech.
	Notes []string `json:"notes"`
}

// Start are the parameters of conversation/start.
type Start struct {
	Transport string          `json:"transport"` // "text" or "voice"
	Timezone  string          `json:"timezone,omitempty"`
	Context   json.RawMessage `json:"context,omitempty"` // see [hub.Conversation.SetContext]
	// Hold closes the microphone except while the key is held.
	Hold bool `json:"hold,omitempty"`
}

// Started is the result of conversation/start. By voice the conversation begins when the page has
// been opened.
type Started struct {
	ID   string `json:"id,omitempty"`
	Page string `json:"page,omitempty"` // valid once, for a minute
}

// Pressed are the parameters of conversation/hold.
type Pressed struct {
	Pressed bool `json:"pressed"`
}

// Muted are the parameters of conversation/mute.
type Muted struct {
	Muted bool `json:"muted"`
}

// Follow are the parameters of follow.
type Follow struct {
	Steps bool `json:"steps,omitempty"` // include the steps of the machine
}

// Followed is the result of follow and the parameter of unfollow.
type Followed struct {
	Stream int `json:"stream"`
}

// Told is a message of a conversation for one stream.
type Told struct {
	Stream       int         `json:"stream"`
	Conversation string      `json:"conversation"`
	Message      hub.Message `json:"message"`
}

// Changed tells that a conversation has begun or ended.
type Changed struct {
	Event string   `json:"event"` // "started", "ended"
	Info  hub.Info `json:"info"`
	// Requests is the number of requests to the editor's model so far, of all conversations.
	Requests int `json:"requests"`
}

// partOf are the parameters of lm/part.
type partOf struct {
	Request uint64          `json:"request"` // the id of the request
	Part    json.RawMessage `json:"part"`
}

// cancel are the parameters of $/cancelRequest.
type cancel struct {
	ID uint64 `json:"id"`
}
