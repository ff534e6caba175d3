// Package settings loads agents, and maps a configuration to the options of the
// packages that hold a conversation: the part of it that an agent's own files may set.
// The program and the library share it.
package settings
