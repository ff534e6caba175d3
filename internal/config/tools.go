package config

// Tools are what models and flows can use beside an agent's own actions.
type Tools struct {
	MCP  []MCPServer `yaml:"mcp"`
	HTTP []HTTPTool  `yaml:"http"`
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

// ToolPolicy says more about one tool of a server.
type ToolPolicy struct {
	Name         string   `yaml:"name" required:"true"`
	Irreversible bool     `yaml:"irreversible"`
	Repeatable   bool     `yaml:"repeatable"`
	Long         bool     `yaml:"long"`
	Confirm      bool     `yaml:"confirm"`
	Timeout      Duration `yaml:"timeout"`
}

// HTTPTool is a request that a model may make.
type HTTPTool struct {
	Name        string      `yaml:"name" required:"true"`
	Description string      `yaml:"description"`
	Method      string      `yaml:"method" oneof:"GET POST PUT PATCH DELETE"`
	URL         string      `yaml:"url" required:"true"`
	KeyEnv      string      `yaml:"key_env"`
	Parameters  []Parameter `yaml:"parameters"`
	Timeout     Duration    `yaml:"timeout"`
	Retries     Count       `yaml:"retries"`
	Repeatable  bool        `yaml:"repeatable"`
	Long        bool        `yaml:"long"`
	Confirm     bool        `yaml:"confirm"`
}

// Parameter is one argument of an HTTPTool.
type Parameter struct {
	Name        string `yaml:"name" required:"true"`
	Type        string `yaml:"type" oneof:"string number integer boolean"`
	Description string `yaml:"description"`
	Optional    bool   `yaml:"optional"`
}
