// Package model makes the options of the language model that a config or an agent's own file
// describes, and says what is wrong with the description. The program and the library have
// the same rules and messages by it.
package model
