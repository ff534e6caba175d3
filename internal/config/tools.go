package config

// Tools configures the tools of models and flows, in addition to an agent's actions.
type Tools struct {
	MCP     []MCPServer   `yaml:"mcp"`
	HTTP    []HTTPTool    `yaml:"http"`
	Command []CommandTool `yaml:"command"`
	A2A     []A2AAgent    `yaml:"a2a"`

	Transfer []TransferTarget `yaml:"transfer"`
}

// CallPolicy configures the calls of a tool.
type CallPolicy struct {
	Timeout      Duration `yaml:"timeout"`
	Repeatable   bool     `yaml:"repeatable"`
	Confirm      bool     `yaml:"confirm"`
	Duplicates   string   `yaml:"duplicates" oneof:"allow reject replace"`
	DuplicatesBy string   `yaml:"duplicates_by" oneof:"name arguments"`
}

// MCPServer is a server of the Model Context Protocol: a command or a URL.
type MCPServer struct {
	Name         string       `yaml:"name" required:"true"`
	Command      string       `yaml:"command"`
	Args         []string     `yaml:"args"`
	Dir          string       `yaml:"dir" path:"true"`
	Env          []string     `yaml:"env"`
	URL          string       `yaml:"url"`
	KeyEnv       string       `yaml:"key_env"`
	Prefix       string       `yaml:"prefix"`
	Allow        []string     `yaml:"allow"`
	StartTimeout Duration     `yaml:"start_timeout"`
	Timeout      Duration     `yaml:"timeout"`
	Tools        []ToolPolicy `yaml:"tools"`
}

// ToolPolicy configures one tool of a server.
type ToolPolicy struct {
	Name         string `yaml:"name" required:"true"`
	Irreversible bool   `yaml:"irreversible"`
	Long         bool   `yaml:"long"`
	CallPolicy   `yaml:",inline"`
}

// HTTPTool is an HTTP request that a model may make.
type HTTPTool struct {
	Name        string      `yaml:"name" required:"true"`
	Description string      `yaml:"description"`
	Method      string      `yaml:"method" oneof:"GET POST PUT PATCH DELETE"`
	URL         string      `yaml:"url" required:"true"`
	KeyEnv      string      `yaml:"key_env"`
	Parameters  []Parameter `yaml:"parameters"`
	Retries     Count       `yaml:"retries"`
	Long        bool        `yaml:"long"`
	CallPolicy  `yaml:",inline"`
}

// Parameter is an argument of an HTTPTool or a CommandTool.
type Parameter struct {
	Name        string `yaml:"name" required:"true"`
	Type        string `yaml:"type" oneof:"string number integer boolean"`
	Description string `yaml:"description"`
	Optional    bool   `yaml:"optional"`
}

// CommandTool is a program that models and flows may run.
type CommandTool struct {
	Name        string      `yaml:"name" required:"true"`
	Description string      `yaml:"description"`
	Command     string      `yaml:"command" required:"true"`
	Args        []string    `yaml:"args"`
	Dir         string      `yaml:"dir" path:"true"`
	Env         []string    `yaml:"env"`
	Stdin       string      `yaml:"stdin"`
	Output      string      `yaml:"output" oneof:"lines text claude codex amplifier"`
	Parameters  []Parameter `yaml:"parameters"`
	Schema      string      `yaml:"schema"`
	Quick       bool        `yaml:"quick"`
	CallPolicy  `yaml:",inline"`
}

// TransferTarget is somebody with whom callers can be connected.
type TransferTarget struct {
	Name        string   `yaml:"name" required:"true"`
	Description string   `yaml:"description"`
	To          string   `yaml:"to"`
	Allow       []string `yaml:"allow"`
	From        string   `yaml:"from"`
	Ring        Duration `yaml:"ring"`
	Confirm     bool     `yaml:"confirm"`
}

// A2AAgent is a remote agent that supports the Agent2Agent protocol.
type A2AAgent struct {
	Name         string   `yaml:"name" required:"true"`
	Description  string   `yaml:"description"`
	URL          string   `yaml:"url" required:"true"`
	KeyEnv       string   `yaml:"key_env"`
	StartTimeout Duration `yaml:"start_timeout"`
	CallPolicy   `yaml:",inline"`
}
