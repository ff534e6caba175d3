// Package config reads the config file: one YAML document that sets what is
// particular to an installation or an agent.
//
// It decides what a file may say and where a mistake is; it never decides what
// a missing key means. A field that the file does not set is zero, which stands
// for the engine's default: the numbers live in the packages that use them and
// are listed in docs/config.md. What a key means to those packages is package
// app's to say; this one imports nothing of the module.
//
// Reading is strict. [Parse] walks the whole document and reports every problem
// at once, each with file, line, column and a suggestion: an unknown key, a key
// that is set twice, a value of the wrong kind or out of range.
//
// A [Config] is plain data. It is safe for concurrent use as long as nobody
// changes it.
package config
