// Package yamlfile parses YAML into nodes with their positions in the file. It is the
// only reader of YAML; package config, the loader of agents and package eval interpret the nodes.
//
// It limits size and nesting before parsing, because the parser is recursive and its
// time grows with the square of the nesting. It resolves nothing: anchors, aliases,
// tags and merge keys are nodes, and a key that is set twice appears twice.
package yamlfile
