// Package yamlfile reads YAML text into nodes that know their place in the file. It is the
// only reader of YAML: package config and the files of agents give the nodes their meaning.
//
// It bounds what it reads before it parses, because the parser recurses and its time grows
// with the square of the nesting. It resolves nothing: anchors, aliases, tags and merge keys
// are nodes, and a key that is set twice is there twice.
package yamlfile
