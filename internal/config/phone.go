package config

// Twilio configures the calls of Twilio's numbers.
type Twilio struct {
	URL        string `yaml:"url"`
	SecretEnv  string `yaml:"secret_env"`
	Agent      string `yaml:"agent"`
	AccountEnv string `yaml:"account_env"`
	APIURL     string `yaml:"api_url"`
}

// Dial configures the calls that the server places.
type Dial struct {
	From      string   `yaml:"from"`
	Allow     []string `yaml:"allow"`
	Carrier   string   `yaml:"carrier" oneof:"twilio telnyx"`
	Ring      Duration `yaml:"ring"`
	PerNumber Count    `yaml:"per_number"`
	PerDay    Count    `yaml:"per_day"`
	Machine   string   `yaml:"machine" oneof:"hang_up message go_on off"`
	Message   string   `yaml:"message"`
}

// Telnyx configures the calls of Telnyx's numbers.
type Telnyx struct {
	URL          string `yaml:"url"`
	KeyEnv       string `yaml:"key_env"`
	PublicKeyEnv string `yaml:"public_key_env"`
	Agent        string `yaml:"agent"`
	Codec        string `yaml:"codec" oneof:"pcmu pcma g722 l16"`
	APIURL       string `yaml:"api_url"`
	Connection   string `yaml:"connection"`
}

// SIP configures calls over SIP.
type SIP struct {
	Addr     string      `yaml:"addr"`
	TLSAddr  string      `yaml:"tls_addr"`
	External string      `yaml:"external"`
	Ports    string      `yaml:"ports"`
	Codecs   []string    `yaml:"codecs"`
	Encrypt  string      `yaml:"encrypt" oneof:"required off"`
	Allow    []string    `yaml:"allow"`
	Users    []SIPUser   `yaml:"users"`
	Agent    string      `yaml:"agent"`
	Numbers  []SIPNumber `yaml:"numbers"`
	MaxHold  Duration    `yaml:"max_hold"`

	Register []SIPRegistrar `yaml:"register"`
}

// SIPRegistrar is a server at which a name is registered.
type SIPRegistrar struct {
	Server      string   `yaml:"server"`
	Name        string   `yaml:"name"`
	PasswordEnv string   `yaml:"password_env"`
	Expires     Duration `yaml:"expires"`
}

// SIPUser is who may call over SIP with a password.
type SIPUser struct {
	Name        string `yaml:"name"`
	PasswordEnv string `yaml:"password_env"`
}

// SIPNumber is a number that an agent answers.
type SIPNumber struct {
	Number string `yaml:"number"`
	Agent  string `yaml:"agent"`
}
