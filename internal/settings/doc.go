// Package settings loads agents, and maps those parts of a configuration that an
// agent's files may set to the options of other packages. The program and the library
// share it.
package settings
