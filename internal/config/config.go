package config

import "strings"

// Config is the content of a config file. The same keys may be in a section
// `settings:`, as in an agent's file.
type Config struct {
	Language     string  `yaml:"language"`
	Timezone     string  `yaml:"timezone"`
	Greeting     string  `yaml:"greeting"`
	Privacy      string  `yaml:"privacy" oneof:"keep session none"`
	HistoryLimit Count   `yaml:"history_limit"`
	SummaryTurns Retries `yaml:"summary_turns"`

	SpeakNotices                 bool `yaml:"speak_notices"`
	ResumeAfterFalseInterruption bool `yaml:"resume_after_false_interruption"`

	Turn    Turn    `yaml:"turn"`
	BargeIn BargeIn `yaml:"barge_in"`
	Filter  Filter  `yaml:"filter"`
	DeadAir DeadAir `yaml:"dead_air"`
	Limits  Limits  `yaml:"limits"`
	Retry   Retry   `yaml:"retry"`
	Speech  Speech  `yaml:"speech"`
	Model   Model   `yaml:"model"`
	Models  []Model `yaml:"models"`

	Upstream  Upstream   `yaml:"upstream"`
	Upstreams []Upstream `yaml:"upstreams"`

	Server Server `yaml:"server"`
	Tools  Tools  `yaml:"tools"`
	Store  Store  `yaml:"store"`

	Recording Recording `yaml:"recording"`

	at map[string]Position
}

// Turn configures when the user's turn ends.
type Turn struct {
	Policy     string     `yaml:"policy" oneof:"auto easyturn recognizer silence semantic manual"`
	Thresholds Thresholds `yaml:"thresholds"`
	Auto       Auto       `yaml:"auto"`
	EasyTurn   EasyTurn   `yaml:"easyturn"`
	Silence    Silence    `yaml:"silence"`
	Semantic   Semantic   `yaml:"semantic"`
	Onset      Onset      `yaml:"onset"`
	Stability  Stability  `yaml:"stability"`
}

// Thresholds are the acoustic limits shared by all end-of-turn policies.
type Thresholds struct {
	EnergyHigh      Threshold `yaml:"energy_high"`
	EnergyLow       Threshold `yaml:"energy_low"`
	VADSpeaking     Threshold `yaml:"vad_speaking"`
	VADSilence      Threshold `yaml:"vad_silence"`
	InterruptEnergy Threshold `yaml:"interrupt_energy"`
	InterruptVAD    Threshold `yaml:"interrupt_vad"`
}

// Auto configures the policy auto.
type Auto struct {
	Complete      Duration `yaml:"complete"`
	Silence       Duration `yaml:"silence"`
	Incomplete    Duration `yaml:"incomplete"`
	Finished      Duration `yaml:"finished"`
	TextUnchanged Wait     `yaml:"text_unchanged"`
}

// EasyTurn configures the policy easyturn.
type EasyTurn struct {
	Aggressive       bool          `yaml:"aggressive"`
	MinSilence       Wait          `yaml:"min_silence"`
	ShortUtterance   Minimum       `yaml:"short_utterance"`
	MinSilenceShort  Wait          `yaml:"min_silence_short"`
	MinTextLength    Minimum       `yaml:"min_text_length"`
	MinConfidence    Score         `yaml:"min_confidence"`
	MinStability     Score         `yaml:"min_stability"`
	TextUnchanged    Wait          `yaml:"text_unchanged"`
	Hysteresis       Wait          `yaml:"hysteresis"`
	ShortAnswerAfter DurationOrOff `yaml:"short_answer_after"`
	MaxSilence       DurationOrOff `yaml:"max_silence"`
}

// Silence configures the policy silence.
type Silence struct {
	After Duration `yaml:"after"`
}

// Semantic configures the policy semantic.
type Semantic struct {
	Score      Share    `yaml:"score"`
	MinSilence Wait     `yaml:"min_silence"`
	MaxSilence Duration `yaml:"max_silence"`
}

