// Package config reads the config file, a YAML document with the settings of an
// installation or an agent.
//
// The package defines what a file may contain and where a mistake is, but not the
// defaults: a field that the file does not set is zero, which stands for the default of
// the package that uses it. The defaults are listed in docs/config.md. Packages app and
// settings map the keys to options; this package imports nothing else of the module
// except for the reader of YAML.
//
// Reading is strict. [Parse] reads the whole document and reports all problems at once,
// each with file, line, column and a suggestion: an unknown key, a key that is set
// twice, a value of the wrong type or out of range.
//
// A [Config] is plain data. It is safe for concurrent use as long as it is not
// modified.
package config