// Onset configures where speech begins and stops.
type Onset struct {
	MinSpeech  Wait     `yaml:"min_speech"`
	MinSilence Wait     `yaml:"min_silence"`
	MaxBetween Duration `yaml:"max_between"`
}

// Stability configures how the stability of the recognizer's words is measured.
type Stability struct {
	Window     Duration `yaml:"window"`
	MinSamples Count    `yaml:"min_samples"`
	Spacing    Wait     `yaml:"spacing"`
}

// BargeIn configures how the user may interrupt the agent. Settings outside of the
// profiles apply to each profile, except where a profile has its own default.
type BargeIn struct {
	Profile  `yaml:",inline"`
	Greeting Profile `yaml:"greeting"`
	Reply    Profile `yaml:"reply"`
	ReadBack Profile `yaml:"read_back"`
	Thinking Profile `yaml:"thinking"`
}

// Profile configures barge-in during one kind of the agent's speech.
type Profile struct {
	Policy      string        `yaml:"policy" oneof:"hybrid energy words none seeds"`
	MinWords    Count         `yaml:"min_words"`
	OnSpeech    string        `yaml:"on_speech" oneof:"duck pause none"`
	Steady      DurationOrOff `yaml:"steady"`
	MinSpeech   DurationOrOff `yaml:"min_speech"`
	MaxFiltered Duration      `yaml:"max_filtered"`
	ResumeAfter Duration      `yaml:"resume_after"`
	WordsWithin Duration      `yaml:"words_within"`
}

// Filter configures what counts as an interruption.
type Filter struct {
	Echo      Threshold `yaml:"echo"`
	EchoLevel Decibels  `yaml:"echo_level"`
	EchoDelay Duration  `yaml:"echo_delay"`
}

// DeadAir configures the steps of escalation after a silence.
type DeadAir struct {
	Off   bool          `yaml:"off"`
	Steps []DeadAirStep `yaml:"steps"`
}

// DeadAirStep is one step of the escalation.
type DeadAirStep struct {
	After Duration `yaml:"after" required:"true"`
	Code  string   `yaml:"code" required:"true"`
	End   bool     `yaml:"end"`
}

// Limits are the limits of a conversation in time and number.
type Limits struct {
	Start           Duration   `yaml:"start"`
	Listening       Duration   `yaml:"listening"`
	NoTranscript    Duration   `yaml:"no_transcript"`
	NoEndpoint      Duration   `yaml:"no_endpoint"`
	FinalWords      Duration   `yaml:"final_words"`
	FinalNoWords    Duration   `yaml:"final_no_words"`
	Waiting         Duration   `yaml:"waiting"`
	Advice          Duration   `yaml:"advice"`
	Processing      Duration   `yaml:"processing"`
	Speaking        Duration   `yaml:"speaking"`
	PlayoutStall    Duration   `yaml:"playout_stall"`
	Tool            Duration   `yaml:"tool"`
	Task            Duration   `yaml:"task"`
	Heartbeat       Duration   `yaml:"heartbeat"`
	Feedback        []Feedback `yaml:"feedback" empty:"true"`
	Interrupted     Duration   `yaml:"interrupted"`
	Suspended       Duration   `yaml:"suspended"`
	Grace           Duration   `yaml:"grace"`
	Reconnect       Duration   `yaml:"reconnect"`
	Error           Duration   `yaml:"error"`
	Release         Duration   `yaml:"release"`
	Session         Duration   `yaml:"session"`
	SessionWarning  Duration   `yaml:"session_warning"`
	Inactivity      Duration   `yaml:"inactivity"`
	BreakerFaults   Count      `yaml:"breaker_faults"`
	BreakerWindow   Duration   `yaml:"breaker_window"`
	BreakerCooldown Duration   `yaml:"breaker_cooldown"`
	ResultChars     Count      `yaml:"result_chars"`
	Calls           Count      `yaml:"calls"`
	Queue           Count      `yaml:"queue"`
}

// Feedback is one of the messages to a person while an agent works.
type Feedback struct {
	After Delay  `yaml:"after" required:"true"`
	Code  string `yaml:"code" required:"true"`
}

// Retry configures how often failed requests and lost connections are retried.
type Retry struct {
	Max       Retries    `yaml:"max"`
	Backoff   []Duration `yaml:"backoff"`
	Reconnect []Duration `yaml:"reconnect"`
	Recover   Retries    `yaml:"recover"`
}

// Speech selects the speech engines and their models.
type Speech struct {
	Recognizer   Engines      `yaml:"recognizer" oneof:"pocketsphinx deepgram soniox"`
	Synthesizer  Engines      `yaml:"synthesizer" oneof:"flite piper cartesia deepgram elevenlabs soniox"`
	Voice        string       `yaml:"voice"`
	Detector     string       `yaml:"detector" oneof:"auto silero energy"`
	EndOfTurn    string       `yaml:"end_of_turn" oneof:"auto smartturn none"`
	Models       string       `yaml:"models" path:"true"`
	Silero       Silero       `yaml:"silero"`
	Piper        Piper        `yaml:"piper"`
	Pocketsphinx Pocketsphinx `yaml:"pocketsphinx"`
	Cartesia     Speaker      `yaml:"cartesia"`
	Deepgram     Vendor       `yaml:"deepgram"`
	ElevenLabs   Speaker      `yaml:"elevenlabs"`
	Soniox       Vendor       `yaml:"soniox"`
}

// Engines are the names of engines, separated by spaces, in the order in which they are
// tried.
type Engines string

// List returns the names.
func (e Engines) List() []string { return strings.Fields(string(e)) }

// Vendor configures the speech services of a vendor.
type Vendor struct {
	KeyEnv           string `yaml:"key_env"`
	Voice            string `yaml:"voice"`
	RecognizerModel  string `yaml:"recognizer_model"`
	RecognizerURL    string `yaml:"recognizer_url"`
	SynthesizerModel string `yaml:"synthesizer_model"`
	SynthesizerURL   string `yaml:"synthesizer_url"`
}

// Speaker configures the synthesizer of a vendor without a recognizer.
type Speaker struct {
	KeyEnv           string `yaml:"key_env"`
	Voice            string `yaml:"voice"`
	SynthesizerModel string `yaml:"synthesizer_model"`
	SynthesizerURL   string `yaml:"synthesizer_url"`
}

// Silero selects the weights of the detector silero.
type Silero struct {
	Weights string `yaml:"weights" path:"true"`
}

// Piper selects the voice of the synthesizer piper.
type Piper struct {
	Network string `yaml:"network" path:"true"`
}

// Pocketsphinx selects the models of the recognizer pocketsphinx.
type Pocketsphinx struct {
	AcousticModel string `yaml:"acoustic_model" path:"true"`
	LanguageModel string `yaml:"language_model" path:"true"`
	Dictionary    string `yaml:"dictionary" path:"true"`
}

// Model selects a language model and its server.
type Model struct {
	Name         string `yaml:"name" required:"true"`
	API          string `yaml:"api" oneof:"chat responses anthropic google"`
	BaseURL      string `yaml:"base_url"`
	KeyEnv       string `yaml:"key_env"`
	APIVersion   string `yaml:"api_version"`
	Organization string `yaml:"organization"`
	MaxTokens    Count  `yaml:"max_tokens"`
	Window       Count  `yaml:"window"`
}

// Upstream selects a speech-to-speech service and its server.
type Upstream struct {
	Name        string   `yaml:"name" required:"true"`
	URL         string   `yaml:"url"`
	KeyEnv      string   `yaml:"key_env"`
	APIVersion  string   `yaml:"api_version"`
	Beta        bool     `yaml:"beta"`
	Secrets     string   `yaml:"secrets"`
	Entra       Entra    `yaml:"entra"`
	Voice       string   `yaml:"voice"`
	Detection   string   `yaml:"detection" oneof:"server_vad semantic_vad"`
	Silence     Duration `yaml:"silence"`
	Threshold   Share    `yaml:"threshold"`
	Eagerness   string   `yaml:"eagerness" oneof:"auto low medium high"`
	Transcriber string   `yaml:"transcriber"`
	Noise       string   `yaml:"noise" oneof:"near_field far_field"`
	Format      string   `yaml:"format" oneof:"pcm pcmu pcma"`
	MaxTokens   Count    `yaml:"max_tokens"`
}

// Entra selects an application of Microsoft Entra, whose tokens open the service in place of
// a key.
type Entra struct {
	Tenant    string `yaml:"tenant"`
	Client    string `yaml:"client"`
	SecretEnv string `yaml:"secret_env"`
}

// Server configures `hocket serve`.
type Server struct {
	Addr    string   `yaml:"addr"`
	Path    string   `yaml:"path"`
	Open    bool     `yaml:"open"`
	Keys    KeyFiles `yaml:"keys"`
	Origins []string `yaml:"origins"`
	TLS     TLS      `yaml:"tls"`
	WebRTC  WebRTC   `yaml:"webrtc"`
	Twilio  Twilio   `yaml:"twilio"`
	Telnyx  Telnyx   `yaml:"telnyx"`
	SIP     SIP      `yaml:"sip"`
	Dial    Dial     `yaml:"dial"`

	MaxConversations Count `yaml:"max_conversations"`
	MaxPerKey        Count `yaml:"max_per_key"`
	OnePerCaller     bool  `yaml:"one_per_caller"`
	MaxStreams       Count `yaml:"max_streams"`

	MaxLateness Duration `yaml:"max_lateness"`

	MaxConnections           Count    `yaml:"max_connections"`
	MaxConnectionsPerAddress Count    `yaml:"max_connections_per_address"`
	TrustedProxies           []string `yaml:"trusted_proxies"`

	Node   string   `yaml:"node"`
	URL    string   `yaml:"url"`
	Drain  Wait     `yaml:"drain"`
	Resume Duration `yaml:"resume"`

	AccessLog bool `yaml:"access_log"`

	Developers []string `yaml:"developers"`
}

// KeyFiles names the files with API keys.
type KeyFiles struct {
	Env  string `yaml:"env"`
	File string `yaml:"file" path:"true"`
}

// WebRTC configures the connections of browsers.
type WebRTC struct {
	Addr        string      `yaml:"addr"`
	Ports       string      `yaml:"ports"`
	TCP         string      `yaml:"tcp"`
	PublicIPs   []string    `yaml:"public_ips"`
	KeepPrivate bool        `yaml:"keep_private"`
	ICEServers  []ICEServer `yaml:"ice_servers"`
}

// ICEServer is a STUN or TURN server for browsers.
type ICEServer struct {
	URLs          []string `yaml:"urls"`
	SecretEnv     string   `yaml:"secret_env"`
	Valid         Duration `yaml:"valid"`
	Username      string   `yaml:"username"`
	CredentialEnv string   `yaml:"credential_env"`
}

// TLS names the files of a certificate.
type TLS struct {
	Cert string `yaml:"cert" path:"true"`
	Key  string `yaml:"key" path:"true"`
}

// Recording configures whether the sound of conversations is stored.
type Recording struct {
	Notice    string   `yaml:"notice"`
	Announced bool     `yaml:"announced"`
	Limit     Duration `yaml:"limit"`
}

// On reports whether conversations are recorded: callers are told in one way or another.
func (r Recording) On() bool { return r.Notice != "" || r.Announced }

// Store configures where and how the state of conversations is stored.
type Store struct {
	Path string   `yaml:"path" path:"true"`
	Keys []string `yaml:"keys"`
	Keep Duration `yaml:"keep"`
}
